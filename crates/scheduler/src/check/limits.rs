//! deadline-groups GB8: in no window of time does a group use more than its limit allows. In a window with n
//! refills that is n quotas, what the pool held (a quota and the burst), what its queues had drawn, a slice
//! on each CPU, and what they owe at the end ([`super::debts`] says how much that can be).
//!
//! GB10: a queue that waits for its group's refills goes on when they have repaid its debt. It is asked of
//! groups of which one queue only has ever run: others may draw what it waits for.

use super::debts::debt;
use super::{Findings, Moment, Queue};
use crate::Nanos;
use crate::fair::Pool;
use crate::platform::Platform;
use alloc::format;
use alloc::vec::Vec;

/// Of all groups with a limit, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Limits(Vec<Window>);

/// A group's use of its limit so far.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// Refills so far, and what they brought together.
    refills: u64,
    granted: Nanos,
    /// The least that it had used beyond that at any time, in ns; the window of the most use begins there.
    least: i64,
    /// Its only queue is throttled.
    wait: Option<Wait>,
}

/// Since when a queue is throttled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wait {
    /// What it owed, in ns.
    debt: u64,
    /// The group's refills, its quota, and what it had used: if it runs on, it owes more.
    refills: u64,
    quota: Nanos,
    used: u64,
}

impl Limits {
    pub fn look<P: Platform>(&mut self, moment: &Moment<'_, P>, found: &mut Findings) {
        let k = moment.k;
        if k.groups.is_empty() || !moment.quiescent() {
            return;
        }
        self.0.resize(k.groups.len(), Window::default());
        let queues: Vec<Queue<'_>> = moment.queues().collect();
        for (group, window) in k.groups.ids().zip(&mut self.0) {
            let Some(pool) = &k.groups.get(group).pool else { continue };
            let used: u64 = queues.iter().map(|q| q.rq.queue(group).exec_clock.0).sum();
            let owed: i64 = k.online.iter().map(|cpu| debt(moment, group, cpu)).sum();
            let beyond = window.beyond(pool, used);
            let cpus = i64::from(k.online.weight());
            let params = pool.params.get();
            let drawn = cpus * moment.past.bandwidth_slice_us * 1_000;
            let most = (params.quota + params.burst).0 as i64 + drawn + owed;
            let most_used = beyond - window.least;
            found.expect("deadline-groups GB8", most_used <= most, || {
                format!("{group:?} used {most_used} ns beyond its refills, and may use {most}")
            });
            window.least = window.least.min(beyond);
            let mut users = queues.iter().filter(|q| q.rq.queue(group).exec_clock > Nanos::ZERO);
            let only = users.next().filter(|_| users.next().is_none());
            let throttled = |q: &&Queue<'_>| k.group_queue(group, q.rq.cpu).bandwidth.is_throttled();
            let Some(waits) = only.filter(throttled) else {
                window.wait = None;
                continue;
            };
            let remaining = k.group_queue(group, waits.rq.cpu).bandwidth.remaining.get();
            let refills = window.waits(pool, remaining.min(0).unsigned_abs(), used);
            found.expect("deadline-groups GB10", refills.so_far <= refills.most, || {
                let Refills { so_far, most } = refills;
                format!("{group:?} is throttled after {so_far} refills, and {most} repay its debt")
            });
        }
    }
}

/// How many refills a throttled queue has waited for, and has to at most.
struct Refills {
    so_far: u64,
    most: u64,
}

impl Window {
    /// Its only queue is throttled and owes so much.
    fn waits(&mut self, pool: &Pool, debt: u64, used: u64) -> Refills {
        let now = Wait { debt, refills: pool.refills(), quota: pool.params.get().quota, used };
        let goes_on = |wait: &Wait| wait.used == used && wait.quota == now.quota;
        let wait = self.wait.filter(goes_on).unwrap_or(now);
        self.wait = Some(wait);
        Refills { so_far: now.refills - wait.refills, most: wait.debt.div_ceil(wait.quota.0) + 1 }
    }

    /// What a group has used beyond its refills, which brought as much as they do now.
    fn beyond(&mut self, pool: &Pool, used: u64) -> i64 {
        let refills = pool.refills();
        self.granted += pool.params.get().quota * (refills - self.refills);
        self.refills = refills;
        used as i64 - self.granted.0 as i64
    }
}
