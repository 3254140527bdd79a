//! The checking mode ([`crate::RunOptions::check`]): the scheduler's invariants are asked after every event,
//! and those that need the engine's clock here (fair-class 14, I11). It costs a test of a pointer when it is
//! off.

use crate::engine::hardware::cpu::Mode;
use crate::engine::hardware::hw::Hw;
use crate::engine::kernel::sim::Sim;
use crate::outcome::RunError;
use crate::spec::{Costs, MachineSpec, Noise};
use scheduler::check::{Checker, Violation};
use scheduler::{Class, CpuMask, Nanos, Scheduler};
use std::cell::{Cell, RefCell};

/// What watches a run.
#[derive(Debug)]
pub(crate) struct Watch {
    pub checker: RefCell<Checker>,
    /// Nothing costs time on this machine, so time is either idle or some task's.
    nothing_costs: bool,
    /// Virtual time at the latest look, and looks since it last moved.
    at: Cell<Nanos>,
    looks_at_once: Cell<u32>,
}

/// Looks without virtual time passing after which CPUs are taken to keep each other busy for ever.
const ENDLESS_LOOKS: u32 = 1_000_000;

impl Watch {
    /// For a scheduler that has not run yet.
    pub fn new(k: &Scheduler<Hw>) -> Watch {
        Watch {
            checker: RefCell::new(Checker::new(k)),
            nothing_costs: nothing_costs(&k.platform.spec),
            at: Cell::new(Nanos::ZERO),
            looks_at_once: Cell::new(0),
        }
    }

    fn time_passes(&self, now: Nanos) -> Option<Violation> {
        if self.at.replace(now) != now {
            self.looks_at_once.set(0);
        }
        self.looks_at_once.set(self.looks_at_once.get() + 1);
        (self.looks_at_once.get() == ENDLESS_LOOKS).then(|| Violation {
            invariant: "P18",
            what: format!("{ENDLESS_LOOKS} events without time passing: CPUs keep each other busy for ever"),
        })
    }
}

fn nothing_costs(spec: &MachineSpec) -> bool {
    spec.costs == Costs::default() && spec.noise == Noise::default() && spec.cache.refill_ps_per_byte == 0
}

impl Sim {
    /// Asks every invariant that can be asked now, if the run is checked; a broken one stops it.
    #[inline]
    pub fn check(&self) {
        if let Some(watch) = self.hw().watch() {
            self.check_with(watch);
        }
    }

    #[cold]
    fn check_with(&self, watch: &Watch) {
        let idle_or_user = self.idle_or_user();
        let broken = watch
            .time_passes(self.hw().now.get())
            .or_else(|| watch.checker.borrow_mut().look(&self.k, &idle_or_user))
            .or_else(|| self.time_adds_up(watch, &idle_or_user));
        if let Some(Violation { invariant, what }) = broken {
            self.fail(RunError::Invariant { invariant, at: self.hw().now.get(), what });
        }
    }

    /// The CPUs on which no kernel path is under way and no interrupt is pending.
    fn idle_or_user(&self) -> CpuMask {
        let quiet = |cpu: &scheduler::CpuId| {
            let takes_interrupts = self.cpu(*cpu).mode.get() == Mode::Interruptible;
            takes_interrupts && self.cpu(*cpu).pending.borrow().is_empty()
        };
        self.k.online.iter().filter(quiet).collect()
    }

    /// I11: on a machine where nothing costs time, what tasks have run and what CPUs have idled is all the
    /// time there was.
    fn time_adds_up(&self, watch: &Watch, idle_or_user: &CpuMask) -> Option<Violation> {
        if !watch.nothing_costs || *idle_or_user != self.k.online {
            return None;
        }
        let now = self.hw().now.get();
        let accounted = |p: scheduler::TaskId| self.k.task(p).stats.sum_exec_runtime.get();
        let alive: Nanos = self.k.tasks.iter().skip(self.k.cpus()).map(accounted).sum();
        let gone: Nanos = self.finished.borrow().iter().map(|t| t.counters.sum_exec_runtime).sum();
        let unaccounted = |cpu: scheduler::CpuId| {
            let curr = self.k.task(self.k.rq(cpu).published.curr.get());
            let since = if curr.class.get() == Class::Idle { now } else { curr.stats.exec_start.get() };
            now.saturating_sub(since)
        };
        let running: Nanos = self.k.online.iter().map(unaccounted).sum();
        let idle: Nanos = self.k.online.iter().map(|cpu| self.hw().recorder.idle_time(cpu, now)).sum();
        let (sum, all) = (alive + gone + running + idle, now * self.k.cpus() as u64);
        (sum != all).then(|| Violation {
            invariant: "I11",
            what: format!("tasks ran {} s, CPUs idled {idle} s, of {all} s", alive + gone + running),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::outcome::RunError;
    use crate::{Behaviour, Env, Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec};
    use scheduler::registry::Config;
    use scheduler::{Nanos, Policy, RtPriority, TaskId, Topology};

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
        let mut setup = Setup::new(2);
        for n in 0..3 {
            let mut task = TaskSpec::new(format!("t{n}"), Periodic);
            task.policy = Policy::Fifo(RtPriority::new(5).expect("1 to 99"));
            setup.spawn(Nanos::ZERO, task);
        }
        let config = Config::of_profile("6.1").expect("it exists");
        let spec = MachineSpec::ideal(Topology::flat(2));
        let options = RunOptions { duration: Nanos::from_millis(10), check: true, ..RunOptions::default() };
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
        assert_eq!((invariant, at), ("P4", Nanos::ZERO));
        assert!(what.contains("TaskId(3)"), "{what}");
    }

    #[test]
    fn time_that_nobody_accounts_for_is_found() {
        let machine = checked();
        machine.sim.k.task(TaskId(2)).stats.sum_exec_runtime.overwrite(Nanos(1));
        assert!(matches!(machine.run(), Err(RunError::Invariant { invariant: "I11", .. })));
    }
}
