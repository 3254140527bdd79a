//! Waiters of PI mutexes that spin, in time: the examples M7 to M12 of machine.md 8.1, a millisecond later.
//!
//! All runs are checked, so that MI4 holds in each.

use machine::{
    Behaviour, Env, Machine, MachineSpec, MutexKind, Outcome, RunOptions, Setup, Step, TaskOutcome, TaskSpec,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Policy, RtPriority, Topology};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Times at which steps were asked for, by name of the task.
type Diary = Rc<RefCell<Vec<Entry>>>;

#[derive(Debug)]
struct Entry {
    comm: &'static str,
    at: Nanos,
}

#[derive(Debug)]
struct Script {
    comm: &'static str,
    steps: VecDeque<Step>,
    diary: Diary,
}

impl Behaviour for Script {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        self.diary.borrow_mut().push(Entry { comm: self.comm, at: env.now });
        self.steps.pop_front().unwrap_or(Step::Exit)
    }
}

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

/// A machine of three CPUs, one PI mutex and pinned FIFO tasks.
struct Stage {
    spec: MachineSpec,
    setup: Setup,
    settings: Vec<&'static str>,
    mutex: MutexId,
    diary: Diary,
}

struct Played {
    outcome: Outcome,
    diary: Diary,
}

impl Stage {
    /// The owner runs on CPU 0, takes the mutex at once and holds it for 5 ms of its CPU time. The waiter
    /// comes to CPU 1 at 1 ms, FIFO 60.
    fn m7(settings: &[&'static str]) -> Stage {
        let mut setup = Setup::new(3);
        let mutex = setup.mutex("m", MutexKind::Pi);
        let spec = MachineSpec::ideal(Topology::flat(3));
        let mut stage = Stage { spec, setup, settings: settings.to_vec(), mutex, diary: Diary::default() };
        stage.task("owner", 0, 10, 0, [Step::Lock(mutex), Step::Compute(us(5_000)), Step::Unlock(mutex)]);
        stage.locks("waiter", 1, 60, 1_000);
        stage
    }

    fn task(
        &mut self,
        comm: &'static str,
        cpu: u16,
        priority: u8,
        at_us: u64,
        steps: impl IntoIterator<Item = Step>,
    ) {
        let diary = Rc::clone(&self.diary);
        let script = Script { comm, steps: steps.into_iter().collect(), diary };
        let mut spec = TaskSpec::new(comm, script);
        spec.policy = Policy::Fifo(RtPriority::new(priority).expect("1 to 99"));
        spec.cpus = Some(CpuMask::single(CpuId(cpu)));
        self.setup.spawn_on(us(at_us), Some(CpuId(cpu)), spec);
    }

    /// Takes the mutex, holds it for 1 ms and exits.
    fn locks(&mut self, comm: &'static str, cpu: u16, priority: u8, at_us: u64) {
        let steps = [Step::Lock(self.mutex), Step::Compute(us(1_000)), Step::Unlock(self.mutex)];
        self.task(comm, cpu, priority, at_us, steps);
    }

    fn play(self) -> Played {
        let config = Config::of_profile("6.1").expect("a profile");
        for setting in self.settings {
            config.set(setting).expect("a setting");
        }
        let options = RunOptions { check: true, ..RunOptions::default() };
        let machine = Machine::new(self.spec, config, self.setup, options).expect("a sound setup");
        Played { outcome: machine.run().expect("a run without error"), diary: self.diary }
    }
}

impl Played {
    fn task(&self, comm: &str) -> &TaskOutcome {
        self.outcome.tasks.iter().find(|t| &*t.comm == comm).expect("it ran")
    }

    /// When a task asked for its step number `step`, the first being 0.
    fn asked(&self, comm: &str, step: usize) -> Nanos {
        let diary = self.diary.borrow();
        diary.iter().filter(|entry| entry.comm == comm).nth(step).expect("it came so far").at
    }

    /// When a task had the mutex.
    fn owned(&self, comm: &str) -> Nanos {
        self.asked(comm, 1)
    }

    /// Voluntary switches but for that of the exit.
    fn sleeps(&self, comm: &str) -> u64 {
        self.task(comm).counters.nr_voluntary_switches - 1
    }

    fn preemptions(&self, comm: &str) -> u64 {
        self.task(comm).counters.nr_involuntary_switches
    }

    /// CPU time but for the 1 ms with the mutex.
    fn spun(&self, comm: &str) -> Nanos {
        self.task(comm).counters.sum_exec_runtime.saturating_sub(us(1_000))
    }
}

#[test]
fn m7_a_waiter_burns_the_time_of_its_wait_and_is_not_switched() {
    let played = Stage::m7(&[]).play();
    assert_eq!((played.sleeps("waiter"), played.preemptions("waiter")), (0, 0));
    assert_eq!((played.owned("waiter"), played.spun("waiter")), (us(5_000), us(4_000)));
}

/// The news is a cache line, then the waiter takes the lock: neither a switch nor an interrupt lies on the
/// way.
#[test]
fn m7_the_mutex_is_handed_over_within_a_line_transfer_and_the_paths() {
    let mut stage = Stage::m7(&[]);
    let costs = &mut stage.spec.costs;
    (costs.context_switch, costs.idle_exit, costs.irq_entry) = (us(100), us(100), us(100));
    (costs.ipi.shared_cache, costs.line.shared_cache, costs.set_prio) = (us(100), Nanos(80), Nanos(300));
    let played = stage.play();
    let released = played.asked("owner", 2);
    let took = played.owned("waiter").saturating_sub(released);
    assert!(took >= Nanos(80 + 300) && took < us(5), "{took}");
}

#[test]
fn m8_a_waiter_sleeps_when_the_owner_is_preempted_and_does_not_spin_again() {
    let mut stage = Stage::m7(&[]);
    stage.task("hog", 0, 99, 2_000, [Step::Compute(us(1_000))]);
    let played = stage.play();
    assert_eq!((played.sleeps("waiter"), played.preemptions("waiter")), (1, 0));
    assert_eq!((played.owned("waiter"), played.spun("waiter")), (us(6_000), us(1_000)));
}

#[test]
fn m9_a_higher_waiter_spins_in_its_place() {
    let mut stage = Stage::m7(&[]);
    stage.locks("higher", 2, 70, 2_000);
    let played = stage.play();
    assert_eq!((played.sleeps("waiter"), played.spun("waiter")), (1, us(1_000)));
    assert_eq!((played.sleeps("higher"), played.spun("higher")), (0, us(3_000)));
    assert_eq!((played.owned("higher"), played.owned("waiter")), (us(5_000), us(6_000)));
}

#[test]
fn m10_an_equal_waits_until_the_spinner_has_had_the_mutex() {
    let mut stage = Stage::m7(&[]);
    stage.task("equal", 1, 60, 2_000, []);
    let played = stage.play();
    assert_eq!((played.owned("waiter"), played.sleeps("waiter")), (us(5_000), 0));
    assert_eq!(played.asked("equal", 0), us(6_000));
}

#[test]
fn m11_a_higher_task_preempts_the_spinner_or_sends_it_to_sleep() {
    let played = |settings| {
        let mut stage = Stage::m7(settings);
        stage.task("higher", 1, 70, 2_000, [Step::Compute(us(500))]);
        stage.play()
    };
    let full = played(&["preempt_model=full"]);
    assert_eq!((full.sleeps("waiter"), full.preemptions("waiter")), (0, 1));
    assert_eq!((full.owned("waiter"), full.spun("waiter")), (us(5_000), us(3_500)));
    let voluntary = played(&[]);
    assert_eq!((voluntary.sleeps("waiter"), voluntary.preemptions("waiter")), (1, 0));
    assert_eq!((voluntary.owned("waiter"), voluntary.spun("waiter")), (us(5_000), us(1_000)));
    assert_eq!((full.asked("higher", 0), voluntary.asked("higher", 0)), (us(2_000), us(2_000)));
}

#[test]
fn m12_without_the_rule_it_sleeps_once_and_burns_nothing() {
    let played = Stage::m7(&["rtmutex_spin=never"]).play();
    assert_eq!((played.sleeps("waiter"), played.spun("waiter")), (1, Nanos::ZERO));
    assert_eq!(played.owned("waiter"), us(5_000));
}

/// An owner that goes to sleep with the mutex (machine.md 3.2, evidence: ¼ of the hold before the sleep, then
/// none).
#[test]
fn a_waiter_sleeps_when_the_owner_does() {
    let mut stage = Stage::m7(&[]);
    let other = stage.setup.mutex("other", MutexKind::Pi);
    let sleeps = [Step::Compute(us(500)), Step::SleepFor(us(1_000)), Step::Compute(us(500))];
    let steps = [Step::Lock(other)].into_iter().chain(sleeps).chain([Step::Unlock(other)]);
    stage.task("sleeper", 2, 50, 0, steps);
    stage.task("second", 0, 99, 0, [Step::Lock(other), Step::Unlock(other)]);
    let played = stage.play();
    assert_eq!((played.sleeps("second"), played.owned("second")), (1, us(2_000)));
    assert_eq!(played.task("second").counters.sum_exec_runtime, us(500));
}
