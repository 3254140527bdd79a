//! deadline-groups GB8: in no window of time does a group use more than its limit allows. In a window with n
//! refills that is n quotas, what the pool held (a quota and the burst), what its queues had drawn, a slice
//! on each CPU, and what they owe at the end ([`super::debts`] says how much that can be).

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
        }
    }
}

impl Window {
    /// What a group has used beyond its refills, which brought as much as they do now.
    fn beyond(&mut self, pool: &Pool, used: u64) -> i64 {
        let refills = pool.refills();
        self.granted += pool.params.get().quota * (refills - self.refills);
        self.refills = refills;
        used as i64 - self.granted.0 as i64
    }
}
