//! pi_stress of rt-tests: groups of three threads that bring about one priority inversion after the other, on
//! one CPU.
//!
//! In each round the low thread takes the group's mutex, all three meet, and the high one wants the mutex
//! while the medium one computes until it has got it. With priority inheritance the low thread runs above the
//! medium one and lets the mutex go; without, it waits for the medium one, which waits for the high one: a
//! deadlock. A reporter, above all, looks every second whether there was an inversion; if not, the test has
//! failed, and ends.
//!
//! The three meet four times in a round, as their recorded switches tell: the low thread is preempted five
//! times and never sleeps, so that under SCHED_FIFO the first group has the CPU for itself.
//!
//! Priorities are those of a recorded run (native-6.18/pistress-trace): low 1, medium 2, high 3, reporter 4.
//! The groups have the last CPU, the reporter the others (with `-u` that one, too).

use super::command::{options, parser};
use super::error::LoadError;
use super::progress::{Remaining, Tally};
use super::spawn::{program, rt_priority};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::flag::Flag;
use crate::program::{Block, Observer, Template, Times};
use crate::units::seconds_above_zero;
use machine::{BarrierId, Env, MutexKind, Setup};
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Policy};
use schema::{Better, LoadResult, OwnResult};
use std::cell::Cell;

const NAME: &str = "pi_stress";
/// How often the reporter looks.
const LOOKS: Nanos = Nanos::from_secs(1);
/// How often the medium thread looks.
const STEP: Nanos = Nanos::from_micros(100);

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Groups of three threads of which the middle one would block the others but for inheritance.",
    ends: "Endless; with -D after that time, with -i after so many inversions; at a deadlock.",
    source: "pi_stress of rt-tests 2.4: its manual, and a recorded run (native-6.18/pistress-trace)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
    /// Number of groups (10).
    #[arg(
        short = 'g',
        long,
        value_name = "NUM",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    groups: u32,
    /// Stop after so many inversions of all groups together (endless).
    #[arg(short = 'i', long, value_name = "NUM", value_parser = clap::value_parser!(u64).range(1..))]
    inversions: Option<u64>,
    /// The threads of the groups are SCHED_RR (SCHED_FIFO).
    #[arg(short = 'r', long)]
    rr: bool,
    /// All threads on one CPU, the reporter, too.
    #[arg(short = 'u', long)]
    uniprocessor: bool,
    /// Model: plain mutexes, without priority inheritance.
    #[arg(long)]
    no_pi: bool,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(PiStress { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct PiStress {
    options: Options,
}

/// What all threads know.
#[derive(Clone, Debug, Default)]
struct Test {
    /// The groups are to end with the round under way, and so is the reporter.
    stop: Flag,
    inversions: Tally,
    deadlocks: Tally,
    /// End after so many inversions.
    most: Option<u64>,
}

/// What the three threads of a group share.
#[derive(Clone, Debug)]
struct Group {
    test: Test,
    mutex: MutexId,
    start: BarrierId,
    locked: BarrierId,
    resolved: BarrierId,
    finish: BarrierId,
    /// The high thread has got the mutex in the round under way, or the reporter gives up.
    is_resolved: Flag,
    /// No round follows; raised before all meet at the end of one, so that all three see it.
    is_over: Flag,
}

impl Group {
    fn new(setup: &mut Setup, number: u32, kind: MutexKind, test: &Test) -> Group {
        Group {
            test: test.clone(),
            mutex: setup.mutex(format!("group {number}"), kind),
            start: setup.barrier(3),
            locked: setup.barrier(3),
            resolved: setup.barrier(3),
            finish: setup.barrier(3),
            is_resolved: Flag::default(),
            is_over: Flag::default(),
        }
    }

    fn low(&self) -> Block {
        let takes = Block::new().barrier(self.start).observe(Begins(self.clone())).lock(self.mutex);
        let lets_go = takes.barrier(self.locked).unlock(self.mutex).barrier(self.resolved);
        lets_go.iteration().observe(Ends(self.clone())).barrier(self.finish)
    }

    fn medium(&self) -> Block {
        let waits = Times::UntilRaised(self.is_resolved.clone());
        let in_the_way = Block::new().barrier(self.start).barrier(self.locked);
        let stays = in_the_way.repeat(waits, Block::new().run(STEP));
        stays.barrier(self.resolved).iteration().barrier(self.finish)
    }

    fn high(&self) -> Block {
        let wants = Block::new().barrier(self.start).barrier(self.locked).lock(self.mutex);
        let gets = wants.observe(Got(self.clone())).unlock(self.mutex);
        gets.barrier(self.resolved).iteration().barrier(self.finish)
    }

    /// One of its threads, from the first round to the last.
    fn rounds_of(&self, round: Block) -> Block {
        Block::new().repeat(Times::UntilRaised(self.is_over.clone()), round)
    }
}

/// The low thread begins a round.
#[derive(Debug)]
struct Begins(Group);

impl Observer for Begins {
    fn observe(&self, _: &Env<'_>, _: &[Nanos]) {
        if !self.0.test.stop.is_raised() {
            self.0.is_resolved.lower();
        }
    }
}

/// The high thread has got the mutex.
#[derive(Debug)]
struct Got(Group);

impl Observer for Got {
    fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
        let Group { test, is_resolved, .. } = &self.0;
        // What the reporter resolved was a deadlock.
        if !is_resolved.is_raised() {
            test.inversions.observe(env, times);
        }
        is_resolved.raise();
    }
}

/// The low thread is done with a round.
#[derive(Debug)]
struct Ends(Group);

impl Observer for Ends {
    fn observe(&self, _: &Env<'_>, _: &[Nanos]) {
        let Group { test, is_over, .. } = &self.0;
        if test.most.is_some_and(|most| test.inversions.get() >= most) {
            test.stop.raise();
        }
        if test.stop.is_raised() {
            is_over.raise();
        }
    }
}

/// The reporter looks.
#[derive(Debug)]
struct Looks {
    test: Test,
    groups: Vec<Group>,
    /// The inversions when it last looked.
    seen: Cell<u64>,
}

impl Observer for Looks {
    fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
        let Test { stop, inversions, deadlocks, .. } = &self.test;
        let so_far = inversions.get();
        if self.seen.replace(so_far) == so_far && !stop.is_raised() {
            deadlocks.observe(env, times);
            stop.raise();
            self.groups.iter().for_each(|group| group.is_resolved.raise());
        }
    }
}

impl Load for PiStress {
    fn length(&self) -> Length {
        match (self.options.inversions, self.options.duration) {
            (Some(_), _) => Length::Work,
            (None, Some(duration)) => Length::Time(duration),
            (None, None) => Length::Endless,
        }
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let Options { duration, groups, inversions, rr, uniprocessor, no_pi } = self.options;
        let last = CpuMask::single(CpuId(setup.cpus() as u16 - 1));
        let others = CpuMask::first_n(setup.cpus()).without(&last);
        let apart = if uniprocessor || others.is_empty() { last } else { others };
        let kind = if no_pi { MutexKind::Plain } else { MutexKind::Pi };
        let test = Test { most: inversions, ..Test::default() };
        let remaining = Remaining::new(3 * groups);
        let add = |setup: &mut Setup, policy: Policy, cpus: CpuMask, block: Block| {
            let mut template = Template::new(NAME, program(NAME, block)?);
            template.policy = policy;
            template.cpus = Some(cpus);
            setup.spawn_on(Nanos::ZERO, cpus.first(), template.spec());
            Ok::<(), LoadError>(())
        };
        let policy_of = |who: &str, prio: i64| {
            let prio = rt_priority(NAME, who, prio)?;
            Ok::<Policy, LoadError>(if rr { Policy::Rr(prio) } else { Policy::Fifo(prio) })
        };
        let mut all = Vec::new();
        for number in 0..groups {
            let group = Group::new(setup, number, kind, &test);
            let threads = [("low", 1, group.low()), ("medium", 2, group.medium()), ("high", 3, group.high())];
            for (who, prio, round) in threads {
                let block = group.rounds_of(round).observe(remaining.clone());
                add(setup, policy_of(who, prio)?, last, block)?;
            }
            all.push(group);
        }
        let looks =
            Block::new().sleep(LOOKS).observe(Looks { test: test.clone(), groups: all, seen: Cell::new(0) });
        let reporter = Block::new().repeat(Times::UntilRaised(test.stop.clone()), looks);
        let above = Policy::Fifo(rt_priority(NAME, "the reporter", 4)?);
        add(setup, above, apart, reporter)?;
        if let Some(duration) = duration {
            add(setup, above, apart, Block::new().sleep(duration).raise(&test.stop))?;
        }
        Ok(BuiltLoad::new(remaining, Found(test)))
    }
}

/// How often the high thread got its mutex, and how often it did not.
#[derive(Debug)]
struct Found(Test);

impl Results for Found {
    fn result(&self, load: String) -> LoadResult {
        let result = OwnResult::new(load, NAME)
            .count("inversions", Better::Higher, self.0.inversions.get())
            .count("deadlocks", Better::Lower, self.0.deadlocks.get());
        LoadResult::Own(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_threads_a_group_on_the_last_cpu_and_the_reporter_elsewhere() {
        let tasks = |words: &[&str], cpus| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut setup = Setup::new(cpus);
            parse(&words).and_then(|load| load.build(&mut setup)).expect("a load");
            setup.into_tasks()
        };
        let all = tasks(&["-g", "2", "-D", "1"], 4);
        let priorities = all.iter().filter_map(|task| Some(task.spec.policy.rt_priority()?.get()));
        assert_eq!(priorities.collect::<Vec<u8>>(), [1, 2, 3, 1, 2, 3, 4, 4]);
        let of = |cpus: Option<CpuMask>| cpus.map(|cpus| cpus.iter().map(|cpu| cpu.0).collect::<Vec<u16>>());
        assert_eq!([of(all[0].spec.cpus), of(all[6].spec.cpus)], [Some(vec![3]), Some(vec![0, 1, 2])]);
        assert_eq!(of(tasks(&["-u"], 4).last().expect("the reporter").spec.cpus), Some(vec![3]));
        assert_eq!(of(tasks(&[], 1).last().expect("the reporter").spec.cpus), Some(vec![0]));
        assert!(matches!(tasks(&["-r"], 2)[0].spec.policy, Policy::Rr(_)));
    }
}
