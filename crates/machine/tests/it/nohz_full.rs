//! CPUs that stop their tick beside a single task (nohz_full=, deadline-groups B10), with the checker on.

use crate::script::{ideal, ms, script};
use machine::{
    Behaviour, Env, GroupSpec, KthreadNoise, Machine, MachineSpec, Outcome, RunError, RunOptions, Setup,
    Spread, Step, TaskSpec, Tracing, Woken,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Nice, Policy, RtPriority};
use schema::{LogEvent, LogInterrupt, LogIpi};

/// Works for so long in one piece, then sleeps for so long, again and again.
#[derive(Debug)]
struct Works(Nanos, Nanos);

impl Behaviour for Works {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        *env.iterations += 1;
        if env.iterations.is_multiple_of(2) { Step::SleepFor(self.1) } else { Step::Compute(self.0) }
    }
}

/// A task bound to a CPU that computes in one piece.
fn hog(cpu: u16) -> TaskSpec {
    TaskSpec { cpus: only(cpu), ..TaskSpec::new("hog", Works(Nanos::from_secs(60), ms(1))) }
}

fn only(cpu: u16) -> Option<CpuMask> {
    Some(CpuMask::single(CpuId(cpu)))
}

fn run_on(spec: MachineSpec, mut setup: Setup, nohz_full: &[u16], until: Nanos) -> Result<Outcome, RunError> {
    setup.nohz_full(nohz_full.iter().map(|cpu| CpuId(*cpu)).collect());
    let config = Config::of_profile("6.18.y").expect("a profile");
    let options =
        RunOptions { duration: until, check: true, trace: Tracing::Everything, ..RunOptions::default() };
    Machine::new(spec, config, setup, options)?.run()
}

fn run(setup: Setup, nohz_full: &[u16], until: Nanos) -> Outcome {
    run_on(ideal(setup.cpus()), setup, nohz_full, until).expect("sound")
}

/// How many interrupts of a kind a CPU had.
fn had(outcome: &Outcome, cpu: u16, kind: impl Fn(LogInterrupt) -> bool) -> usize {
    let log = outcome.log.as_ref().expect("a log");
    let of = |record: &&schema::LogRecord| {
        record.cpu.0 == cpu && matches!(record.event, LogEvent::IrqHandlerEntry { irq } if kind(irq))
    };
    log.iter().filter(of).count()
}

fn ticks(outcome: &Outcome, cpu: u16) -> usize {
    had(outcome, cpu, |irq| irq == LogInterrupt::Tick {})
}

/// One task, or two of SCHED_FIFO: no tick; two fair ones, or two of SCHED_RR: one each millisecond.
#[test]
fn a_tick_stops_beside_a_single_task() {
    let fifo = |priority| Policy::Fifo(RtPriority::new(priority).expect("1 to 99"));
    let rr = Policy::Rr(RtPriority::new(5).expect("1 to 99"));
    let ticks_beside = |policies: &[Policy], nohz_full: &[u16]| {
        let mut setup = Setup::new(2);
        for policy in policies {
            setup.spawn(Nanos::ZERO, TaskSpec { policy: *policy, ..hog(1) });
        }
        ticks(&run(setup, nohz_full, ms(200)), 1)
    };
    let fair = Policy::Normal;
    for (policies, stops) in [
        (&[fair][..], true),
        (&[fair, fair], false),
        (&[fifo(5)], true),
        (&[rr], true),
        (&[rr, rr], false),
        (&[fifo(5), fifo(6)], true),
    ] {
        let with = ticks_beside(policies, &[1]);
        assert!(if stops { with <= 1 } else { with >= 198 }, "{policies:?}: {with}");
        assert!(ticks_beside(policies, &[]) >= 198, "{policies:?}");
        assert!(ticks_beside(policies, &[0]) >= 198, "{policies:?}: that is another CPU");
    }
}

/// A task that another CPU wakes there brings the tick back, and with it turns of time; as it sleeps again,
/// the tick stops.
#[test]
fn a_second_task_brings_the_tick_back() {
    let mut setup = Setup::new(2);
    setup.spawn(Nanos::ZERO, hog(1));
    let (door, steps) = (setup.channel(machine::ChannelSpec::new(1)), |n: u64| Step::Compute(ms(n)));
    let (waits, clock) = script("waits", [Step::Receive(door), steps(20)]);
    setup.spawn(Nanos::ZERO, TaskSpec { cpus: only(1), nice: Nice::new(10).expect("legal"), ..waits });
    let (wakes, _) = script("wakes", [steps(100), Step::Send(door), steps(150)]);
    setup.spawn(Nanos::ZERO, TaskSpec { cpus: only(0), ..wakes });
    let outcome = run(setup, &[1], ms(600));
    let told = had(&outcome, 1, |irq| irq == LogInterrupt::Ipi { ipi: LogIpi::Tick {} });
    assert!((1..=2).contains(&told), "{told}");
    let ends = *clock.borrow().last().expect("it has run");
    assert!(ends > ms(150), "it has a tenth of the CPU, in turns: {ends}");
    let (ticks, alone) = (ticks(&outcome, 1) as u64, ms(600) - (ends - ms(100)));
    assert!(ticks > 100 && ticks < 600 - alone.0 / 1_000_000 + 10, "{ticks} in all, {alone} alone");
}

/// Once a second a housekeeping CPU does the accounting of the running task, if it ticks itself.
#[test]
fn another_cpu_does_the_tick_once_a_second() {
    let accounts = |housekeeping_ticks: bool| {
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, hog(1));
        if housekeeping_ticks {
            setup.spawn(Nanos::ZERO, hog(0));
        }
        let outcome = run(setup, &[1], ms(3_500));
        let log = outcome.log.expect("a log");
        let of = |r: &&schema::LogRecord| {
            r.cpu.0 == 0
                && matches!(r.event, LogEvent::SchedStatRuntime { runtime, .. } if runtime.0 > 900_000_000)
        };
        log.iter().filter(of).count()
    };
    assert_eq!([accounts(true), accounts(false)], [3, 0]);
}

/// A sleeper's timer is served by a housekeeping CPU that ticks before it expires; a shorter sleep, and one
/// of a CPU like any other, stays.
#[test]
fn timers_go_to_a_cpu_that_ticks_before() {
    let served = |sleep: Nanos, nohz_full: &[u16]| {
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, hog(0));
        setup.spawn(Nanos::ZERO, TaskSpec { cpus: only(1), ..TaskSpec::new("sleeper", Works(ms(1), sleep)) });
        let outcome = run(setup, nohz_full, ms(200));
        [0, 1].map(|cpu| had(&outcome, cpu, |irq| matches!(irq, LogInterrupt::Timer { .. })))
    };
    let far = served(ms(5), &[1]);
    assert!(far[0] > 30 && far[1] == 0, "{far:?}");
    assert!(served(ms(5), &[])[1] > 30);
    let near = served(Nanos(10_000), &[1]);
    assert!(near[1] > near[0], "most expire before the next tick: {near:?}");
}

/// A task alone on a CPU that has stopped its tick is accounted once a second; what it has used since is its
/// CPU time all the same, and that of its group.
#[test]
fn what_no_tick_has_accounted_counts_at_the_end() {
    let mut setup = Setup::new(2);
    let group = setup.group(GroupSpec::new("g"));
    setup.spawn(Nanos::ZERO, TaskSpec { group: Some(group), ..hog(1) });
    let outcome = run(setup, &[1], ms(1_900));
    let hog = outcome.tasks.iter().find(|task| &*task.comm == "hog").expect("it ran");
    assert_eq!(hog.counters.sum_exec_runtime, ms(1_900));
    assert_eq!(outcome.groups[0].usage, ms(1_900));
}

/// Kernel threads that are bound to no CPU stay on housekeeping CPUs.
#[test]
fn unbound_kernel_threads_stay_away() {
    let ran_on = |nohz_full: &[u16]| {
        let mut spec = ideal(2);
        spec.noise.kthreads.push(KthreadNoise {
            comm: "rcu".into(),
            policy: Policy::Normal,
            nice: Nice::default(),
            per_cpu: false,
            woken: Woken::Every(Spread::Constant(ms(1))),
            run: Spread::Constant(Nanos(50_000)),
        });
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, hog(0));
        let outcome = run_on(spec, setup, nohz_full, ms(200)).expect("sound");
        (outcome.simulated.0 - outcome.cpus[1].idle_ns) / 1_000_000
    };
    assert!(ran_on(&[]) >= 5, "beside a hog it goes to the idle CPU");
    assert_eq!(ran_on(&[1]), 0);
}

/// Ways into the kernel cost 0.75 us more there, on machines where they cost something.
#[test]
fn system_calls_cost_more() {
    let lasts = |nohz_full: &[u16], syscall: u64| {
        let mut spec = ideal(2);
        spec.costs.syscall = Nanos(syscall);
        let mut setup = Setup::new(2);
        let (task, clock) = script("calls", (0..1_000).map(|_| Step::SleepUntil(Nanos::ZERO)));
        setup.spawn(Nanos::ZERO, TaskSpec { cpus: only(1), ..task });
        run_on(spec, setup, nohz_full, ms(200)).expect("sound");
        *clock.borrow().last().expect("it has run")
    };
    assert_eq!(lasts(&[1], 100).0 - lasts(&[], 100).0, 1_001 * 750, "the calls, and the IPI that begins it");
    assert_eq!(lasts(&[1], 0), lasts(&[], 0));
}

/// One CPU at least keeps house, and they have to be there.
#[test]
fn who_cannot_be_left_alone() {
    let refused =
        |cpus: &[u16]| run_on(ideal(2), Setup::new(2), cpus, ms(1)).map(|_| ()).unwrap_err().to_string();
    assert!(refused(&[0, 1]).starts_with("nohz_full=0-1: one CPU at least"));
    assert!(refused(&[2]).contains("the machine has CPUs 0-1"));
}
