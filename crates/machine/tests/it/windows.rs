//! Stretches of a run that are measured by themselves.

use machine::{
    Behaviour, Env, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskOutcome, TaskSpec, Window,
    WindowOutcome,
};
use scheduler::registry::Config;
use scheduler::{Nanos, Policy, RtPriority, Topology};

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// Computes and sleeps in turn.
#[derive(Debug)]
struct InTurn {
    compute: Nanos,
    sleep: Nanos,
    sleeps: bool,
}

impl Behaviour for InTurn {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        self.sleeps = !self.sleeps;
        if self.sleeps { Step::Compute(self.compute) } else { Step::SleepFor(self.sleep) }
    }
}

/// Three that compete for two CPUs, one that exits after 20 ms, one that appears after 60 ms, and a real-time
/// task.
fn run(window: Option<Window>) -> Outcome {
    let mut setup = Setup::new(2);
    let in_turn = |compute: u64, sleep| InTurn {
        compute: Nanos::from_micros(compute),
        sleep: Nanos::from_micros(sleep),
        sleeps: false,
    };
    for n in 0..3 {
        setup.spawn(Nanos::ZERO, TaskSpec::new(format!("hog{n}"), in_turn(100_000, 1)));
    }
    let fifo = RtPriority::new(50).map(Policy::Fifo).expect("a priority");
    setup.spawn(Nanos::ZERO, TaskSpec { policy: fifo, ..TaskSpec::new("timer", in_turn(150, 850)) });
    setup.spawn(Nanos::ZERO, TaskSpec::new("short", Once(Some(ms(10)))));
    setup.spawn(ms(60), TaskSpec::new("late", in_turn(700, 300)));
    let options = RunOptions { duration: ms(100), window, ..RunOptions::default() };
    let spec = MachineSpec::ideal(Topology::flat(2));
    Machine::new(spec, Config::default(), setup, options).expect("a machine").run().expect("a run")
}

#[derive(Debug)]
struct Once(Option<Nanos>);

impl Behaviour for Once {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        self.0.take().map_or(Step::Exit, Step::Compute)
    }
}

fn window(from: u64, to: u64) -> WindowOutcome {
    run(Some(Window { from: ms(from), to: ms(to) })).window.expect("the run reaches it")
}

fn task<'a>(tasks: &'a [TaskOutcome], comm: &str) -> Option<&'a TaskOutcome> {
    tasks.iter().find(|task| &*task.comm == comm)
}

#[test]
fn to_measure_changes_nothing() {
    let (plain, measured) = (run(None), run(Some(Window { from: ms(33), to: ms(57) })));
    assert!(plain.window.is_none());
    assert_eq!((plain.events, plain.totals), (measured.events, measured.totals));
    for (one, other) in plain.tasks.iter().zip(&measured.tasks) {
        assert_eq!(one.counters, other.counters, "{}", one.comm);
    }
}

#[test]
fn windows_beside_each_other_add_up_to_the_one_that_holds_both() {
    let (whole, parts) = (window(0, 100), [window(0, 37), window(37, 100)]);
    let sum = |of: &dyn Fn(&WindowOutcome) -> u64| parts.iter().map(of).sum::<u64>();
    let check = |name: &str, of: &dyn Fn(&WindowOutcome) -> u64| assert_eq!(sum(of), of(&whole), "{name}");
    check("context switches", &|w| w.totals.context_switches);
    check("wakeups", &|w| w.totals.wakeups);
    check("decisions", &|w| w.decisions.iter().map(|d| d.count).sum());
    for cpu in 0..2 {
        check("idle time", &|w| w.cpus[cpu].idle_ns);
        check("switches", &|w| w.cpus[cpu].nr_switches);
        check("lock", &|w| w.cpus[cpu].rq_lock.acquisitions);
    }
    for name in ["hog0", "hog1", "hog2", "timer", "short", "late"] {
        let of =
            |figure: fn(&TaskOutcome) -> u64| move |w: &WindowOutcome| task(&w.tasks, name).map_or(0, figure);
        check(name, &of(|task| task.counters.sum_exec_runtime.0));
        check(name, &of(|task| task.wait_sum.0));
        check(name, &of(|task| task.counters.nr_voluntary_switches));
        check(name, &of(|task| task.counters.nr_involuntary_switches));
        check(name, &of(|task| task.counters.nr_migrations));
        check(name, &of(|task| task.wakeup_latency.as_ref().map_or(0, |latency| latency.count())));
    }
    let whole_run = run(None);
    assert_eq!(whole.totals, whole_run.totals, "a window of the whole run is the run");
    assert!(whole.totals.context_switches > 200, "{:?}", whole.totals);
}

#[test]
fn no_task_runs_longer_than_the_window() {
    let window = window(41, 43);
    let cpu_time: Nanos = window.tasks.iter().map(|task| task.counters.sum_exec_runtime).sum();
    let idle = Nanos(window.cpus.iter().map(|cpu| cpu.idle_ns).sum());
    assert_eq!(cpu_time + idle, ms(4), "two CPUs for two milliseconds, and nothing else costs time");
    assert!(window.tasks.iter().all(|task| task.wait_sum <= ms(2)));
}

#[test]
fn only_tasks_that_lived_in_the_window_are_in_it() {
    let names = |from, to| -> Vec<bool> {
        let window = window(from, to);
        ["timer", "short", "late"].iter().map(|name| task(&window.tasks, name).is_some()).collect()
    };
    assert_eq!(names(0, 5), [true, true, true], "one that is still to appear is known");
    assert_eq!(names(80, 90), [true, false, true], "one that has exited is not");
}

#[test]
fn a_window_ends_with_the_run_and_one_behind_it_is_none() {
    let reaches = |from: u64, to: u64| {
        run(Some(Window { from: ms(from), to: ms(to) })).window.map(|measured| measured.window)
    };
    assert_eq!(reaches(90, 500), Some(Window { from: ms(90), to: ms(100) }));
    assert_eq!(reaches(200, 500), None);
}

/// A fair task that a real-time one never lets run has waited all the time, and not for nothing.
#[test]
fn who_waits_when_the_run_ends_has_waited_until_then() {
    let mut setup = Setup::new(1);
    let endless = || Once(Some(ms(1_000)));
    let fifo = RtPriority::new(50).map(Policy::Fifo).expect("a priority");
    setup.spawn(Nanos::ZERO, TaskSpec { policy: fifo, ..TaskSpec::new("fifo", endless()) });
    setup.spawn(ms(20), TaskSpec::new("fair", endless()));
    let config = Config::default();
    config.set("sched_rt_runtime_us=-1").expect("legal");
    let options = RunOptions { duration: ms(100), ..RunOptions::default() };
    let spec = MachineSpec::ideal(Topology::flat(1));
    let outcome = Machine::new(spec, config, setup, options).expect("a machine").run().expect("a run");
    let fair = outcome.tasks.iter().find(|task| &*task.comm == "fair").expect("it is there");
    assert_eq!((fair.counters.sum_exec_runtime, fair.wait_sum), (Nanos::ZERO, ms(80)));
    let latency = fair.wakeup_latency.as_deref().expect("it was woken");
    assert_eq!((latency.count(), latency.max_ns()), (1, ms(80).0));
}
