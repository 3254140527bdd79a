//! boosted_owner: a thread of low priority holds a mutex that an important one wants, and could run on a CPU
//! that has less to do, if only somebody moved it.
//!
//! Three CPUs. On the first an engine thread of FIFO 80 computes for long and pauses shortly, on the second
//! one of FIFO 60 never pauses, on the third a thread of FIFO 90 works 0.1 ms of each 1.1 ms. The owner,
//! FIFO 50, may run on the first two, which it does in the pauses; it takes a PI mutex again and again. A
//! thread of FIFO 77 on the third CPU wants that mutex: the owner inherits 77, which would do on the second
//! CPU, but it waits on the first, behind 80. Whether it is moved depends on how real-time tasks are
//! balanced (deadline-groups E4, hypothesis H2): RT_PUSH_IPI lets each CPU whose priority falls ask all
//! others to push, whereto ever; without it such a CPU pulls, and only what may run there.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::Remaining;
use super::spawn::{program, rt_priority};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::latency::LatencyRecorder;
use crate::program::{Block, Overrun, Template, TimeVar, Times};
use crate::units::{micros_above_zero, seconds_above_zero};
use machine::{MutexKind, Setup};
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Policy};
use schema::{Better, LoadResult, OwnResult};

const NAME: &str = "boosted_owner";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "The owner of a PI mutex waits behind a busy thread, and could run elsewhere.",
    ends: "Endless; with -D after that time.",
    source: "hypothesis H2 on the report of 14 August 2026 (deadline-groups E4, E7)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// How long the first engine thread computes before it pauses for 10 ms, microseconds without a unit
    /// (3s).
    #[arg(short = 'e', long, value_name = "TIME", default_value = "3s", value_parser = micros_above_zero)]
    engine: Nanos,
    /// How long the owner keeps the mutex, CPU time (1ms).
    #[arg(short = 'o', long, value_name = "TIME", default_value = "1ms", value_parser = micros_above_zero)]
    owns: Nanos,
    /// From one wish for the mutex to the next (20ms).
    #[arg(short = 'i', long, value_name = "TIME", default_value = "20ms", value_parser = micros_above_zero)]
    interval: Nanos,
    /// The owner may run on all CPUs, not on the first two only.
    #[arg(long)]
    anywhere: bool,
    /// Stop after this time, seconds without a unit (endless).
    #[arg(short = 'D', long, value_name = "TIME", value_parser = seconds_above_zero)]
    duration: Option<Nanos>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(BoostedOwner { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct BoostedOwner {
    options: Options,
}

/// One of its threads.
struct Thread {
    name: &'static str,
    priority: u8,
    cpus: CpuMask,
    cycle: Block,
}

const THREADS: u32 = 5;

impl BoostedOwner {
    fn threads(&self, mutex: MutexId, waits: &LatencyRecorder, cpus: usize) -> [Thread; THREADS as usize] {
        let Options { engine, owns, interval, anywhere, .. } = self.options;
        let (due, wished) = (TimeVar(0), TimeVar(1));
        let on = |cpu| CpuMask::single(CpuId(cpu));
        let pauses = Block::new().run(engine).sleep(Nanos::from_millis(10));
        let beat = Nanos::from_micros(1_100);
        let beats =
            Block::new().run(Nanos::from_micros(100)).advance(due, beat, Overrun::Skip).sleep_until(due);
        let holds = Block::new().lock(mutex).run(owns).unlock(mutex);
        let wants = Block::new().mark(wished).lock(mutex).probe(wished, waits).unlock(mutex).iteration();
        let wants = wants.advance(due, interval, Overrun::Skip).sleep_until(due);
        let owner_cpus = if anywhere { CpuMask::first_n(cpus) } else { on(0).or(&on(1)) };
        [
            Thread { name: "owner", priority: 50, cpus: owner_cpus, cycle: holds },
            Thread { name: "engine80", priority: 80, cpus: on(0), cycle: pauses },
            Thread { name: "engine60", priority: 60, cpus: on(1), cycle: Block::new().run(engine) },
            Thread { name: "beat", priority: 90, cpus: on(2), cycle: beats },
            Thread { name: "waiter", priority: 77, cpus: on(2), cycle: wants },
        ]
    }
}

impl Load for BoostedOwner {
    fn length(&self) -> Length {
        self.options.duration.map_or(Length::Endless, Length::Time)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let cpus = setup.cpus();
        if cpus < 3 {
            return Err(usage(NAME, "it needs 3 CPUs: add --cpus 3"));
        }
        let mutex = setup.mutex("engine lock", MutexKind::Pi);
        let (waits, remaining) = (LatencyRecorder::new(), Remaining::new(THREADS));
        for thread in self.threads(mutex, &waits, cpus) {
            let times = self.options.duration.map_or(Times::Forever, Times::For);
            let block = Block::new().repeat(times, thread.cycle).observe(remaining.clone());
            let mut template = Template::new(thread.name, program(NAME, block)?);
            template.policy = Policy::Fifo(rt_priority(NAME, thread.name, i64::from(thread.priority))?);
            template.cpus = Some(thread.cpus);
            setup.spawn_on(Nanos::ZERO, thread.cpus.first(), template.spec());
        }
        Ok(BuiltLoad::new(remaining, Waits(waits)))
    }
}

/// From each wish for the mutex until it is fulfilled.
#[derive(Debug)]
struct Waits(LatencyRecorder);

impl Results for Waits {
    fn result(&self, load: String) -> LoadResult {
        let stats = self.0.stats();
        let waits = stats.all().summary();
        let result = OwnResult::new(load, NAME)
            .nanos("longest wait for the mutex", Better::Lower, waits.max)
            .nanos("mean wait for the mutex", Better::Lower, waits.mean)
            .count("times it got the mutex", Better::Higher, waits.count);
        LoadResult::Own(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_threads_of_which_the_owner_may_move() {
        let tasks = |words: &[&str], cpus| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut setup = Setup::new(cpus);
            parse(&words)?.build(&mut setup)?;
            Ok::<_, LoadError>(setup.into_tasks())
        };
        let owner_cpus = |words: &[&str]| {
            let all = tasks(words, 4).expect("a load");
            assert_eq!(all.len(), 5);
            let owner = all.iter().find(|task| task.spec.comm == "owner").expect("there is one");
            owner.spec.cpus.map(|cpus| cpus.weight())
        };
        assert_eq!([owner_cpus(&[]), owner_cpus(&["--anywhere"])], [Some(2), Some(4)]);
        assert!(tasks(&[], 2).expect_err("too few").to_string().contains("--cpus 3"));
    }
}
