//! Preemption models, and the kernel's stretches between its points (eevdf-class 5.1, deadline-groups D1 and
//! D5, machine.md 4).

use crate::script::{fifo, ideal, ms, script, us};
use machine::{
    ChannelSpec, Machine, MachineSpec, Operation, Outcome, Points, RunOptions, Setup, Step, Stretch, TaskSpec,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};

const MODELS: [&str; 4] = ["none", "voluntary", "full", "lazy"];

/// 6.18.y with 250 ticks a second, under the checks.
fn run(spec: &MachineSpec, model: &str, setup: Setup) -> Outcome {
    let config = Config::of_profile("6.18.y").expect("a profile");
    for setting in ["hz=250", &format!("preempt_model={model}")] {
        config.set(setting).expect("a legal setting");
    }
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(spec.clone(), config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// The machine of M23: an exec of 450 us, nothing else costs time. `pieces`: as there, else it is one block.
fn exec_machine(pieces: bool) -> MachineSpec {
    let mut spec = ideal(1);
    spec.costs.exec = us(450);
    if pieces {
        let exec = Stretch {
            points: Some(Points { cond_every: us(8), might_every: us(4), longest: us(50) }),
            atomic_percent: 25,
            atomic_mean: Nanos(1_500),
            atomic_max: us(20),
        };
        spec.stretches.set(Operation::Exec, exec);
    }
    spec
}

/// Wakeup latencies of a FIFO timer of 613 us beside a task that does nothing but exec, the shortest first.
fn beside_execs(spec: &MachineSpec, model: &str) -> Vec<Nanos> {
    let times: Vec<Nanos> = (1..4_000).map(|n| us(613 * n)).collect();
    let (mut timer, clock) = script("timer", times.iter().map(|t| Step::SleepUntil(*t)));
    timer.policy = fifo(80);
    let execs = std::iter::repeat_with(|| Step::Exec("make".into())).take(5_400);
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, timer);
    setup.spawn(Nanos::ZERO, script("execs", execs).0);
    run(spec, model, setup);
    let woken = clock.borrow();
    let mut late: Vec<Nanos> = woken[1..].iter().zip(&times).map(|(at, due)| *at - *due).collect();
    late.sort_unstable();
    late
}

fn at(late: &[Nanos], percent: usize) -> Nanos {
    late[(late.len() - 1) * percent / 100]
}

/// M23 and machine.md 4.3: what an RT wakeup waits for is the rest of a piece, or of an atomic section, and
/// none of it depends on how long the exec is.
#[test]
fn a_real_time_wakeup_waits_for_the_piece_and_not_for_the_exec() {
    let [none, voluntary, full, lazy] = MODELS.map(|model| beside_execs(&exec_machine(true), model));
    assert!(at(&none, 100) <= us(50) && at(&none, 100) > us(40), "{}", at(&none, 100));
    assert!(at(&none, 50).0.abs_diff(5_545) < 300, "8 us times ln 2: {}", at(&none, 50));
    assert!(at(&voluntary, 99) < at(&none, 99) && at(&voluntary, 50).0.abs_diff(2_773) < 200);
    assert!(at(&full, 100) <= us(20) && at(&full, 72) == Nanos::ZERO && at(&full, 78) > Nanos::ZERO);
    assert_eq!(full, lazy, "requests of real-time tasks are full ones");
    let block = beside_execs(&exec_machine(false), "none");
    assert!(at(&block, 99) > us(400), "one block: {}", at(&block, 99));
    assert!(beside_execs(&exec_machine(false), "full").iter().all(|late| *late == Nanos::ZERO));
}

/// MI12: how an exec is cut changes who waits, not how much work there is.
#[test]
fn the_work_is_the_same_under_all_models() {
    let ran = |model| {
        let (mut timer, _) = script("timer", (1..100).map(|n| Step::SleepUntil(us(613 * n))));
        timer.policy = fifo(80);
        let execs = || std::iter::repeat_with(|| Step::Exec("make".into())).take(80);
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, timer);
        setup.spawn(Nanos::ZERO, script("a", execs()).0);
        setup.spawn(Nanos::ZERO, script("b", execs()).0);
        let outcome = run(&exec_machine(true), model, setup);
        outcome.tasks.iter().map(|t| t.counters.sum_exec_runtime).collect::<Vec<_>>()
    };
    let none = ran("none");
    assert_eq!(none.iter().copied().sum::<Nanos>(), us(450) * 160);
    for model in MODELS {
        assert_eq!(ran(model), none, "{model}");
    }
}

fn on(cpu: u16, mut task: TaskSpec) -> TaskSpec {
    task.cpus = Some(CpuMask::single(CpuId(cpu)));
    task
}

/// How long a fair task of CPU 0 waits that another CPU wakes at `at` while `busy` runs there; its slice is
/// short, so that EEVDF would have it run at once.
fn woken_from_afar(model: &str, at: Nanos, busy: Step) -> Nanos {
    let mut setup = Setup::new(2);
    let channel = setup.channel(ChannelSpec::new(1));
    let steps = [Step::SetSlice(us(100)), Step::Receive(channel), Step::Compute(us(1))];
    let (sleeper, clock) = script("sleeper", steps);
    setup.spawn(Nanos::ZERO, on(0, sleeper));
    setup.spawn(us(1), on(0, script("busy", [busy]).0));
    setup.spawn(Nanos::ZERO, on(1, script("waker", [Step::SleepUntil(at), Step::TrySend(channel)]).0));
    run(&ideal(2), model, setup);
    clock.take()[2] - at
}

/// D5 (5): a fair hog in user mode; the lazy request is seen at the next tick, those of the other models at
/// once.
#[test]
fn a_lazy_request_waits_for_the_tick_of_a_cpu_in_user_mode() {
    for phase in [us(300), us(1_700), us(3_999)] {
        let waits = |model| woken_from_afar(model, ms(8) + phase, Step::Compute(ms(30)));
        assert_eq!(waits("lazy"), ms(4) - phase);
        for model in ["none", "voluntary", "full"] {
            assert_eq!(waits(model), Nanos::ZERO, "{model}");
        }
    }
}

/// M24 and D5 (4): in the kernel a lazy request waits for the return to user mode, or for a tick that finds
/// it; without points so does any request where the kernel cannot preempt itself.
#[test]
fn a_lazy_request_waits_for_the_end_of_a_system_call_or_a_tick() {
    let waits = |model, kernel| woken_from_afar(model, ms(3), Step::KernelCompute(kernel));
    let end = |length: Nanos| us(1) + length - ms(3);
    assert_eq!(waits("lazy", us(3_450)), end(us(3_450)), "450 us left, 1 ms before a tick");
    assert_eq!(waits("lazy", ms(13)), ms(1), "the tick hardens it");
    for model in ["none", "voluntary"] {
        assert_eq!(waits(model, ms(13)), end(ms(13)), "{model}");
    }
    assert_eq!(waits("full", ms(13)), Nanos::ZERO);
}

/// M24, its end: a request that a tick makes is hardened by the next one.
#[test]
fn a_request_of_a_tick_waits_for_the_next_tick() {
    let first_run = |model| {
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, script("kernel", [Step::KernelCompute(ms(40))]).0);
        let (other, clock) = script("other", [Step::Compute(us(1))]);
        // It comes behind one that is protected and owed service.
        setup.spawn(us(10), other);
        run(&ideal(1), model, setup);
        clock.take()[0]
    };
    let (full, lazy) = (first_run("full"), first_run("lazy"));
    assert_eq!(lazy - full, ms(4), "{full} {lazy}");
}
