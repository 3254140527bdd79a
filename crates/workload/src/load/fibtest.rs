//! fibtest: who uses little CPU time on many CPUs takes a group's limit away from who uses much (Indeed's
//! test of 2018 and 2019).
//!
//! A fast thread computes without a pause on the first CPU; on each of the others a slow one computes for a
//! moment and sleeps for 10 ms, again and again. In a group with a small limit (10 of each 100 ms for all of
//! them) each slow thread draws a slice of it to its CPU, gives most of it back, and keeps a millisecond.
//! Where that expires with the period (`bw_expire=on`, 4.18 to 5.3), so many CPUs strand so many
//! milliseconds, and the group is throttled while it uses a fraction of what it may (deadline-groups B7).

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::{Remaining, Tally};
use super::spawn::program;
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Template, Times};
use crate::units::{micros_above_zero, seconds_above_zero};
use machine::Setup;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{Better, LoadResult, OwnResult};

const NAME: &str = "fibtest";

/// What the fast thread counts as one iteration.
const FAST_STEP: Nanos = Nanos::from_micros(100);

/// From the start of one thread to that of the next (assumed: a pthread_create).
const APART: Nanos = Nanos::from_micros(50);

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "A thread that computes and, on each other CPU, one that hardly does; for a group with a limit.",
    ends: "Endless; with -D after that time.",
    source: "Indeed's fibtest, 2018 (deadline-groups B7)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of slow threads (one on each CPU but the first).
    #[arg(short = 'n', long, value_name = "NUM", value_parser = clap::value_parser!(u16).range(1..))]
    slow: Option<u16>,
    /// What a slow thread computes at a time, microseconds without a unit (3us).
    #[arg(short = 'w', long, value_name = "TIME", default_value = "3us", value_parser = micros_above_zero)]
    work: Nanos,
    /// How long it sleeps then (10ms).
    #[arg(short = 's', long, value_name = "TIME", default_value = "10ms", value_parser = micros_above_zero)]
    sleep: Nanos,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(Fibtest { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct Fibtest {
    options: Options,
}

impl Load for Fibtest {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let Options { slow, work, sleep, duration } = self.options;
        let others = setup.cpus() as u16 - 1;
        let slow = slow.unwrap_or(others);
        if slow > others || slow == 0 {
            let needed = slow.max(1) + 1;
            return Err(usage(NAME, format!("it needs a CPU for each thread: add --cpus {needed}")));
        }
        let remaining = Remaining::new(u32::from(slow) + 1);
        let times = || duration.map_or(Times::Forever, Times::For);
        let (fast_cycles, slow_cycles) = (Tally::default(), Tally::default());
        let computes = Block::new().run(FAST_STEP).observe(fast_cycles.clone());
        let dabbles = Block::new().run(work).observe(slow_cycles.clone()).sleep(sleep);
        for cpu in 0..=slow {
            let (comm, cycle) = if cpu == 0 { ("fast", &computes) } else { ("slow", &dabbles) };
            let block = Block::new().repeat(times(), cycle.clone()).observe(remaining.clone());
            let mut template = Template::new(comm, program(NAME, block)?);
            template.cpus = Some(CpuMask::single(CpuId(cpu)));
            setup.spawn_on(APART * u64::from(cpu), Some(CpuId(cpu)), template.spec());
        }
        Ok(BuiltLoad::new(remaining, Cycles { fast: fast_cycles, slow: slow_cycles }))
    }
}

/// What its threads have done.
#[derive(Debug)]
struct Cycles {
    fast: Tally,
    slow: Tally,
}

impl Results for Cycles {
    fn result(&self, load: String) -> LoadResult {
        let result = OwnResult::new(load, NAME)
            .nanos("work of the fast thread", Better::Higher, FAST_STEP.0 * self.fast.get())
            .count("rounds of the slow threads", Better::Higher, self.slow.get());
        LoadResult::Own(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_thread_and_a_slow_one_on_each_other_cpu() {
        let tasks = |words: &[&str], cpus| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut setup = Setup::new(cpus);
            parse(&words)?.build(&mut setup)?;
            Ok::<_, LoadError>(setup.into_tasks())
        };
        let all = tasks(&[], 8).expect("a load");
        let names: Vec<&str> = all.iter().map(|task| task.spec.comm.as_str()).collect();
        assert_eq!((names[0], names[1..].iter().all(|name| *name == "slow"), names.len()), ("fast", true, 8));
        assert!(all.iter().zip(0..).all(|(task, cpu)| task.spec.cpus == Some(CpuMask::single(CpuId(cpu)))));
        assert_eq!(tasks(&["-n", "2"], 8).expect("a load").len(), 3);
        assert!(tasks(&["-n", "8"], 8).expect_err("too many").to_string().contains("--cpus 9"));
        assert!(tasks(&[], 1).expect_err("no other CPU").to_string().contains("--cpus 2"));
    }
}
