//! The noise of a machine file: what it moves, and what it does not.

use crate::figures::{ALL, Figure::*, figure};
use crate::script::{fifo, ideal, ms, run_with, script, us};
use machine::{
    Behaviour, Env, IrqOff, KthreadNoise, Machine, MachineSpec, Noise, RunOptions, Setup, Spread, Step,
    TaskSpec, Woken,
};
use scheduler::registry::Config;
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

/// Of all figures a later timer moves those of timers, as a later delivery does, and each of them by as much.
#[test]
fn jitter_moves_timers_and_nothing_else() {
    let of = |jitter: Option<Nanos>| {
        let mut spec = MachineSpec::ideal(Topology::flat(8));
        spec.noise.timer_jitter = jitter.map(Spread::Constant);
        ALL.map(|f| figure(f, &spec))
    };
    let [none, once, twice] = [None, Some(us(10)), Some(us(20))].map(of);
    for figure in ALL {
        let by = if matches!(figure, Timer | Idle) { us(10) } else { Nanos::ZERO };
        let at = figure as usize;
        assert_eq!((once[at] - none[at], twice[at] - once[at]), (by, by), "{figure:?}");
    }
}

/// How often timers of a FIFO task of this priority are late beside a hog, and how late they are in the
/// mean of all.
struct Late {
    share: f64,
    mean_us: f64,
}

fn late(priority: u8, change: impl Fn(&mut Noise)) -> Late {
    const TIMERS: u64 = 6_000;
    let mut spec = ideal(1);
    change(&mut spec.noise);
    // No multiple of a period of anything else here.
    let times: Vec<Nanos> = (1..=TIMERS).map(|n| Nanos(613_127 * n)).collect();
    let (mut timer, clock) = script("timer", times.iter().map(|at| Step::SleepUntil(*at)));
    timer.policy = fifo(priority);
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, timer);
    setup.spawn(Nanos::ZERO, script("hog", [Step::Compute(Nanos::from_secs(9))]).0);
    // So that a kernel thread is preempted in its work.
    let config = Config::of_profile("6.1").expect("a profile");
    config.set("preempt_model=full").expect("a legal setting");
    let options = RunOptions { duration: Nanos::from_secs(4), ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
    let woken = clock.borrow();
    assert_eq!(woken.len() as u64, TIMERS + 1);
    let late: Vec<u64> = woken[1..].iter().zip(&times).map(|(at, due)| (*at - *due).0).collect();
    let count = late.iter().filter(|by| **by > 0).count();
    let share = |of: f64| of / TIMERS as f64;
    Late { share: share(count as f64), mean_us: share(late.iter().sum::<u64>() as f64 / 1e3) }
}

/// Near what it is to be, but for chance in a few hundred late ones of 6000.
fn near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.2, "{what}: {found:.4}, {expected:.4} expected");
}

/// Stretches that begin independently of each other (a Poisson process of rate r) hold up a timer whatever
/// the priority: with a chance of rho = r E(L), by r E(L^2) / (2 (1 - rho)) in the mean of all (Pollaczek
/// and Khinchine). So twice as long ones count four times, twice as many twice, and a steeper Pareto's tail
/// less.
#[test]
fn stretches_with_interrupts_off_hold_up_timers_as_queueing_theory_says() {
    let source = |per_second: u32, length: Spread| {
        move |noise: &mut Noise| {
            let (what, per_minute_per_cpu) = ("host".into(), 60 * per_second);
            noise.irq_off.push(IrqOff { what, per_minute_per_cpu, length, device: false });
        }
    };
    for (per_second, length_us) in [(2_000, 20), (2_000, 40), (4_000, 20)] {
        let (rate, length) = (f64::from(per_second) / 1e6, length_us as f64);
        let rho = rate * length;
        for priority in [10, 99] {
            let Late { share, mean_us } = late(priority, source(per_second, Spread::Constant(us(length_us))));
            let what = format!("{per_second} of {length_us} us, FIFO {priority}");
            near(share, rho, &what);
            near(mean_us, rate * length * length / (2.0 * (1.0 - rho)), &what);
        }
    }
    // From 10 us to 1 ms: the mean is 10 us and the integral of (10 / x) to the power of the slope from
    // there.
    let tail = |slope: i32| 10.0 * (1.0 - 100_f64.powi(1 - slope)) / f64::from(slope - 1);
    for slope in [2, 4] {
        let pareto = Spread::Pareto { min: us(10), slope_percent: 100 * slope as u32, max: ms(1) };
        let found = late(50, source(4_000, pareto)).share;
        near(found, 0.004 * (10.0 + tail(slope)), &format!("a slope of {slope}"));
    }
}

/// A kernel thread holds up whom it comes before and nobody else; twice as long work four times as much,
/// twice as often twice: run / period of the timers are late, by half of its run in the mean.
#[test]
fn a_kernel_thread_holds_up_whom_it_comes_before() {
    let thread = |run: u64, period: u64| {
        move |noise: &mut Noise| {
            noise.kthreads.push(KthreadNoise {
                comm: "irq/9".into(),
                policy: fifo(50),
                nice: Nice::default(),
                per_cpu: true,
                woken: Woken::Every(Spread::Constant(us(period))),
                run: Spread::Constant(us(run)),
            });
        }
    };
    for (run, period) in [(20, 500), (40, 500), (20, 250)] {
        // It sleeps for a period after its work.
        let (share_of_time, what) = (run as f64 / (run + period) as f64, format!("{run} us each {period}"));
        let Late { share, mean_us } = late(40, thread(run, period));
        near(share, share_of_time, &what);
        near(mean_us, share_of_time * run as f64 / 2.0, &what);
        assert_eq!(late(60, thread(run, period)).share, 0.0, "{what}: above it");
    }
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
