//! The noise of a machine file: what it moves, and what it does not.

use crate::engine::{fifo, ms, run_with, us};
use crate::figures::{Figure::*, figure};
use machine::{
    Behaviour, Env, IrqOff, KthreadNoise, MachineSpec, Noise, RunOptions, Setup, Spread, Step, TaskSpec,
    Woken,
};
use scheduler::{Nanos, Nice, Topology};
use std::cell::RefCell;
use std::rc::Rc;

/// Late timers move the timer alone; stretches with interrupts off and kernel threads take from who computes.
#[test]
fn noise_moves_what_it_disturbs() {
    let of = |change: &dyn Fn(&mut MachineSpec)| {
        let mut spec = MachineSpec::ideal(Topology::flat(8));
        change(&mut spec);
        [Timer, Computes].map(|f| figure(f, &spec))
    };
    let jitter = |us_: u64| of(&|spec| spec.noise.timer_jitter = Some(Spread::Constant(us(us_))));
    assert_eq!(jitter(10), [us(10), ms(20)]);
    assert_eq!(jitter(20), [us(20), ms(20)]);
    let computes = |change: &dyn Fn(&mut MachineSpec)| of(change)[1];
    let irq_off = |length, often: u32| {
        computes(&move |spec| {
            let (what, length) = ("host".into(), Spread::Constant(length));
            spec.noise.irq_off.push(IrqOff { what, per_minute_per_cpu: 60 * often, length, device: false });
        })
    };
    assert!(ms(20) < irq_off(us(10), 2_000));
    assert!(irq_off(us(10), 2_000) < irq_off(us(20), 2_000));
    assert!(irq_off(us(10), 2_000) < irq_off(us(10), 4_000));
    let kthread = |run, every| {
        computes(&move |spec| {
            spec.noise.kthreads.push(KthreadNoise {
                comm: "kworker".into(),
                policy: fifo(1),
                nice: Nice::default(),
                per_cpu: true,
                woken: Woken::Every(Spread::Constant(every)),
                run: Spread::Constant(run),
            });
        })
    };
    assert!(ms(20) < kthread(us(10), us(500)));
    assert!(kthread(us(10), us(500)) < kthread(us(20), us(500)));
    assert!(kthread(us(10), us(1_000)) < kthread(us(10), us(500)));
}

/// Notes what its random numbers are, and asks for what they say.
#[derive(Debug)]
struct Draws {
    wants: Rc<RefCell<Vec<Nanos>>>,
}

impl Behaviour for Draws {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        *env.iterations += 1;
        if *env.iterations > 60 {
            return Step::Exit;
        }
        let length = us(1 + env.rng.below(900));
        self.wants.borrow_mut().push(length);
        if *env.iterations % 2 == 1 { Step::Compute(length) } else { Step::SleepFor(length) }
    }
}

/// What tasks want is paired between machines: noise changes when they get it, and never what they ask for.
#[test]
fn noise_never_changes_what_tasks_want() {
    let played = |noisy: bool, redrawn: bool| {
        let mut spec = MachineSpec::builtin("laptop").expect("it is built in");
        if !noisy {
            spec.noise = Noise::default();
        } else if redrawn {
            // Other noise: more of one kind, less of another.
            spec.noise.irq_off.iter_mut().for_each(|source| source.per_minute_per_cpu *= 3);
            spec.noise.kthreads.truncate(1);
        }
        let mut setup = Setup::new(8);
        let wants: Vec<Rc<RefCell<Vec<Nanos>>>> = (0..10).map(|_| Rc::default()).collect();
        for wants in &wants {
            setup.spawn(Nanos::ZERO, TaskSpec::new("task", Draws { wants: Rc::clone(wants) }));
        }
        let outcome = run_with(spec, "6.1", setup, RunOptions::default()).expect("a sound run");
        let wants: Vec<Vec<Nanos>> = wants.iter().map(|wants| wants.borrow().clone()).collect();
        assert!(wants.iter().all(|wants| wants.len() == 60), "all have come to their end");
        (wants, outcome.simulated)
    };
    let (quiet, noisy, other) = (played(false, false), played(true, false), played(true, true));
    assert_eq!((&quiet.0, &quiet.0), (&noisy.0, &other.0));
    assert!(quiet.1 != noisy.1 && noisy.1 != other.1, "and the noise made a difference");
}
