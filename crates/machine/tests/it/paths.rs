//! Where the way from a wakeup to the woken task was measured, it takes as long as it did; elsewhere what its
//! parts cost.

use machine::{
    Behaviour, ChannelId, ChannelSpec, CountedFrom, Env, Machine, MachineSpec, Onto, Outcome, PathTimes,
    RunOptions, Setup, Situation, Step, TaskOutcome, TaskSpec, WakePaths, WokenFrom,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Policy, RtPriority, Topology};
use schema::Histogram;

const ROUNDS: u32 = 20;

/// Does the same steps over and over.
#[derive(Debug)]
struct Rounds {
    left: u32,
    next: usize,
    steps: fn(ChannelId, usize) -> Option<Step>,
    channel: ChannelId,
}

impl Behaviour for Rounds {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        loop {
            if self.left == 0 {
                return Step::Exit;
            }
            match (self.steps)(self.channel, self.next) {
                Some(step) => {
                    self.next += 1;
                    return step;
                }
                None => (self.next, self.left) = (0, self.left - 1),
            }
        }
    }
}

const CHANNEL: ChannelSpec = ChannelSpec::new(100);

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

fn sleeps(_: ChannelId, n: usize) -> Option<Step> {
    [Step::SleepFor(us(1000)), Step::Compute(us(10))].into_iter().nth(n)
}

fn receives(channel: ChannelId, n: usize) -> Option<Step> {
    [Step::Receive(channel), Step::Compute(us(10))].into_iter().nth(n)
}

fn sends(channel: ChannelId, n: usize) -> Option<Step> {
    [Step::Compute(us(1000)), Step::Send(channel), Step::Compute(us(1000))].into_iter().nth(n)
}

fn computes(_: ChannelId, n: usize) -> Option<Step> {
    (n == 0).then(|| Step::Compute(us(5_000)))
}

struct Lab {
    setup: Setup,
    channel: ChannelId,
}

impl Lab {
    fn new() -> Lab {
        let mut setup = Setup::new(2);
        let channel = setup.channel(CHANNEL);
        Lab { setup, channel }
    }

    fn task(
        mut self,
        comm: &str,
        cpu: u16,
        policy: Policy,
        steps: fn(ChannelId, usize) -> Option<Step>,
    ) -> Lab {
        let mut spec = TaskSpec::new(comm, Rounds { left: ROUNDS, next: 0, steps, channel: self.channel });
        (spec.policy, spec.cpus) = (policy, Some(CpuMask::single(CpuId(cpu))));
        spec.recorded_work = comm == "recorded";
        self.setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), spec);
        self
    }

    fn run(mut self, spec: MachineSpec, setting: &str, ways: Option<WakePaths>) -> Outcome {
        if let Some(ways) = ways {
            self.setup.take_paths(ways);
        }
        let config = Config::of_profile("6.1").expect("a known profile");
        config.set(setting).expect("a known setting");
        let options = RunOptions { check: true, ..RunOptions::default() };
        Machine::new(spec, config, self.setup, options).expect("possible").run().expect("a run without error")
    }
}

fn urgent() -> Policy {
    Policy::Fifo(RtPriority::new(50).expect("1 to 99"))
}

/// A machine on which nothing costs time.
fn ideal() -> MachineSpec {
    MachineSpec::ideal(Topology::flat(2))
}

fn always(time: Nanos) -> Option<PathTimes> {
    PathTimes::of(vec![time])
}

fn task<'a>(outcome: &'a Outcome, comm: &str) -> &'a TaskOutcome {
    outcome.tasks.iter().find(|t| &*t.comm == comm).expect("a task of this name")
}

/// Its start, at which nobody wakes it, is the first sample; on an ideal machine it takes no time.
fn latency(outcome: &Outcome) -> &Histogram {
    task(outcome, "woken").wakeup_latency.as_deref().expect("it was woken")
}

/// Every kind has a time of its own, so that no other kind can be taken for it.
fn told_apart() -> WakePaths {
    let mut ways = WakePaths::new(CountedFrom::Wakeup);
    for (n, situation) in (1..).zip(Situation::ALL) {
        ways.set(situation, always(us(10 * n)));
    }
    ways
}

#[test]
fn a_way_takes_as_long_as_ways_of_its_kind() {
    let fair = Policy::Normal;
    let timer = || Lab::new().task("woken", 0, urgent(), sleeps);
    let here = || Lab::new().task("woken", 0, urgent(), receives).task("sender", 0, fair, sends);
    let there = || Lab::new().task("woken", 0, urgent(), receives).task("sender", 1, fair, sends);
    let labs = [
        (timer(), "TTWU_QUEUE", WokenFrom::Interrupt, Onto::Idle),
        (timer().task("hog", 0, fair, computes), "TTWU_QUEUE", WokenFrom::Interrupt, Onto::Lower),
        (here(), "TTWU_QUEUE", WokenFrom::Task, Onto::Lower),
        (there(), "NO_TTWU_QUEUE", WokenFrom::Elsewhere, Onto::Idle),
        (there().task("hog", 0, fair, computes), "NO_TTWU_QUEUE", WokenFrom::Elsewhere, Onto::Lower),
        (there(), "TTWU_QUEUE", WokenFrom::HandedOver, Onto::Idle),
    ];
    for (lab, setting, from, onto) in labs {
        let (ways, situation) = (told_apart(), Situation { from, onto });
        let expected = ways.of(situation).expect("every kind").percentile(500);
        let outcome = lab.run(ideal(), setting, Some(ways));
        let latency = latency(&outcome);
        assert_eq!(latency.max_ns(), expected.0, "{}", situation.name());
        // All but the start take as long.
        let (all, count) = (expected.0 * u64::from(ROUNDS), u64::from(ROUNDS) + 1);
        assert_eq!((latency.mean_ns(), latency.count()), (all / count, count), "{}", situation.name());
    }
}

#[test]
fn without_measured_ways_the_costs_decide() {
    let mut costly = ideal();
    (costly.costs.irq_exit, costly.costs.schedule) = (us(3), us(2));
    let lab = || Lab::new().task("woken", 0, urgent(), sleeps);
    let longest = |ways| {
        let outcome = lab().run(costly.clone(), "TTWU_QUEUE", ways);
        Nanos(latency(&outcome).max_ns())
    };
    assert_eq!(longest(None), us(5));
    let way = |time| {
        let mut ways = WakePaths::new(CountedFrom::Wakeup);
        ways.set(Situation { from: WokenFrom::Interrupt, onto: Onto::Idle }, always(time));
        Some(ways)
    };
    assert_eq!(longest(way(us(9))), us(9));
    assert_eq!(longest(way(us(4))), us(5), "the parts of a way that is simulated take their time");
    let mut other = WakePaths::new(CountedFrom::Wakeup);
    other.set(Situation { from: WokenFrom::Interrupt, onto: Onto::Lower }, always(us(9)));
    assert_eq!(longest(Some(other)), us(5), "of another kind");
}

#[test]
fn a_way_that_counts_from_waking_contains_the_wakeup() {
    let mut costly = ideal();
    costly.costs.enqueue = us(3);
    let mut ways = WakePaths::new(CountedFrom::Waking);
    ways.set(Situation { from: WokenFrom::Interrupt, onto: Onto::Idle }, always(us(8)));
    let outcome = Lab::new().task("woken", 0, urgent(), sleeps).run(costly, "TTWU_QUEUE", Some(ways));
    assert_eq!(latency(&outcome).max_ns(), us(8).0);
}

/// The machine counts from the queue's clock, which stood still while the waker sent its interrupt; a
/// recording does not.
#[test]
fn latencies_count_from_the_event_of_the_recording() {
    let mut costly = ideal();
    (costly.costs.ipi_send, costly.costs.ipi.shared_cache) = (us(5), us(3));
    costly.costs.ipi.same_node = us(3);
    let longest = |ways| {
        let lab = Lab::new().task("woken", 0, urgent(), receives).task("sender", 1, Policy::Normal, sends);
        Nanos(latency(&lab.run(costly.clone(), "NO_TTWU_QUEUE", ways)).max_ns())
    };
    assert_eq!(longest(None), us(8));
    assert_eq!(longest(Some(WakePaths::new(CountedFrom::Wakeup))), us(3));
    assert_eq!(longest(Some(WakePaths::new(CountedFrom::Waking))), us(8));
}

/// Whoever has to wait for a task of its own rank waits for that, and for nothing else.
#[test]
fn a_task_that_has_to_queue_takes_no_way() {
    let lab = Lab::new().task("other", 0, urgent(), computes).task("woken", 0, urgent(), sleeps);
    let with = lab.run(ideal(), "TTWU_QUEUE", Some(told_apart()));
    let lab = Lab::new().task("other", 0, urgent(), computes).task("woken", 0, urgent(), sleeps);
    let without = lab.run(ideal(), "TTWU_QUEUE", None);
    assert!(latency(&without).max_ns() > us(1_000).0);
    assert_eq!(latency(&with).max_ns(), latency(&without).max_ns());
}

#[test]
fn recorded_work_contains_the_ways_of_others_and_other_work_pays_for_them() {
    let cpu_time = |comm: &str, ways| {
        let lab = Lab::new().task(comm, 0, Policy::Normal, computes).task("woken", 0, urgent(), sleeps);
        let outcome = lab.run(ideal(), "TTWU_QUEUE", ways);
        task(&outcome, comm).counters.sum_exec_runtime
    };
    let work = us(5_000) * u64::from(ROUNDS);
    assert_eq!(cpu_time("hog", None), work);
    assert_eq!(cpu_time("hog", Some(told_apart())), work + us(20) * u64::from(ROUNDS));
    assert_eq!(cpu_time("recorded", Some(told_apart())), work);
}

/// A task that wakes another one stops in the middle of nothing: the time is that of its next work.
#[test]
fn recorded_work_that_wakes_contains_the_way_as_well() {
    let cpu_time = |comm: &str| {
        let lab = Lab::new().task("woken", 0, urgent(), receives).task(comm, 0, Policy::Normal, sends);
        let outcome = lab.run(ideal(), "TTWU_QUEUE", Some(told_apart()));
        task(&outcome, comm).counters.sum_exec_runtime
    };
    let work = us(2_000) * u64::from(ROUNDS);
    assert_eq!(cpu_time("sender"), work + us(40) * u64::from(ROUNDS));
    assert_eq!(cpu_time("recorded"), work);
}

#[test]
fn times_are_drawn_by_wakeup_whatever_else_happens() {
    let ways = || {
        let mut ways = WakePaths::new(CountedFrom::Wakeup);
        let times = (1..=100).map(us).collect();
        ways.set(Situation { from: WokenFrom::Interrupt, onto: Onto::Idle }, PathTimes::of(times));
        Some(ways)
    };
    let all = |outcome: &Outcome| (latency(outcome).mean_ns(), latency(outcome).count());
    let alone = Lab::new().task("woken", 0, urgent(), sleeps).run(ideal(), "TTWU_QUEUE", ways());
    let lab = Lab::new().task("woken", 0, urgent(), sleeps).task("other", 1, urgent(), sleeps);
    let both = lab.run(ideal(), "TTWU_QUEUE", ways());
    assert!(latency(&alone).min_ns() < latency(&alone).max_ns());
    assert_eq!(all(&alone), all(&both));
}
