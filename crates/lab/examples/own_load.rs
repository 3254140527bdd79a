//! A load of one's own: a task that hands out jobs over a socket to workers, done when all jobs are. What a
//! load adds to a run, and what it reports, is up to whoever implements `Load`.
//!
//! `cargo run -p schedlab-lab --features text --example own_load`

use lab::machine::ChannelSpec;
use lab::scheduler::{Policy, RtPriority};
use lab::schema::{Better, LoadResult, OwnResult};
use lab::workload::dist::Dist;
use lab::workload::load::{BuiltLoad, Length, Load, LoadError, Remaining, Results, Tally};
use lab::workload::program::{Block, Program, Template, Times};
use lab::{Error, Experiment, Files, LoadSpec, Nanos, RunResult, Setup};
use std::process::ExitCode;

/// Workers under SCHED_RR.
#[derive(Debug)]
struct Pool {
    workers: u32,
    jobs_of_each: u64,
    shortest: Nanos,
    longest: Nanos,
}

/// Checks a program that consists of this block.
fn program(block: Block) -> Result<Program, LoadError> {
    Program::new(block).map_err(|source| LoadError::Program { load: "pool".to_owned(), source })
}

impl Load for Pool {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let remaining = Remaining::new(self.workers);
        let length = Dist::uniform(self.shortest, self.longest)
            .map_err(|source| LoadError::Dist { load: "pool".to_owned(), source })?;
        // It holds four jobs; who hands out a fifth waits until one is taken.
        let jobs = setup.channel(ChannelSpec::new(4));
        let mut workers = Vec::new();
        for _ in 0..self.workers {
            let done = Tally::default();
            let job = Block::new().receive(jobs).run(length.clone()).iteration();
            let job = job.observe(done.clone());
            let all = Block::new().repeat(Times::Count(self.jobs_of_each), job).observe(remaining.clone());
            let policy = RtPriority::new(10).map_or(Policy::Normal, Policy::Rr);
            let worker = Template { policy, ..Template::new("worker", program(all)?) };
            setup.spawn(Nanos::ZERO, worker.spec());
            workers.push(done);
        }
        let count = self.jobs_of_each * u64::from(self.workers);
        let hand_out = Block::new().repeat(Times::Count(count), Block::new().send(jobs));
        setup.spawn(Nanos::ZERO, Template::new("master", program(hand_out)?).spec());
        Ok(BuiltLoad::new(remaining, Workers(workers)))
    }
}

/// The jobs that each worker has done.
#[derive(Debug)]
struct Workers(Vec<Tally>);

impl Results for Workers {
    fn result(&self, load: String) -> LoadResult {
        let jobs: u64 = self.0.iter().map(Tally::get).sum();
        LoadResult::Own(OwnResult::new(load, "pool").count("jobs", Better::Higher, jobs))
    }
}

/// Four workers with five jobs of about 10 ms each.
fn run(cpus: usize) -> Result<RunResult, Error> {
    let mut experiment = Experiment::new(lab::machine("laptop", Some(cpus), &Files::new())?);
    let (shortest, longest) = (Nanos::from_millis(9), Nanos::from_millis(11));
    let pool = Pool { workers: 4, jobs_of_each: 5, shortest, longest };
    experiment.loads.push(LoadSpec::new("a pool of 4", pool));
    Ok(experiment.run()?.result)
}

fn main() -> ExitCode {
    match run(2) {
        Ok(result) => print!("{}", lab::report::text::run(&result, lab::report::text::Rows::All)),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::schema::{self, TaskResult};

    /// 180 to 220 ms of work: on one CPU it takes that long. Four are the threads of two cores, and have 62 %
    /// of a core's speed each: it takes a quarter of the time by 0.62.
    #[test]
    fn the_pool_ends_with_its_last_job() {
        for (cpus, least_ms) in [(1, 180), (4, 72)] {
            let result = run(cpus).expect("it runs");
            let LoadResult::Own(pool) = &result.loads[0] else { panic!("a load of our own") };
            assert_eq!((pool.figures[0].name.as_str(), pool.figures[0].value), ("jobs", 20), "{cpus} CPUs");
            let took_ms = result.engine.simulated_ns / 1_000_000;
            assert!((least_ms..least_ms * 13 / 10).contains(&took_ms), "{cpus} CPUs: {took_ms} ms");
            let under_rr = |task: &TaskResult| task.policy == schema::Policy::Rr && task.rt_priority == 10;
            assert!(result.tasks.iter().filter(|task| task.comm == "worker").all(under_rr));
        }
    }
}
