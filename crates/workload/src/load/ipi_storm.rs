//! ipi_storm: real-time threads that sleep and wake all the time, so that their CPUs keep asking overloaded
//! ones to push (RT_PUSH_IPI), while those are busy with a soft interrupt.
//!
//! The reproducer of May 2026 (deadline-groups E2, E3): on each of the targets a timer puts a tasklet of 500
//! µs into the list of the soft interrupt every 750 µs, and two threads of the lowest real-time priority
//! wait that may run on the targets only, so that these count as overloaded and nobody can help them. On
//! every other CPU a thread of SCHED_FIFO 50 sleeps and wakes: each sleep lowers its CPU. With RT_PUSH_IPI
//! each asks the targets to push; what that interrupt takes is missing to the tasklets.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::Remaining;
use super::spawn::{program, rt_priority};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Template, Times};
use crate::units::{micros_above_zero, seconds_above_zero};
use machine::{Setup, SoftirqCounts, SoftirqGap, SoftirqSpec, SoftirqTally};
use scheduler::{CpuId, CpuMask, Nanos, Policy};
use schema::{Better, LoadResult, OwnResult};

const NAME: &str = "ipi_storm";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Soft interrupts on overloaded CPUs, and real-time threads whose sleeps ask these to push.",
    ends: "Endless; with -D after that time.",
    source: "the reproducer of 13 May 2026 for RT_PUSH_IPI (deadline-groups E2, E3)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// CPUs with soft interrupts (2).
    #[arg(
        short = 't',
        long,
        value_name = "NUM",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..=64),
    )]
    targets: u32,
    /// CPU time of a tasklet, microseconds without a unit (500us).
    #[arg(short = 'w', long, value_name = "TIME", default_value = "500us", value_parser = micros_above_zero)]
    work: Nanos,
    /// Time from one tasklet to the next (750us).
    #[arg(short = 'i', long, value_name = "TIME", default_value = "750us", value_parser = micros_above_zero)]
    interval: Nanos,
    /// The intervals are exponentially distributed, with that mean: tasklets come as packets do.
    #[arg(long)]
    poisson: bool,
    /// Threads of SCHED_FIFO 1 for each target, which may run on the targets only (2).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(0..=64),
    )]
    waiters: u32,
    /// How long these sleep after each 20 us of computing, as the kernel's psimon does (they never sleep).
    #[arg(long, value_name = "TIME", value_parser = micros_above_zero)]
    waiter_sleep: Option<Nanos>,
    /// These threads may run on all CPUs.
    #[arg(long)]
    waiters_anywhere: bool,
    /// They may run on one more CPU for each target, where a thread of SCHED_FIFO 2 computes: with that, one
    /// target alone counts as overloaded, too.
    #[arg(long, conflicts_with = "waiters_anywhere")]
    waiters_beside: bool,
    /// Endless loops of SCHED_OTHER on each target (1).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(0..=64),
    )]
    hogs: u32,
    /// Threads that sleep and wake, each on a CPU of its own (all CPUs but the targets).
    #[arg(short = 'n', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(0..=512))]
    drivers: Option<u32>,
    /// Each may run on all CPUs but the targets, rather than on its own.
    #[arg(long)]
    drivers_anywhere: bool,
    /// Their priority under SCHED_FIFO (50).
    #[arg(
        short = 'P',
        long,
        value_name = "PRIO",
        default_value_t = 50,
        value_parser = clap::value_parser!(u8).range(1..=99),
    )]
    priority: u8,
    /// How long each sleeps (50us).
    #[arg(short = 's', long, value_name = "TIME", default_value = "50us", value_parser = micros_above_zero)]
    sleep: Nanos,
    /// How long it runs between two sleeps (2us).
    #[arg(short = 'r', long, value_name = "TIME", default_value = "2us", value_parser = micros_above_zero)]
    run: Nanos,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(IpiStorm { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct IpiStorm {
    options: Options,
}

/// What a thread that sleeps computes between two sleeps (assumed: psimon updates its averages).
const WAITER_COMPUTES: Nanos = Nanos::from_micros(20);

/// Of who keeps the waiters from the CPU beside.
const BESIDE: u8 = 2;

/// The CPUs with soft interrupts: as far from each other as 47 and 95 are of 192.
fn targets(count: u32, cpus: usize) -> Vec<CpuId> {
    let place = |n: usize| (n * cpus / (2 * count as usize)).max(n) - 1;
    (1..=count as usize).map(|n| CpuId(place(n) as u16)).collect()
}

/// For each target the next CPU that is none.
fn beside(targets: &[CpuId], cpus: usize) -> Vec<CpuId> {
    let mut free = (0..cpus as u16).map(CpuId).filter(|cpu| !targets.contains(cpu)).collect::<Vec<_>>();
    let next = |target: &CpuId| {
        let place = free.iter().position(|cpu| cpu > target).unwrap_or(0);
        free.remove(place)
    };
    targets.iter().map(next).collect()
}

impl IpiStorm {
    fn times(&self) -> Times {
        self.options.duration.map_or(Times::Forever, Times::For)
    }

    /// One task for the whole run.
    fn spawn(&self, setup: &mut Setup, task: &Task<'_>, remaining: &Remaining) -> Result<(), LoadError> {
        let block = Block::new().repeat(self.times(), task.cycle.clone()).observe(remaining.clone());
        let mut template = Template::new(task.name, program(NAME, block)?);
        (template.policy, template.cpus) = (task.policy, Some(task.cpus));
        setup.spawn_on(Nanos::ZERO, Some(task.on), template.spec());
        Ok(())
    }
}

/// One of its tasks.
struct Task<'a> {
    name: &'a str,
    policy: Policy,
    /// Where it starts.
    on: CpuId,
    cpus: CpuMask,
    cycle: Block,
}

impl Load for IpiStorm {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let options = &self.options;
        let cpus = setup.cpus();
        if cpus < 2 * options.targets as usize {
            let wanted = 2 * options.targets;
            return Err(usage(NAME, format!("{} targets need {wanted} CPUs: add --cpus", options.targets)));
        }
        let targets = targets(options.targets, cpus);
        let beside = if options.waiters_beside { beside(&targets, cpus) } else { Vec::new() };
        let taken: CpuMask = targets.iter().chain(&beside).copied().collect();
        let others: Vec<CpuId> = (0..cpus as u16).map(CpuId).filter(|cpu| !taken.contains(*cpu)).collect();
        let all_others: CpuMask = others.iter().copied().collect();
        let drivers = options.drivers.map_or(others.len(), |n| (n as usize).min(others.len()));
        let on_each_target = (options.waiters + options.hogs) as usize;
        let remaining = Remaining::new((drivers + beside.len() + targets.len() * on_each_target) as u32);
        let fifo = |priority: u8| rt_priority(NAME, "a thread", i64::from(priority)).map(Policy::Fifo);
        let (lowest, drives) = (fifo(1)?, fifo(options.priority)?);
        let computes = Block::new().run(Nanos::from_millis(10)).iteration();
        let waits = options
            .waiter_sleep
            .map_or(computes.clone(), |sleep| Block::new().run(WAITER_COMPUTES).sleep(sleep).iteration());
        let waiter_cpus = if options.waiters_anywhere { CpuMask::first_n(cpus) } else { taken };
        let gap = if options.poisson { SoftirqGap::Exponential } else { SoftirqGap::Every };
        let mut tallies = Vec::new();
        for on in targets.iter().copied() {
            let tally = SoftirqTally::default();
            setup.softirq(SoftirqSpec {
                cpu: on,
                at: options.interval,
                gap: gap(options.interval),
                work: options.work,
                tally: tally.clone(),
            });
            tallies.push(tally);
            let hog = Task {
                name: "rt_storm_hog",
                policy: Policy::Normal,
                on,
                cpus: CpuMask::single(on),
                cycle: computes.clone(),
            };
            for _ in 0..options.hogs {
                self.spawn(setup, &hog, &remaining)?;
            }
            let cycle = waits.clone();
            let waiter = Task { name: "psimon", policy: lowest, on, cpus: waiter_cpus, cycle };
            for _ in 0..options.waiters {
                self.spawn(setup, &waiter, &remaining)?;
            }
        }
        let keeps_off = fifo(BESIDE)?;
        for on in beside {
            let (cpus, cycle) = (CpuMask::single(on), computes.clone());
            self.spawn(setup, &Task { name: "beside", policy: keeps_off, on, cpus, cycle }, &remaining)?;
        }
        for on in others.into_iter().take(drivers) {
            let cycle = Block::new().run(options.run).sleep(options.sleep).iteration();
            let cpus = if options.drivers_anywhere { all_others } else { CpuMask::single(on) };
            let driver = Task { name: "rt_storm", policy: drives, on, cpus, cycle };
            self.spawn(setup, &driver, &remaining)?;
        }
        Ok(BuiltLoad::new(remaining, Tallies(tallies)))
    }
}

/// How many come in a second, if so many come in that time.
fn a_second(number: u64, time_ns: u64) -> u64 {
    (u128::from(number) * u128::from(Nanos::from_secs(1).0)).checked_div(time_ns.into()).unwrap_or(0) as u64
}

/// Of each target.
#[derive(Debug)]
struct Tallies(Vec<SoftirqTally>);

impl Results for Tallies {
    fn result(&self, load: String) -> LoadResult {
        let counts: Vec<SoftirqCounts> = self.0.iter().map(SoftirqTally::counts).collect();
        let sum = |of: &dyn Fn(&SoftirqCounts) -> u64| counts.iter().map(of).sum::<u64>();
        let most = |of: &dyn Fn(&SoftirqCounts) -> Nanos| counts.iter().map(of).max().unwrap_or_default().0;
        let done = sum(&|c| c.done);
        let service = sum(&|c| c.service.0).checked_div(done).unwrap_or(0);
        let visits = sum(&|c| c.visits.number);
        let visited = sum(&|c| c.visits.took.0);
        let in_tasklets = sum(&|c| c.service.0);
        let watched = sum(&|c| c.until.0);
        // Beside the one that is worked on.
        let waiting = sum(&|c| (c.raised - c.done).saturating_sub(1));
        let result = OwnResult::new(load, NAME)
            .nanos("tasklet time", Better::Lower, service)
            .nanos("longest tasklet", Better::Lower, most(&|c| c.longest_service))
            .count("tasklets done", Better::Higher, done)
            .count("tasklets left", Better::Lower, sum(&|c| c.raised - c.done))
            .nanos("longest in softirq", Better::Lower, most(&|c| c.longest_pass))
            .count("soft lockups", Better::Lower, sum(&|c| c.lockups))
            .count("more tasklets wait each second, a target", Better::Lower, a_second(waiting, watched))
            .count("visits a second of tasklets, a target", Better::Neutral, a_second(visits, in_tasklets))
            .nanos("visit time", Better::Lower, visited.checked_div(visits).unwrap_or(0))
            .nanos("time in visits", Better::Lower, visited)
            .nanos("time in tasklets", Better::Lower, in_tasklets)
            .nanos("time in softirq", Better::Lower, sum(&|c| c.in_softirq.0))
            .nanos("time watched", Better::Neutral, watched);
        let first = counts.iter().filter_map(|c| c.first_lockup).min();
        LoadResult::Own(match first {
            Some(first) => result.nanos("first soft lockup", Better::Higher, first.0),
            None => result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_lie_as_in_the_reproducer() {
        assert_eq!(targets(2, 192), [CpuId(47), CpuId(95)]);
        assert_eq!(targets(1, 2), [CpuId(0)]);
        assert_eq!(targets(4, 8), [0, 1, 2, 3].map(CpuId));
    }

    #[test]
    fn every_other_cpu_has_a_driver_and_each_target_its_hog_and_waiters() {
        let tasks = |words: &[&str], cpus: usize| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut setup = Setup::new(cpus);
            parse(&words)?.build(&mut setup)?;
            Ok::<_, LoadError>(setup.into_tasks())
        };
        let all = tasks(&[], 8).expect("a load");
        let named = |name: &str| all.iter().filter(|task| task.spec.comm == name).collect::<Vec<_>>();
        assert_eq!(
            ["rt_storm", "psimon", "rt_storm_hog"].map(|name| named(name).len()),
            [6, 4, 2],
            "{} tasks",
            all.len()
        );
        let both: CpuMask = [CpuId(1), CpuId(3)].into_iter().collect();
        assert!(named("psimon").iter().all(|task| task.spec.cpus == Some(both)));
        assert!(
            named("rt_storm").iter().all(|task| task.spec.cpus.is_some_and(|cpus| !cpus.intersects(&both)))
        );
        let free = tasks(&["--waiters-anywhere"], 8).expect("a load");
        let mut psimons = free.iter().filter(|task| task.spec.comm == "psimon");
        assert!(psimons.all(|task| task.spec.cpus == Some(CpuMask::first_n(8))));
        assert_eq!(tasks(&["-n", "0", "--waiters", "0", "--hogs", "0"], 8).expect("a load").len(), 0);
        let beside = tasks(&["-t", "1", "--waiters-beside"], 8).expect("a load");
        let of = |name: &str| beside.iter().filter(|task| task.spec.comm == name).collect::<Vec<_>>();
        assert_eq!(["rt_storm", "psimon", "beside"].map(|name| of(name).len()), [6, 2, 1]);
        let pair: CpuMask = [CpuId(3), CpuId(4)].into_iter().collect();
        assert!(of("psimon").iter().all(|task| task.spec.cpus == Some(pair)));
        assert!(of("beside").iter().all(|task| task.spec.cpus == Some(CpuMask::single(CpuId(4)))));
        let roam = tasks(&["--drivers-anywhere"], 8).expect("a load");
        let mut drivers = roam.iter().filter(|task| task.spec.comm == "rt_storm");
        assert!(drivers.all(|task| task.spec.cpus.is_some_and(|cpus| cpus.weight() == 6)));
        let error = tasks(&["-t", "4"], 7).expect_err("too few CPUs").to_string();
        assert!(error.contains("4 targets need 8 CPUs"), "{error}");
    }
}
