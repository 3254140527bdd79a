//! A divided machine: isolated CPUs, cpusets and their partitions (deadline-groups B10), with the checker
//! on, which knows that nobody leaves a root domain by itself (GB14).

use crate::script::{ideal, ms};
use machine::{
    Behaviour, Env, GroupSpec, LoneStep, Machine, Outcome, PartitionKind, RunError, RunOptions, Setup, Step,
    TaskSpec,
};
use proptest::collection::vec;
use proptest::prelude::*;
use scheduler::dl::DlParams;
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, GroupId, Nanos, Policy, RtPriority};

/// Works in pieces, for ever, with a sleep after each if one is said.
#[derive(Debug)]
struct Works(Nanos, Nanos);

impl Behaviour for Works {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        *env.iterations += 1;
        let sleeps = self.1 > Nanos::ZERO && env.iterations.is_multiple_of(2);
        if sleeps { LoneStep::SleepFor(self.1).step() } else { LoneStep::Compute(self.0).step() }
    }
}

fn hog(comm: &str) -> TaskSpec {
    TaskSpec::new(comm, Works(ms(1), Nanos::ZERO))
}

fn mask(cpus: &[u16]) -> CpuMask {
    cpus.iter().map(|cpu| CpuId(*cpu)).collect()
}

fn run(setup: Setup, profile: &str) -> Result<Outcome, RunError> {
    let cpus = setup.cpus();
    let config = Config::of_profile(profile).expect("a profile");
    let options = RunOptions { duration: ms(500), check: true, ..RunOptions::default() };
    Machine::new(ideal(cpus), config, setup, options)?.run()
}

/// CPU time of a task, in ms.
fn ran(outcome: &Outcome, comm: &str) -> u64 {
    let of = |task: &&machine::TaskOutcome| &*task.comm == comm;
    outcome.tasks.iter().filter(of).map(|task| task.counters.sum_exec_runtime.0 / 1_000_000).sum()
}

/// How long a CPU had something to do, in ms.
fn busy(outcome: &Outcome, cpu: usize) -> u64 {
    (outcome.simulated.0 - outcome.cpus[cpu].idle_ns) / 1_000_000
}

/// Of four hogs two go nowhere near CPUs 2 and 3, unless they ask.
#[test]
fn isolated_cpus_idle_until_somebody_asks_for_them() {
    for profile in ["6.18", "6.1.y", "4.4", "2.6.36"] {
        let mut setup = Setup::new(4);
        setup.isolate(mask(&[2, 3]));
        (0..4).for_each(|_| _ = setup.spawn(Nanos::ZERO, hog("all")));
        setup.spawn(Nanos::ZERO, TaskSpec { cpus: Some(mask(&[3])), ..hog("asks") });
        let outcome = run(setup, profile).expect("sound");
        assert_eq!(busy(&outcome, 2), 0, "{profile}");
        assert!(ran(&outcome, "asks") >= 499, "{profile}");
        assert!(ran(&outcome, "all") >= 998, "{profile}: two CPUs, not three");
    }
}

/// Nothing balances isolated CPUs: two hogs that may use both share the one on which they began.
#[test]
fn nobody_balances_isolated_cpus() {
    let shared = |isolates: bool| {
        let mut setup = Setup::new(4);
        if isolates {
            setup.isolate(mask(&[2, 3]));
        }
        (0..2).for_each(|_| {
            _ = setup.spawn(Nanos::ZERO, TaskSpec { cpus: Some(mask(&[2, 3])), ..hog("pair") });
        });
        ran(&run(setup, "6.18").expect("sound"), "pair")
    };
    assert_eq!([true, false].map(shared), [500, 1000]);
}

/// Real-time tasks are pushed and pulled among isolated CPUs all the same: these share a root domain.
#[test]
fn real_time_tasks_spread_over_isolated_cpus() {
    let mut setup = Setup::new(4);
    setup.isolate(mask(&[2, 3]));
    let policy = Policy::Fifo(RtPriority::new(10).expect("1 to 99"));
    let rt = || TaskSpec { policy, cpus: Some(mask(&[2, 3])), ..hog("rt") };
    (0..2).for_each(|_| _ = setup.spawn(Nanos::ZERO, rt()));
    let outcome = run(setup, "6.18").expect("sound");
    assert!(ran(&outcome, "rt") >= 999, "{}", ran(&outcome, "rt"));
}

fn group(name: &str, cpus: &[u16], partition: PartitionKind) -> GroupSpec {
    GroupSpec { cpus: Some(mask(cpus)), partition, ..GroupSpec::new(name) }
}

/// A partition keeps others out and its own in, and is balanced.
#[test]
fn a_partition_has_its_cpus_to_itself() {
    let mut setup = Setup::new(4);
    let inside = setup.group(group("inside", &[1, 2], PartitionKind::Root));
    (0..3).for_each(|_| _ = setup.spawn(Nanos::ZERO, TaskSpec { group: Some(inside), ..hog("in") }));
    (0..5).for_each(|_| _ = setup.spawn(Nanos::ZERO, hog("out")));
    let outcome = run(setup, "6.18").expect("sound");
    let got = [ran(&outcome, "in"), ran(&outcome, "out")];
    assert!(got.iter().all(|ms| (995..=1000).contains(ms)), "two CPUs each: {got:?}");
    let parts: Vec<_> =
        outcome.partitions.iter().map(|part| (part.cpus, part.group.0, part.isolated)).collect();
    assert_eq!(parts, [(mask(&[0, 3]), 0, false), (mask(&[1, 2]), 1, false)]);
}

/// A cpuset that is no partition narrows its tasks and leaves the CPUs to everybody.
#[test]
fn a_cpuset_narrows_its_tasks_only() {
    let mut setup = Setup::new(2);
    let narrow = setup.group(group("narrow", &[1], PartitionKind::Member));
    (0..2).for_each(|_| _ = setup.spawn(Nanos::ZERO, TaskSpec { group: Some(narrow), ..hog("in") }));
    let outcome = run(setup, "6.18").expect("sound");
    assert_eq!([busy(&outcome, 0), ran(&outcome, "in")], [0, 500]);
    assert!(outcome.partitions.is_empty());
    let mut setup = Setup::new(2);
    let narrow = setup.group(group("narrow", &[1], PartitionKind::Member));
    setup.spawn(Nanos::ZERO, TaskSpec { group: Some(narrow), cpus: Some(mask(&[0])), ..hog("in") });
    let error = run(setup, "6.18").expect_err("refused").to_string();
    assert!(error.contains("asks for CPUs 0, but its cpuset has 1 (EINVAL)"), "{error}");
}

/// deadline-groups A2 rule 9, A3 and B10: who may use the whole partition is let in, by what it has left.
#[test]
fn a_partition_admits_deadline_tasks_by_itself() {
    let deadline = |runtime, group| TaskSpec {
        policy: Policy::Deadline(DlParams::new(ms(runtime), ms(100), ms(100)).expect("legal")),
        group: Some(group),
        ..hog("dl")
    };
    let of_partition = |runtimes: &[u64]| {
        let mut setup = Setup::new(4);
        let one = setup.group(group("one", &[3], PartitionKind::Root));
        runtimes.iter().for_each(|runtime| _ = setup.spawn(Nanos::ZERO, deadline(*runtime, one)));
        setup.spawn(Nanos::ZERO, deadline(85, GroupId::ROOT));
        run(setup, "6.18")
    };
    let outcome = of_partition(&[60, 25]).expect("85 and the server's 5 of 95");
    assert!((415..=430).contains(&busy(&outcome, 3)), "85 of 100: {}", busy(&outcome, 3));
    let error = of_partition(&[60, 31]).expect_err("91 are too many").to_string();
    assert!(error.contains("EBUSY"), "{error}");
}

proptest! {
    #![proptest_config(crate::properties::config(48))]

    /// Random partitions and tasks, old and new kernels: the checker finds nothing, and every task with a
    /// CPU of its own partition runs.
    #[test]
    fn random_partitions_keep_their_tasks(
        part_of in vec(0usize..4, 8),
        kinds in vec(any::<bool>(), 3),
        tasks in vec((0usize..4, 0u8..3, 1u64..30), 1..24),
        profile in prop::sample::select(vec!["6.18", "6.12", "6.1.y", "5.10", "4.4", "3.3", "2.6.36"]),
    ) {
        let mut setup = Setup::new(9);
        // CPU 8 is left for the root.
        let cpus = |part: usize| -> CpuMask {
            (0..8).filter(|cpu| part_of[*cpu] == part).map(|cpu| CpuId(cpu as u16)).collect()
        };
        let mut groups = vec![GroupId::ROOT];
        for part in 1..4 {
            let kind = if kinds[part - 1] { PartitionKind::Root } else { PartitionKind::Isolated };
            let name = format!("p{part}");
            let spec = GroupSpec { cpus: Some(cpus(part)), partition: kind, ..GroupSpec::new(name) };
            groups.push(if cpus(part).is_empty() { GroupId::ROOT } else { setup.group(spec) });
        }
        for (n, (part, policy, sleep)) in tasks.iter().enumerate() {
            let rt = RtPriority::new(1 + n as u8).expect("1 to 99");
            let policy = [Policy::Normal, Policy::Fifo(rt), Policy::Normal][usize::from(*policy)];
            let works = Works(Nanos::from_micros(300 * sleep), ms(*sleep));
            let group = Some(groups[*part]);
            let task = TaskSpec { policy, group, ..TaskSpec::new(format!("t{n}"), works) };
            setup.spawn(Nanos::from_micros(n as u64 * 700), task);
        }
        let outcome = run(setup, profile).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for task in outcome.tasks.iter().filter(|task| task.comm.starts_with('t')) {
            let own = groups.iter().position(|group| *group == task.group).unwrap_or(0);
            prop_assert!(own == 0 || task.cpus == cpus(own), "{task:?}");
        }
    }
}
