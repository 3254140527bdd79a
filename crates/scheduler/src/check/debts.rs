//! deadline-groups GB8, what queues owe: a tick finds that a queue has used up what it drew, so it owes a
//! tick at most, and what its tasks do after that in the kernel, which nobody cuts short.

use super::{Findings, Moment};
use crate::platform::Platform;
use crate::{CpuId, CpuMask, GroupId, Nanos};
use alloc::format;
use alloc::vec::Vec;

/// How often a CPU is looked after that has stopped its tick (nohz_full).
const REMOTE_TICK: Nanos = Nanos::from_secs(1);

/// What each queue of a group with a limit may owe.
#[derive(Debug, Default)]
pub(super) struct Debts {
    looked_at: Nanos,
    /// By CPU: whose task was in the kernel at the last look.
    in_kernel: Vec<Option<GroupId>>,
    /// By group, then by CPU: how long its tasks have been in the kernel there, or below an interrupt or a
    /// stall of the host, since it owes something.
    kernel_time: Vec<Nanos>,
    /// The longest tick so far.
    tick: Nanos,
}

impl Debts {
    /// `in_user`: the CPUs that idle, or execute a user's code in user space.
    pub fn look<P: Platform>(&mut self, moment: &Moment<'_, P>, in_user: &CpuMask, found: &mut Findings) {
        let k = moment.k;
        if k.groups.is_empty() {
            return;
        }
        let cpus = k.cpus();
        self.in_kernel.resize(cpus, None);
        self.kernel_time.resize((k.groups.len() + 1) * cpus, Nanos::ZERO);
        self.tick = self.tick.max(Nanos(1_000_000_000 / k.config.tunables.hz.get() as u64));
        let now = k.platform.now();
        let passed = now.saturating_sub(self.looked_at);
        self.looked_at = now;
        for cpu in k.online.iter() {
            let curr = k.task(k.rq(cpu).published.curr.get());
            let is_now = (!in_user.contains(cpu)).then(|| curr.se.group.get());
            let before = core::mem::replace(&mut self.in_kernel[cpu.index()], is_now);
            let ran_for =
                |group| [before, is_now].into_iter().flatten().any(|of| k.groups.is_within(of, group));
            for group in k.groups.ids().filter(|group| k.groups.get(*group).pool.is_some()) {
                let kernel_time = &mut self.kernel_time[group.index() * cpus + cpu.index()];
                if ran_for(group) {
                    *kernel_time += passed;
                }
                let debt = debt(moment, group, cpu);
                // What begins and ends between two looks, which are a tick apart at most, shows in neither.
                let unseen = if k.nohz_full.contains(cpu) { REMOTE_TICK } else { self.tick };
                let most = (self.tick + unseen + *kernel_time).0 as i64;
                found.expect("deadline-groups GB8", debt <= most, || {
                    format!("CPU {cpu}: {group:?} owes {debt} ns, and can by ticks and calls owe {most}")
                });
                // What is under way has not been charged yet.
                if debt == 0 && is_now.is_none() {
                    *kernel_time = Nanos::ZERO;
                }
            }
        }
    }
}

/// What a group's queue on a CPU has used and not got yet, in ns.
pub(super) fn debt<P: Platform>(moment: &Moment<'_, P>, group: GroupId, cpu: CpuId) -> i64 {
    (-moment.k.group_queue(group, cpu).bandwidth.remaining.get()).max(0)
}
