//! Each figure of a stretch of the kernel (`kernel.stretch.*`), doubled, does what it is for: it moves how
//! late a real-time timer is beside that operation, under the preemption models that it is about, and no
//! others.

use crate::script::{FREE_CHANNEL, fifo, ideal, ms, script, us};
use machine::{
    ChannelSpec, ForkKind, Machine, MachineSpec, Operation, Points, RunOptions, Setup, Step, Stretch,
};
use scheduler::Nanos;
use scheduler::registry::Config;

const MODELS: [&str; 3] = ["none", "voluntary", "full"];

/// How long the operation takes that a load does again and again.
const LENGTH: Nanos = us(450);

const STRETCH: Stretch = Stretch {
    points: Some(Points { cond_every: us(8), might_every: us(4), longest: us(20) }),
    atomic_percent: 40,
    atomic_mean: Nanos(1_500),
    atomic_max: us(1),
};

/// A figure: its name, how it is doubled, and the models under which a wakeup waits by it.
type Figure = (&'static str, fn(&mut Stretch), &'static [&'static str]);

const FIGURES: [Figure; 6] = [
    ("cond_every", |s| s.points.iter_mut().for_each(|p| p.cond_every = p.cond_every * 2), &["none"]),
    ("might_every", |s| s.points.iter_mut().for_each(|p| p.might_every = p.might_every * 2), &["voluntary"]),
    ("longest", |s| s.points.iter_mut().for_each(|p| p.longest = p.longest * 2), &["none", "voluntary"]),
    ("atomic_percent", |s| s.atomic_percent *= 2, &["full"]),
    ("atomic_mean", |s| s.atomic_mean = s.atomic_mean * 2, &["full"]),
    ("atomic_max", |s| s.atomic_max = s.atomic_max * 2, &["full"]),
];

/// A machine on which this operation takes time, and no other; a task that does nothing else.
fn load(operation: Operation, spec: &mut MachineSpec, setup: &mut Setup) -> Vec<Step> {
    let child = |kind| {
        let child = Box::new(script("child", []).0);
        vec![Step::Fork { child, kind }, Step::WaitChild]
    };
    let again = |steps: &dyn Fn() -> Vec<Step>| (0..400).flat_map(|_| steps()).collect();
    match operation {
        Operation::Fork => {
            spec.costs.fork = LENGTH;
            again(&|| child(ForkKind::Fork))
        }
        Operation::Exit => {
            spec.costs.exit = LENGTH;
            again(&|| child(ForkKind::Fork))
        }
        Operation::Thread => {
            spec.costs.thread_create = LENGTH;
            again(&|| child(ForkKind::Thread).into_iter().take(1).collect())
        }
        Operation::Exec => {
            spec.costs.exec = LENGTH;
            again(&|| vec![Step::Exec("make".into())])
        }
        Operation::Call => {
            let channel =
                setup.channel(ChannelSpec { send_cost: LENGTH, receive_cost: LENGTH, ..FREE_CHANNEL });
            again(&|| vec![Step::Send(channel), Step::Receive(channel)])
        }
        Operation::Other => again(&|| vec![Step::KernelCompute(LENGTH)]),
    }
}

/// How late a timer is beside this operation, all its expiries together.
fn late(beside: Operation, model: &str, stretches: &dyn Fn(Operation) -> Stretch) -> Nanos {
    let (mut spec, mut setup) = (ideal(1), Setup::new(1));
    Operation::ALL.into_iter().for_each(|operation| spec.stretches.set(operation, stretches(operation)));
    let steps = load(beside, &mut spec, &mut setup);
    let times: Vec<Nanos> = (1..90).map(|n| us(1_613 * n)).collect();
    let (mut timer, clock) = script("timer", times.iter().map(|at| Step::SleepUntil(*at)));
    timer.policy = fifo(80);
    setup.spawn(Nanos::ZERO, timer);
    setup.spawn(Nanos::ZERO, script("load", steps).0);
    let config = Config::of_profile("6.18.y").expect("a profile");
    for setting in ["hz=250", &format!("preempt_model={model}")] {
        config.set(setting).expect("a legal setting");
    }
    let options = RunOptions { duration: ms(160), check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
    let woken = clock.borrow();
    assert_eq!(woken.len(), times.len() + 1, "{beside:?}, {model}: each expiry is served");
    woken[1..].iter().zip(&times).map(|(at, due)| *at - *due).sum()
}

/// All operations by all models.
fn all(stretches: &dyn Fn(Operation) -> Stretch) -> Vec<(Operation, &'static str, Nanos)> {
    let by_model = |beside| MODELS.map(|model| (beside, model, late(beside, model, stretches)));
    Operation::ALL.into_iter().flat_map(by_model).collect()
}

#[test]
fn a_figure_of_a_stretch_moves_what_it_is_for_and_nothing_else() {
    let base = all(&|_| STRETCH);
    for (of, model, late) in &base {
        assert!(*late > Nanos::ZERO, "{of:?}, {model}: a wakeup waits for its pieces");
    }
    for operation in Operation::ALL {
        for (figure, double, models) in FIGURES {
            let changed = all(&|of| {
                let mut stretch = STRETCH;
                if of == operation {
                    double(&mut stretch);
                }
                stretch
            });
            let moved: Vec<(Operation, &str)> = base
                .iter()
                .zip(&changed)
                .filter(|((.., before), (.., after))| before != after)
                .map(|((of, model, before), (.., after))| {
                    assert!(after > before, "{operation:?} {figure}: {of:?}, {model}");
                    (*of, *model)
                })
                .collect();
            let expected: Vec<(Operation, &str)> = models.iter().map(|model| (operation, *model)).collect();
            assert_eq!(moved, expected, "{operation:?} {figure}");
        }
    }
}
