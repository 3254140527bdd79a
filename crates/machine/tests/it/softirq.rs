//! Soft interrupts (deadline-groups D2, D5, E7): they go on beside all tasks, and interrupts stretch them.

use crate::script::{fifo, ideal, ms, script, us};
use machine::{
    Behaviour, Env, Machine, MachineSpec, Outcome, RunOptions, Setup, SoftirqCounts, SoftirqGap, SoftirqSpec,
    SoftirqTally, Step, TaskSpec, Tracing, Visits,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogRecord};
use std::cell::RefCell;
use std::rc::Rc;

/// A timer of CPU 0 that raises so much work every 750 us, in a setup for `cpus` CPUs.
fn softirq(cpus: usize, work: Nanos) -> (Setup, SoftirqTally) {
    let (mut setup, tally) = (Setup::new(cpus), SoftirqTally::default());
    setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at: us(750),
        gap: SoftirqGap::Every(us(750)),
        work,
        tally: tally.clone(),
    });
    (setup, tally)
}

/// For 3 s, under the checks.
fn run(spec: MachineSpec, setup: Setup) -> Outcome {
    let config = Config::of_profile("6.1").expect("a profile");
    let options = RunOptions { duration: Nanos::from_secs(3), check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

fn alone(work: Nanos) -> SoftirqCounts {
    let (mut setup, tally) = softirq(1, work);
    setup.spawn(Nanos::ZERO, script("hog", [Step::Compute(Nanos::from_secs(3))]).0);
    run(ideal(1), setup);
    tally.counts()
}

/// D5 example 1, E7.6: 500 us of each 750 us are used, and nothing stays in the list.
#[test]
fn five_hundred_of_each_750_us_leave_nothing() {
    let counts = alone(us(500));
    assert_eq!(counts.raised, 4_000);
    assert!(counts.raised - counts.done <= 1, "that of the last moment");
    assert_eq!(counts.service, us(500) * counts.done);
    assert_eq!((counts.longest_service, counts.longest_pass), (us(500), us(500)));
    // E7.6: two thirds of the time in soft interrupt, and no visits.
    assert_eq!(counts.in_softirq, us(500) * counts.done);
    assert_eq!(counts.until, us(750) * counts.done + us(500));
    assert_eq!(counts.visits, Visits::default());
}

/// D5 example 2: what takes 1.1 ms never ends, and the list grows by 1/0.75 - 1/1.1 in each ms.
#[test]
fn what_takes_longer_than_the_interval_piles_up() {
    let counts = alone(us(1_100));
    let left = (counts.raised - counts.done) as f64 / 3.0;
    assert!((left - 424.2).abs() < 2.0, "{left} in a second");
    assert!(counts.longest_pass > ms(500), "a pass takes the whole list: {}", counts.longest_pass);
    // A round ends after 2 ms, and the next one begins with the next interrupt.
    assert!(counts.in_softirq.0 > counts.until.0 / 1000 * 995, "hardly ever ended: {}", counts.in_softirq);
}

/// How long a round of pieces of 0.3 ms is, each of which raises the next one while it is done, if it begins
/// then; and when ksoftirqd is woken.
fn first_round(hz: &str, begins: Nanos) -> (Nanos, Nanos) {
    let mut setup = Setup::new(1);
    // Each comes a bit before the one before is done.
    let gap = SoftirqGap::Every(us(299));
    setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at: begins,
        gap,
        work: us(300),
        tally: SoftirqTally::default(),
    });
    setup.spawn(Nanos::ZERO, script("hog", [Step::Compute(ms(20))]).0);
    let config = Config::of_profile("6.12").expect("a profile");
    config.set(hz).expect("a setting");
    let options =
        RunOptions { duration: ms(20), check: true, trace: Tracing::Everything, ..RunOptions::default() };
    let outcome = Machine::new(ideal(1), config, setup, options).and_then(Machine::run).expect("a sound run");
    let log = outcome.log.expect("a log");
    let at = |is: fn(&LogEvent) -> bool| {
        let mut later = log.iter().filter(|record| record.time.0 >= begins.0);
        Nanos(later.find(|record| is(&record.event)).expect("it happens").time.0)
    };
    let ends = at(|event| matches!(event, LogEvent::SoftirqExit {}));
    let woken = at(|event| matches!(event, LogEvent::SchedWakeup { .. }));
    (ends - begins, woken - begins)
}

/// machine.md M1 to M3: a round ends with the jiffy in which 2 ms are over, or after ten passes, and leaves
/// the rest to ksoftirqd.
#[test]
fn a_round_ends_with_a_jiffy_or_after_ten_passes() {
    // 0.1 ms before the end of a jiffy of 4 ms: one pass.
    assert_eq!(first_round("hz=250", ms(8) - us(100)), (us(300), us(300)));
    // Right after: ten passes.
    assert_eq!(first_round("hz=250", ms(8) + us(1)), (us(3_000), us(3_000)));
    // Two jiffies of 1 ms: seven passes.
    assert_eq!(first_round("hz=1000", ms(8) + us(1)), (us(2_100), us(2_100)));
}

/// D5 example 3: the same, and a real-time task wakes during the first round. That is done to its end, and
/// what has come meanwhile is left to ksoftirqd; the task goes before that, which competes as a fair one.
#[test]
fn what_a_round_leaves_waits_behind_a_real_time_task() {
    let (mut setup, _) = softirq(1, us(1_100));
    let (mut timer, clock) = script("timer", [Step::SleepUntil(ms(1)), Step::Compute(us(200))]);
    timer.policy = fifo(1);
    setup.spawn(Nanos::ZERO, timer);
    let config = Config::of_profile("6.12").expect("a profile");
    // With no tick before 4 ms, which would do some of it.
    config.set("hz=250").expect("a setting");
    let options =
        RunOptions { duration: ms(3), check: true, trace: Tracing::Everything, ..Default::default() };
    let outcome = Machine::new(ideal(1), config, setup, options).and_then(Machine::run).expect("a sound run");
    // The round takes 0.75 to 1.85 ms; at 1.5 the next piece has come, at 2.25 another one comes.
    assert_eq!(clock.borrow()[1..3], [us(1_850), us(2_050)]);
    let pid = |comm: &str| outcome.tasks.iter().find(|task| &*task.comm == comm).expect("it").pid.0;
    let came = |record: &LogRecord| match &record.event {
        LogEvent::SchedSwitch { next, .. } => Some((record.time.0, next.pid.0)),
        _ => None,
    };
    let came: Vec<_> = outcome.log.as_deref().expect("a log").iter().filter_map(came).collect();
    // It was there at the start, too, to see that there is nothing to do.
    let after: Vec<_> = came.into_iter().filter(|(at, _)| *at >= 1_850_000).take(2).collect();
    assert_eq!(after, [(1_850_000, pid("timer")), (2_050_000, pid("ksoftirqd/0"))]);
}

/// D5: nobody is switched to while a pass goes on, whatever the priority; and a task that is interrupted by
/// it has done nothing meanwhile.
#[test]
fn a_pass_holds_up_real_time_tasks_and_the_running_one() {
    let (mut setup, _) = softirq(1, us(500));
    // The soft interrupt works from 0.75 to 1.25 ms, from 1.5 to 2 ms, and so on.
    let (mut timer, woken) = script("timer", [us(900), us(1_300), us(1_999)].map(Step::SleepUntil));
    timer.policy = fifo(99);
    setup.spawn(Nanos::ZERO, timer);
    let (hog, ended) = script("hog", [Step::Compute(ms(1)), Step::Compute(us(250))]);
    setup.spawn(Nanos::ZERO, hog);
    run(ideal(1), setup);
    assert_eq!(woken.borrow()[1..], [us(1_250), us(1_300), ms(2)]);
    assert_eq!(ended.borrow()[1..], [ms(2), us(2_750)], "1 ms of work in 0 to 0.75 and 1.25 to 1.5");
}

/// Packets that come independently of each other: as many as the mean says, and in each 10 ms a number whose
/// variance is its mean (a Poisson process; three standard errors of either).
#[test]
fn exponential_gaps_make_a_poisson_process() {
    let mut setup = Setup::new(1);
    let (gap, tally) = (SoftirqGap::Exponential(us(500)), SoftirqTally::default());
    setup.softirq(SoftirqSpec { cpu: CpuId(0), at: Nanos(1), gap, work: Nanos(1), tally: tally.clone() });
    let counts: Rc<RefCell<Vec<u64>>> = Rc::default();
    setup.spawn(Nanos::ZERO, TaskSpec::new("sees", Sees { tally, counts: counts.clone() }));
    run(ideal(1), setup);
    let counts: Vec<f64> = counts.borrow().windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let n = counts.len() as f64;
    let average = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|count| (count - average).powi(2)).sum::<f64>() / (n - 1.0);
    assert!(n > 290.0 && (average - 20.0).abs() < 3.0 * (20.0 / n).sqrt(), "{average}");
    assert!((variance - 20.0).abs() < 3.0 * 20.0 * (2.0 / n).sqrt(), "{variance}");
}

/// Looks every 10 ms how much has been raised.
#[derive(Debug)]
struct Sees {
    tally: SoftirqTally,
    counts: Rc<RefCell<Vec<u64>>>,
}

impl Behaviour for Sees {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        self.counts.borrow_mut().push(self.tally.counts().raised);
        Step::SleepUntil(ms(10 * (env.now.0 / 10_000_000 + 1)))
    }
}

/// E7.4: interrupts that take more than a third of the CPU make the list grow, fewer do not.
#[test]
fn interrupts_stretch_the_work_until_it_piles_up() {
    let left = |interval: Nanos| {
        let (mut setup, tally) = softirq(1, us(500));
        // Another timer, which costs 10 us each time and raises next to nothing.
        setup.softirq(SoftirqSpec {
            cpu: CpuId(0),
            at: interval,
            gap: SoftirqGap::Every(interval),
            work: Nanos(1),
            tally: SoftirqTally::default(),
        });
        setup.spawn(Nanos::ZERO, script("hog", [Step::Compute(Nanos::from_secs(3))]).0);
        let mut spec = ideal(1);
        spec.costs.irq_entry = us(10);
        run(spec, setup);
        let counts = tally.counts();
        (counts.raised - counts.done, Nanos(counts.service.0 / counts.done))
    };
    let (few, stretched) = left(us(40));
    assert!(few < 10 && stretched > us(600), "a quarter of the time: {few} left, {stretched} each");
    let (many, _) = left(us(27));
    assert!(many > 300, "{many} left");
}

/// E7.1: CPU 0 is in soft interrupt and has two FIFO 1 tasks that may run on it and on CPU 1 only, where FIFO
/// 2 computes. Each sleep of a task of CPU 2 asks CPU 0 to push: what the tasklet takes longer is what these
/// visits take; without RT_PUSH_IPI there are none, and it takes no longer.
#[test]
fn a_visit_is_a_request_to_push_that_comes_into_the_work() {
    let visited = |feature: &str| {
        let (mut setup, tally) = softirq(3, us(500));
        let alone = |cpu: u16| Some(CpuMask::single(CpuId(cpu)));
        let both = [CpuId(0), CpuId(1)].into_iter().collect::<CpuMask>();
        let computes = || script("computes", [Step::Compute(Nanos::from_secs(3))]).0;
        let higher = TaskSpec { policy: fifo(2), cpus: alone(1), ..computes() };
        setup.spawn_on(Nanos::ZERO, Some(CpuId(1)), higher);
        for _ in 0..2 {
            let waits = TaskSpec { policy: fifo(1), cpus: Some(both), ..computes() };
            setup.spawn_on(us(10), Some(CpuId(0)), waits);
        }
        let naps = (1..20_000u64).map(|n| Step::SleepUntil(us(100) * n));
        let (naps, _) = script("naps", naps);
        setup.spawn_on(Nanos::ZERO, Some(CpuId(2)), TaskSpec { policy: fifo(50), cpus: alone(2), ..naps });
        let config = Config::of_profile("6.1").expect("a profile");
        config.set(feature).expect("a feature");
        let options = RunOptions { duration: ms(1_900), check: true, ..RunOptions::default() };
        let mut spec = ideal(3);
        spec.costs.irq_entry = us(10);
        Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
        tally.counts()
    };
    let on = visited("RT_PUSH_IPI");
    // Five of its naps end in each tasklet of 500 us, and each asks.
    assert!(on.visits.number >= 5 * on.done - 5, "{} in {} tasklets", on.visits.number, on.done);
    assert!(on.visits.took >= us(10) * on.visits.number, "{} for {}", on.visits.took, on.visits.number);
    let longer = on.service - us(500) * on.done;
    assert!(longer >= on.visits.took && longer.0 < on.visits.took.0 * 6 / 5, "{longer} longer");
    let off = visited("NO_RT_PUSH_IPI");
    assert_eq!(off.visits, Visits::default());
    assert!(off.service < us(520) * off.done, "{} for {}", off.service, off.done);
}
