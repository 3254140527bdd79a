//! schbench, Chris Mason's scheduler benchmark: message threads hand requests out to worker threads.
//!
//! Of version 1.0 on: each worker tells its message thread that it is free, and sleeps; the message thread
//! wakes all who are. A request is a short sleep, as for a network, and matrix multiplications under a lock
//! of the CPU, so that a worker that loses the CPU in between holds up who comes next on it. With `-c` as
//! the versions before: a request spins on the clock, and message threads let a moment pass before they
//! answer. With `-R` requests do not follow each other but come at a rate, to one worker after the other:
//! before 1.0 eight between two sleeps, and up to 2020 as many as two thirds of the workers (`--batch`).

use super::command::{options, parser};
use super::error::LoadError;
use super::progress::Remaining;
use super::rounds::task;
use super::schbench_tasks::{Crew, Messenger, Multiplications, Request, Statistics, Worker};
use super::spawn::program;
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Template};
use crate::units::{micros, micros_above_zero, seconds, seconds_above_zero, step_nanos};
use machine::{ChannelSpec, Setup};
use scheduler::Nanos;
use scheduler::mutex::MutexKind;
use schema::{Better, LoadResult, OwnResult};
use std::rc::Rc;

const NAME: &str = "schbench";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Message threads hand out requests, worker threads do matrix multiplications: latencies and RPS.",
    ends: "After -r (30s).",
    source: "schbench 1.0 (kernel.org, mason/schbench, its README); with -c the versions before it",
    command: parser::<Options>,
    parse,
};

/// An hour: what a step of a load may cost.
const LONGEST_STEP: u128 = 3_600_000_000_000;

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Message threads (1; with -c 2).
    #[arg(
        short = 'm',
        long,
        value_name = "NUM",
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    message_threads: Option<u32>,
    /// Worker threads of each message thread (CPUs / message threads; with -c 16).
    #[arg(short = 't', long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    threads: Option<u32>,
    /// How long to run, seconds without a unit (30s).
    #[arg(short = 'r', long, value_name = "TIME", default_value = "30s", value_parser = seconds_above_zero)]
    runtime: Nanos,
    /// What comes before this time is not counted, likewise (0).
    #[arg(short = 'w', long, value_name = "TIME", default_value = "0", value_parser = seconds)]
    warmuptime: Nanos,
    /// Requests a second of each message thread, in place of one after the other (0: not).
    #[arg(
        short = 'R',
        long,
        value_name = "NUM",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=1_000_000),
    )]
    rps: u32,
    /// Matrix multiplications of a request (5).
    #[arg(
        short = 'n',
        long,
        value_name = "NUM",
        default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(0..=100_000),
    )]
    operations: u32,
    /// What the three matrices take of the cache, KB (256).
    #[arg(
        short = 'F',
        long,
        value_name = "KB",
        default_value_t = 256,
        value_parser = clap::value_parser!(u32).range(1..=65_536),
    )]
    cache_footprint: u32,
    /// Sleep of a worker before it multiplies, microseconds without a unit (100us); with -c of a message
    /// thread before it answers (30ms).
    #[arg(short = 's', long, value_name = "TIME", value_parser = micros)]
    sleep_usec: Option<Nanos>,
    /// No lock of the CPU around the multiplications.
    #[arg(short = 'L', long)]
    no_locking: bool,
    /// As before version 1.0: a request spins on the clock for so long, microseconds without a unit (none).
    #[arg(short = 'c', long, value_name = "TIME", value_parser = micros_above_zero)]
    cputime: Option<Nanos>,
    /// Model: requests that come at a time, with -c and -R, as two thirds of -t did up to 2020 (none: 8, as
    /// later).
    #[arg(
        long,
        value_name = "NUM",
        requires_all = ["cputime", "rps"],
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    batch: Option<u32>,
    /// Model: one multiplication and addition, nanoseconds without a unit (2ns: assumed).
    #[arg(long, value_name = "TIME", default_value = "2ns", value_parser = step_nanos)]
    multiplication: Nanos,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(Schbench { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct Schbench {
    options: Options,
}

impl Options {
    fn message_threads(&self) -> u32 {
        self.message_threads.unwrap_or(if self.cputime.is_some() { 2 } else { 1 })
    }

    /// Of each message thread.
    fn workers(&self, cpus: usize) -> u32 {
        self.threads.unwrap_or(match self.cputime {
            Some(_) => 16,
            None => (cpus as u32).div_ceil(self.message_threads()),
        })
    }

    /// What a request costs its worker.
    fn request(&self, setup: &mut Setup) -> Request {
        if let Some(spin) = self.cputime {
            return Request::Spin(spin);
        }
        let locks = if self.no_locking { 0 } else { setup.cpus() };
        let matrices = Multiplications {
            time: self.multiplications(),
            locks: (0..locks).map(|cpu| setup.mutex(format!("CPU {cpu}"), MutexKind::Plain)).collect(),
        };
        Request::Multiply { sleep: self.sleep_usec.unwrap_or(Nanos::from_micros(100)), matrices }
    }

    /// All that a request multiplies. Three square matrices, of 8 bytes a number, fill the footprint.
    fn multiplications(&self) -> Nanos {
        let side = (u128::from(self.cache_footprint) * 1024 / 3 / 8).isqrt();
        let time = u128::from(self.multiplication.0) * side.pow(3) * u128::from(self.operations);
        Nanos(time.min(LONGEST_STEP) as u64)
    }
}

impl Load for Schbench {
    fn length(&self) -> Length {
        Length::Time(self.options.runtime)
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let options = &self.options;
        // A run that is over before is counted as a whole.
        let begin = if options.warmuptime < options.runtime { options.warmuptime } else { Nanos::ZERO };
        let request = Rc::new(options.request(setup));
        let statistics = Rc::new(Statistics::from(begin, options.runtime));
        let remaining = Remaining::new(1);
        // The main thread waits for the end.
        let ends = Block::new().sleep(options.runtime).observe(remaining.clone());
        setup.spawn(Nanos::ZERO, Template::new(NAME, program(NAME, ends)?).spec());
        let answers_after = match options.cputime {
            Some(_) => options.sleep_usec.unwrap_or(Nanos::from_millis(30)),
            None => Nanos::ZERO,
        };
        let footprint = u64::from(options.cache_footprint) * 1024;
        for _ in 0..options.message_threads() {
            // What is posted twice before somebody looks is there once, as with a futex word.
            let workers = (0..options.workers(setup.cpus())).map(|_| setup.channel(ChannelSpec::new(1)));
            let workers = workers.collect::<Vec<_>>();
            let number = workers.len();
            let crew = Crew::new(setup.channel(ChannelSpec::new(1)), workers);
            let messenger = match (options.rps, options.batch) {
                (0, _) => Messenger::answering(crew.clone(), answers_after),
                (rps, Some(size)) => Messenger::in_batches(crew.clone(), rps, size),
                (rps, None) => Messenger::at_rate(crew.clone(), rps, options.cputime.is_some()),
            };
            setup.spawn(Nanos::ZERO, task("schbench-msg", 4 << 10, messenger));
            for worker in 0..number {
                let rounds =
                    Worker::new(crew.clone(), worker, request.clone(), statistics.clone(), options.rps > 0);
                setup.spawn(Nanos::ZERO, task("schbench-worker", footprint, rounds));
            }
        }
        let counts_delays = options.cputime.is_some() && options.rps > 0;
        let figures = Figures { statistics, remaining: remaining.clone(), counts_delays };
        Ok(BuiltLoad::new(remaining, figures))
    }
}

#[derive(Debug)]
struct Figures {
    statistics: Rc<Statistics>,
    remaining: Remaining,
    /// Of requests that spin and come at a rate.
    counts_delays: bool,
}

impl Results for Figures {
    fn result(&self, load: String) -> LoadResult {
        let statistics = &self.statistics;
        let mut result = OwnResult::new(load, NAME)
            .count("requests", Better::Higher, statistics.requests.get())
            .count("average rps", Better::Higher, statistics.rps(self.remaining.is_zero()));
        let latencies = [("wakeup latency", &statistics.wakeups), ("request latency", &statistics.latencies)];
        let delays = self.counts_delays.then_some(("delay", &statistics.delays));
        for (what, recorder) in latencies.into_iter().chain(delays) {
            let stats = recorder.stats();
            for (percentile, per_mille) in
                [("50", 500), ("90", 900), ("95", 950), ("99", 990), ("99.5", 995), ("99.9", 999)]
            {
                let value = stats.all().quantile_ns(per_mille);
                result = result.nanos(format!("{what} p{percentile}"), Better::Lower, value);
            }
            result = result.nanos(format!("{what} max"), Better::Lower, stats.all().max_ns());
        }
        LoadResult::Own(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(words: &[&str], cpus: usize) -> Result<Vec<String>, LoadError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut setup = Setup::new(cpus);
        parse(&words)?.build(&mut setup)?;
        Ok(setup.into_tasks().iter().map(|task| task.spec.comm.to_string()).collect())
    }

    fn workers(words: &[&str], cpus: usize) -> usize {
        tasks(words, cpus).expect("a load").iter().filter(|comm| *comm == "schbench-worker").count()
    }

    /// README: a worker for each CPU, shared out among the message threads; before 1.0 2 × 16.
    #[test]
    fn as_many_workers_as_the_program_starts() {
        assert_eq!(
            [workers(&[], 8), workers(&["-m", "2"], 8), workers(&["-m", "2", "-t", "3"], 8)],
            [8, 8, 6]
        );
        assert_eq!(workers(&["-c", "30000"], 8), 32);
    }

    /// README: the footprint is that of three matrices; 256 KB: 104 numbers a side.
    #[test]
    fn three_matrices_fill_the_footprint() {
        let time = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            options::<Options>(NAME, &words).expect("options").multiplications()
        };
        assert_eq!(time(&["-n", "1", "-F", "256"]), Nanos(2 * 104 * 104 * 104));
        assert_eq!(time(&["-n", "0"]), Nanos::ZERO);
        assert_eq!(time(&["-n", "100000", "-F", "65536"]), Nanos(3_600_000_000_000), "an hour");
    }
}
