//! The checking mode ([`crate::RunOptions::check`]): the scheduler's invariants are asked after every event,
//! and those that need the engine's clock or its lists here (fair-class 14, I11; machine.md 8.2, MI3, MI7
//! and MI8). It costs a test of a pointer when it is off.

use super::view::View;
use crate::engine::hardware::{CpuThreads, Mode, Softirq};
use crate::engine::record::Watch;
use crate::engine::userland::Activity;
use crate::outcome::{RunError, TaskOutcome};
use scheduler::check::Violation;
use scheduler::registry::{PreemptModel, SoftirqWhere};
use scheduler::{Class, CpuId, CpuMask, Nanos, TaskId, TaskState};
use std::cell::RefCell;

/// Asks every invariant that can be asked now; a broken one stops the run.
#[cold]
pub(crate) fn check(watch: &Watch, view: View<'_>, finished: &RefCell<Vec<TaskOutcome>>) {
    let hw = view.hw();
    let stuck = watch.time_passes(hw.now.get());
    if stuck.is_none() && !watch.is_due() {
        return;
    }
    let idle_or_user = view.idle_or_user();
    let look = || {
        let mut checker = watch.checker.borrow_mut();
        match watch.is_complete() {
            true => checker.look(view.k, &idle_or_user, &view.stoppable(&idle_or_user)),
            false => checker.look_at_state(view.k, &idle_or_user),
        }
    };
    let accounts = || {
        let all = watch.nothing_costs.then(|| time_adds_up(view, &finished.borrow(), &idle_or_user));
        all.flatten()
    };
    let broken = stuck
        .or_else(look)
        .or_else(accounts)
        .or_else(|| watch.is_complete().then(|| acts_on_requests(watch, view)).flatten())
        .or_else(|| timers_come(view))
        .or_else(|| somebody_serves(view));
    if let Some(Violation { invariant, what }) = broken {
        hw.recorder.fail(RunError::Invariant { invariant, at: hw.now.get(), what });
    }
}

/// MI3: whoever is asked to make room does so at once, where nothing costs time: there no stretch of the
/// kernel has pieces, and no way is long. Not in such a stretch itself, unless the kernel can be preempted in
/// it.
fn acts_on_requests(watch: &Watch, view: View<'_>) -> Option<Violation> {
    let (k, now) = (view.k, view.hw().now.get());
    let preemptible = matches!(k.config.rules.preempt_model.get(), PreemptModel::Full | PreemptModel::Lazy);
    let late = |cpu: &CpuId| {
        let rq = &k.rq(*cpu).published;
        let curr = rq.curr.get();
        let activity = view.user.tasks.with_known(curr, |t| t.activity);
        let in_kernel = matches!(activity, Some(Activity::Kernel { .. }));
        let acts = rq.need_resched() && (preemptible || !in_kernel) && !view.is_in_softirq(*cpu);
        let since = &watch.asked_since[cpu.index()];
        let asked_at = if acts { since.get().or(Some(now)) } else { None };
        since.set(asked_at);
        asked_at.is_some_and(|at| at < now)
    };
    // Where the ways from wakeups are known, they take their time.
    if !watch.nothing_costs || view.hw().paths.is_some() {
        return None;
    }
    let cpu = k.online.iter().filter(late).collect::<CpuMask>().first()?;
    let since = watch.asked_since[cpu.index()].get().unwrap_or(now);
    let what = format!("CPU {cpu} has been asked to reschedule since {since} s");
    Some(Violation { invariant: "machine.md MI3", what })
}

/// MI7, its end: a timer whose hard expiry has passed is on its way to a CPU that takes interrupts. (That
/// none is early, whoever serves it looks: `Hw::timer_served`.)
fn timers_come(view: View<'_>) -> Option<Violation> {
    let (hw, now) = (view.hw(), view.hw().now.get());
    let lost = |cpu: CpuId| {
        let timers = hw.cpu(cpu).timers_set.borrow();
        timers.late(now).find(|timer| !hw.queue.is_set(timer.slot)).copied()
    };
    let timer = view.idle_or_user().iter().find_map(lost)?;
    Some(Violation { invariant: "machine.md MI7", what: format!("nobody serves this timer: {timer:?}") })
}

/// MI8: what interrupts have left to threads is there to be done by one that runs, or waits for its turn. (A
/// thread that waits for the lock of the soft interrupts waits for another one of its CPU.)
fn somebody_serves(view: View<'_>) -> Option<Violation> {
    let (k, in_tasks) = (view.k, view.k.config.rules.softirq_where.get() == SoftirqWhere::Task);
    let is_awake = |thread: TaskId| k.task(thread).state.get() == TaskState::Running;
    let is_left = |cpu: &CpuId| {
        let hw = view.hw().cpu(*cpu);
        let Some(CpuThreads { ksoftirqd, ktimers, irq, .. }) = hw.threads.get() else { return false };
        let soft = in_tasks && !hw.softirq_list.borrow().is_empty();
        let hard = !hw.irq_list.borrow().is_empty();
        let all = [Some(ksoftirqd), ktimers, irq];
        // Some wait until they are put to work for the first time.
        let is_new = |thread: TaskId| k.task(thread).state.get() == TaskState::New;
        (soft || hard) && !all.into_iter().flatten().any(|thread| is_awake(thread) || is_new(thread))
    };
    let quiet = view.idle_or_user();
    let cpu = quiet.iter().find(is_left)?;
    let what = format!("CPU {cpu} has soft interrupts or handlers to serve, and no thread awake that does");
    Some(Violation { invariant: "machine.md MI8", what })
}

/// I11: on a machine where nothing costs time, what tasks have run and what CPUs have idled is all the
/// time there was; but for what interrupts took that do not count as the time of whom they interrupted.
fn time_adds_up(view: View<'_>, finished: &[TaskOutcome], idle_or_user: &CpuMask) -> Option<Violation> {
    let k = view.k;
    if *idle_or_user != k.online {
        return None;
    }
    let now = view.hw().now.get();
    let accounted = |p: TaskId| k.task(p).stats.sum_exec_runtime.get();
    let alive: Nanos = k.tasks.iter().skip(k.cpus()).map(accounted).sum();
    let gone: Nanos = finished.iter().map(|t| t.counters.sum_exec_runtime).sum();
    let unaccounted = |cpu: CpuId| {
        let curr = k.task(k.rq(cpu).published.curr.get());
        if curr.class.get() == Class::Idle {
            return Nanos::ZERO;
        }
        let left_out = k.rq(cpu).published.left_out.get();
        now.saturating_sub(left_out).saturating_sub(curr.stats.exec_start.get())
    };
    let running: Nanos = k.online.iter().map(unaccounted).sum();
    let idle: Nanos = k.online.iter().map(|cpu| view.hw().recorder.idle_time(cpu, now)).sum();
    let (sum, all) = (alive + gone + running + idle, now * k.cpus() as u64);
    let interrupts: Nanos = k.online.iter().map(|cpu| view.hw().cpu(cpu).interrupt_time.get()).sum();
    (sum > all || sum + interrupts < all).then(|| Violation {
        invariant: "fair-class I11",
        what: format!("tasks ran {} s, CPUs idled {idle} s, of {all} s", alive + gone + running),
    })
}

impl View<'_> {
    /// Whether nothing that is asked of a CPU is looked at until its soft interrupt ends.
    fn is_in_softirq(self, cpu: CpuId) -> bool {
        self.hw().cpu(cpu).softirq.get() == Softirq::Running
    }

    /// The CPUs on which no kernel path is under way and no interrupt is pending.
    fn idle_or_user(self) -> CpuMask {
        let quiet = |cpu: &CpuId| {
            let takes_interrupts = self.hw().cpu(*cpu).mode.get() == Mode::Interruptible;
            takes_interrupts && !self.is_in_softirq(*cpu) && self.hw().cpu(*cpu).pending.borrow().is_empty()
        };
        self.k.online.iter().filter(quiet).collect()
    }

    /// Those of them that idle or execute a user's code in user space, where a limit of its group stops it.
    fn stoppable(self, idle_or_user: &CpuMask) -> CpuMask {
        let is = |cpu: &CpuId| {
            let curr = self.k.rq(*cpu).published.curr.get();
            let task = self.k.task(curr);
            let in_user = || self.user.tasks.with_known(curr, |t| t.activity.is_in_user_space());
            task.class.get() == Class::Idle || !task.kernel_thread.get() && in_user().unwrap_or(false)
        };
        idle_or_user.iter().filter(is).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{View, Watch};
    use crate::engine::hardware::{IrqWork, Mode, SoftWork, Softirq, TaskTimer};
    use crate::outcome::RunError;
    use crate::spec::IdleMonitor;
    use crate::{Behaviour, Env, Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec};
    use scheduler::platform::{Ipi, Platform};
    use scheduler::registry::Config;
    use scheduler::rq::Resched;
    use scheduler::{
        CpuId, Event, Nanos, Policy, RtPriority, SwitchState, TaskId, TaskState, ThisCpu, Topology,
    };
    use std::num::NonZeroU32;

    #[derive(Debug)]
    struct Periodic;

    impl Behaviour for Periodic {
        fn next(&mut self, env: &mut Env<'_>) -> Step {
            *env.iterations += 1;
            let length = Nanos::from_micros(300);
            if *env.iterations % 2 == 1 { Step::Compute(length) } else { Step::SleepFor(length) }
        }
    }

    /// Three equal FIFO tasks on two CPUs for 10 ms.
    fn checked() -> Machine {
        checked_on(MachineSpec::ideal(Topology::flat(2)))
    }

    fn checked_on(spec: MachineSpec) -> Machine {
        checked_under("6.1", spec)
    }

    fn checked_under(kernel: &str, spec: MachineSpec) -> Machine {
        checked_with(kernel, spec, None)
    }

    fn checked_every(every: Option<NonZeroU32>) -> Machine {
        checked_with("6.1", MachineSpec::ideal(Topology::flat(2)), every)
    }

    fn checked_with(kernel: &str, spec: MachineSpec, check_every: Option<NonZeroU32>) -> Machine {
        let mut setup = Setup::new(2);
        for n in 0..3 {
            let mut task = TaskSpec::new(format!("t{n}"), Periodic);
            task.policy = Policy::Fifo(RtPriority::new(5).expect("1 to 99"));
            setup.spawn(Nanos::ZERO, task);
        }
        let config = Config::of_profile(kernel).expect("it exists");
        let duration = Nanos::from_millis(10);
        let options = RunOptions { duration, check: true, check_every, ..RunOptions::default() };
        Machine::new(spec, config, setup, options).expect("a sound setup")
    }

    #[test]
    fn a_sound_run_passes() {
        assert!(checked().run().is_ok());
    }

    #[test]
    fn a_broken_invariant_stops_the_run() {
        let machine = checked();
        machine.sim.k.task(TaskId(3)).nr_cpus_allowed.overwrite(7);
        let Err(RunError::Invariant { invariant, at, what }) = machine.run() else { panic!("it passes") };
        assert_eq!((invariant, at), ("rt-class P4", Nanos::ZERO));
        assert!(what.contains("TaskId(3)"), "{what}");
    }

    /// Of some 500 events in 10 ms.
    #[test]
    fn a_broken_state_is_found_by_samples() {
        let found = |every: u32| {
            let machine = checked_every(NonZeroU32::new(every));
            machine.sim.k.task(TaskId(3)).nr_cpus_allowed.overwrite(7);
            broken(machine)
        };
        assert_eq!([10, 100, 1_000_000].map(found), [Some("rt-class P4"), Some("rt-class P4"), None]);
        assert!(checked_every(NonZeroU32::new(10)).run().is_ok());
    }

    #[test]
    fn time_that_nobody_accounts_for_is_found() {
        let machine = checked();
        machine.sim.k.task(TaskId(2)).stats.sum_exec_runtime.overwrite(Nanos(1));
        assert!(matches!(machine.run(), Err(RunError::Invariant { invariant: "fair-class I11", .. })));
    }

    /// What stopped the run, if something did before it began.
    fn broken(machine: Machine) -> Option<&'static str> {
        match machine.run() {
            Err(RunError::Invariant { invariant, .. }) => Some(invariant),
            _ => None,
        }
    }

    #[test]
    fn mi2_a_switch_inside_an_interrupt() {
        let told = |in_interrupt| {
            let machine = checked();
            let (k, id) = (&machine.sim.k, CpuId(1));
            k.platform.cpu(id).in_interrupt.set(in_interrupt);
            let (prev, prev_state, next) = (TaskId(1), SwitchState::Runnable, TaskId(1));
            k.platform.event(ThisCpu { k, id }, Event::Switch { prev, prev_state, next });
            k.platform.cpu(id).in_interrupt.set(false);
            broken(machine)
        };
        // No counter knows of it: P15.
        assert_eq!((told(true), told(false)), (Some("machine.md MI2"), Some("rt-class P15")));
    }

    #[test]
    fn mi3_a_request_that_nobody_acts_on() {
        let machine = checked();
        let view = View { k: &machine.sim.k, user: &machine.sim.user };
        let watch = Watch::new(view.k, &view.hw().spec, None);
        let looks_at = |us| {
            view.hw().now.set(Nanos::from_micros(us));
            super::acts_on_requests(&watch, view).map(|violation| violation.invariant)
        };
        assert_eq!((looks_at(0), looks_at(1)), (None, None), "nobody is asked");
        view.k.rq(CpuId(1)).published.resched.overwrite(Resched::Full);
        assert_eq!((looks_at(2), looks_at(2), looks_at(3)), (None, None, Some("machine.md MI3")));
    }

    /// Of a timer of 5 us with a slack of 50.
    #[test]
    fn mi7_a_timer_that_is_early_or_lost() {
        let (task, soft, hard) = (TaskId(3), Nanos::from_micros(5), Nanos::from_micros(55));
        let set = || {
            let machine = checked();
            let hw = machine.sim.hw();
            let slot = machine.sim.user.tasks.with(task, |t| t.timer);
            hw.queue.set(slot, hard);
            hw.add_timer(CpuId(1), TaskTimer::new(slot, soft, hard - soft));
            hw.cpu(CpuId(1)).mode.set(Mode::Interruptible);
            (machine, slot)
        };
        let served = |at| {
            let (machine, slot) = set();
            machine.sim.hw().now.set(at);
            machine.sim.hw().timer_served(CpuId(1), slot);
            machine.sim.hw().recorder.take_error().is_some()
        };
        assert_eq!((served(soft - Nanos(1)), served(soft), served(hard)), (true, false, false));
        let lost = |at, is_cleared: bool| {
            let (machine, slot) = set();
            if is_cleared {
                machine.sim.hw().queue.clear(slot);
            }
            machine.sim.hw().now.set(at);
            let view = View { k: &machine.sim.k, user: &machine.sim.user };
            super::timers_come(view).map(|violation| violation.invariant)
        };
        assert_eq!((lost(hard + Nanos(1), false), lost(hard, true)), (None, None));
        assert_eq!(lost(hard + Nanos(1), true), Some("machine.md MI7"));
    }

    #[test]
    fn mi8_work_that_no_thread_is_awake_for() {
        for is_soft in [true, false] {
            let machine = checked_under("6.1-rt", MachineSpec::ideal(Topology::flat(2)));
            let view = View { k: &machine.sim.k, user: &machine.sim.user };
            let cpu = view.hw().cpu(CpuId(1));
            let threads = cpu.threads.get().expect("it has some");
            let all = || [Some(threads.ksoftirqd), threads.ktimers, threads.irq].into_iter().flatten();
            view.k.online.iter().for_each(|cpu| view.hw().cpu(cpu).mode.set(Mode::Interruptible));
            let found = || super::somebody_serves(view).map(|violation| violation.invariant);
            all().for_each(|thread| view.k.task(thread).state.overwrite(TaskState::Interruptible));
            assert_eq!(found(), None, "nothing is to be done");
            if is_soft {
                cpu.softirq_list.borrow_mut().push_back(SoftWork::Timer(TaskId(3)));
            } else {
                cpu.irq_list.borrow_mut().push_back(IrqWork::Handler(Nanos(1)));
            }
            assert_eq!(found(), Some("machine.md MI8"));
            view.k.task(threads.ksoftirqd).state.overwrite(TaskState::Running);
            assert_eq!(found(), None);
        }
    }

    #[test]
    fn mi10_an_interrupt_for_a_cpu_that_watches() {
        let sent = |polling, softirq| {
            let mut spec = MachineSpec::ideal(Topology::flat(2));
            spec.idle_monitor = IdleMonitor::Mwait;
            let machine = checked_on(spec);
            let target = machine.sim.k.platform.cpu(CpuId(1));
            target.mode.set(Mode::Interruptible);
            target.polling.set(polling);
            target.softirq.set(softirq);
            machine.sim.k.platform.send_ipi(CpuId(0), CpuId(1), Ipi::Reschedule);
            target.mode.set(Mode::InPath);
            target.polling.set(false);
            broken(machine)
        };
        assert_eq!(sent(false, Softirq::Empty), Some("machine.md MI10"));
        assert_eq!(sent(true, Softirq::Empty), None);
        assert_eq!(sent(false, Softirq::Running), None, "it has left its idle loop for soft interrupts");
    }
}
