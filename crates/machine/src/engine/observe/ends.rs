//! How tasks end: what each has come to, and which can go no further.

use super::view::View;
use crate::engine::record::add_latency;
use crate::engine::userland::{Activity, Resume, counters};
use crate::group::{GroupOutcome, GroupSpec, QuotaOutcome, RtLimitOutcome};
use crate::outcome::{StuckTask, TaskOrigin, TaskOutcome};
use crate::setup::Outside;
use scheduler::dl::DlCounts;
use scheduler::rt::{Bandwidth, RtThrottleCounts};
use scheduler::{GroupId, Nanos, TaskId, TaskState};
use schema::Histogram;

impl View<'_> {
    /// A task, with what has been recorded of its latencies.
    pub fn task_outcome(self, p: TaskId, wakeup_latency: Option<Box<Histogram>>) -> TaskOutcome {
        let (task, tasks) = (self.k.task(p), &self.user.tasks);
        if tasks.with(p, |t| !t.time_under.is_empty()) {
            tasks.account_under(self.k, p, tasks.served(self.k, p));
        }
        tasks.with(p, |t| TaskOutcome {
            task: p,
            pid: t.pid,
            comm: t.comm.clone(),
            policy: task.policy.get(),
            nice: task.nice.get(),
            cpus: task.cpus_allowed.get(),
            group: task.se.group.get(),
            time_under: t.time_under.clone(),
            origin: t.origin,
            exited: t.exited,
            iterations: t.iterations,
            counters: counters(self.k, p),
            wait_sum: task.stats.wait_sum.get(),
            wakeup_latency,
            latency_by_class: self.hw().recorder.latency_by_class(p, None),
            deadline: self.deadline_counts(p),
        })
    }

    fn deadline_counts(self, p: TaskId) -> Option<DlCounts> {
        let counts = self.k.task(p).dl.if_any()?.counts(self.hw().now.get());
        counts.params.map(|_| counts)
    }

    /// What a living task waits for at `at` counts up to then: its wait for a CPU, and its latency if that is
    /// longer than all that have ended. (Who is starved would else have waited for nothing.)
    pub fn with_open_waits(self, p: TaskId, at: Nanos, mut outcome: TaskOutcome) -> TaskOutcome {
        let stats = &self.k.task(p).stats;
        if let Some(since) = stats.wait_start.get() {
            outcome.wait_sum += at.saturating_sub(since);
        }
        let open = stats.woken_at().map(|since| at.saturating_sub(since));
        let longest = Nanos(outcome.wakeup_latency.as_deref().map_or(0, Histogram::max_ns));
        if let Some(open) = open.filter(|open| *open > longest) {
            add_latency(&mut outcome.wakeup_latency, open);
            outcome.latency_by_class = self.hw().recorder.latency_by_class(p, Some(open));
        }
        outcome
    }

    /// The groups of a setup, in its order.
    pub fn group_outcomes(self, specs: &[GroupSpec], now: Nanos) -> Vec<GroupOutcome> {
        let outcome = |(spec, group): (&GroupSpec, GroupId)| {
            let quota = self.k.bandwidth_counts(group, now).map(|counts| QuotaOutcome {
                nr_periods: counts.nr_periods,
                nr_throttled: counts.nr_throttled,
                throttled: counts.throttled_time,
                nr_bursts: counts.nr_bursts,
                burst: counts.burst_time,
            });
            let of_rt = |of: &Bandwidth| {
                let RtThrottleCounts { nr_throttled, throttled_time, usage, .. } = of.counts_until(now);
                Some(RtLimitOutcome { limit: of.limit()?, nr_throttled, throttled: throttled_time, usage })
            };
            let rt = self.k.groups.get(group).rt.as_ref().and_then(of_rt);
            let usage = self.k.group_usage(group) + self.without_a_tick(group, now);
            GroupOutcome { spec: spec.clone(), usage, quota, rt }
        };
        specs.iter().zip(self.k.groups.ids()).map(outcome).collect()
    }

    /// What a group has used of CPUs that may stop their tick, and the scheduler has not accounted yet.
    fn without_a_tick(self, group: GroupId, now: Nanos) -> Nanos {
        let running = self.hw().nohz_full.iter().map(|cpu| self.k.rq(cpu).published.curr.get());
        let below = running.filter(|p| {
            let own = self.k.task(*p).se.group.get();
            self.k.groups.is_within(own, group)
        });
        below.map(|p| self.unaccounted(p, now)).sum()
    }

    /// The tasks that still live, if all of them sleep and neither a timer nor any of these messages from
    /// outside will wake one.
    pub fn stalled(self, end: Nanos, outside: &[Outside]) -> Vec<StuckTask> {
        let tasks = &self.user.tasks;
        let queue = &self.hw().queue;
        let asleep = |p: TaskId| {
            // A spinner for a mutex has the state of a sleeper, too; but then its owner runs.
            let state = self.k.task(p).state.get();
            matches!(state, TaskState::Interruptible | TaskState::Uninterruptible)
                && !queue.is_set(tasks.with(p, |t| t.timer))
        };
        let of_setup = |p: &TaskId| tasks.with(*p, |t| t.origin != TaskOrigin::Machine);
        let living = || tasks.known(self.k).filter(of_setup);
        let to_come = outside.iter().any(|m| m.at > end || m.every.is_some())
            || self.hw().cpus.iter().any(|cpu| !cpu.by_tick.borrow().is_empty())
            || self.hw().cpus.iter().any(|cpu| cpu.softirq_list.borrow().iter().any(|work| work.wakes()))
            || self.user.devices.are_busy(end);
        if to_come || !living().all(asleep) {
            return Vec::new();
        }
        let stuck = |p| {
            let waits_for = self.waits_for(p);
            tasks.with(p, |t| StuckTask { pid: t.pid, comm: t.comm.clone(), waits_for })
        };
        living().map(stuck).collect()
    }

    /// What a sleeping task waits for, in words for a message.
    fn waits_for(self, p: TaskId) -> String {
        match self.user.tasks.with(p, |t| t.activity) {
            Activity::InCall(Resume::Lock(id)) => format!("mutex {}", self.user.mutexes.name(id)),
            Activity::InCall(Resume::Send(id) | Resume::SendAgain(id)) => format!("room in channel {}", id.0),
            Activity::InCall(Resume::Receive(id)) => format!("a message on channel {}", id.0),
            Activity::InCall(Resume::WaitChild) => "a child to exit".into(),
            Activity::InCall(Resume::SpinLock(attempt)) => format!("spinlock {}", attempt.lock.0),
            _ => "a futex, a barrier or a vforked child".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::View;
    use crate::behaviour::{Behaviour, Env, TaskSpec};
    use crate::engine::hardware::SoftWork;
    use crate::{Machine, MachineSpec, RunOptions, Setup, Step};
    use scheduler::registry::Config;
    use scheduler::{CpuId, Nanos, TaskId, TaskState, Topology};

    #[derive(Debug)]
    struct Ends;

    impl Behaviour for Ends {
        fn next(&mut self, _: &mut Env<'_>) -> Step {
            Step::Exit
        }
    }

    /// Callbacks that are still to be called wake nobody, other work of soft interrupts may.
    #[test]
    fn who_sleeps_beside_callbacks_is_stuck() {
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, TaskSpec::new("sleeps", Ends));
        let config = Config::of_profile("6.1").expect("it exists");
        let spec = MachineSpec::ideal(Topology::flat(1));
        let machine = Machine::new(spec, config, setup, RunOptions::default()).expect("a sound setup");
        let (view, sleeper) = (View { k: &machine.sim.k, user: &machine.sim.user }, TaskId(1));
        view.k.task(sleeper).state.overwrite(TaskState::Interruptible);
        view.hw().queue.clear(view.user.tasks.with(sleeper, |t| t.timer));
        let stuck_beside = |work| {
            view.hw().cpu(CpuId(0)).softirq_list.borrow_mut().push_back(work);
            view.stalled(Nanos::ZERO, &[]).len()
        };
        assert_eq!(stuck_beside(SoftWork::Callbacks), 1);
        assert_eq!(stuck_beside(SoftWork::Timer(sleeper)), 0);
    }
}
