//! A load of one's own: workers that share jobs and are done when all jobs are. What a load adds to a run,
//! and what it reports, is up to whoever implements `Load`.
//!
//! `cargo run -p schedlab-lab --features text --example own_load`

use lab::scheduler::{Policy, RtPriority};
use lab::schema::{Better, LoadResult, OwnResult};
use lab::workload::load::{BuiltLoad, Length, Load, LoadError, Remaining, Results, Tally};
use lab::workload::program::{Block, Program, Template, Times};
use lab::{Error, Experiment, Files, LoadSpec, Nanos, RunResult, Setup};

/// Workers under SCHED_RR.
#[derive(Debug)]
struct Pool {
    workers: u32,
    jobs_of_each: u64,
    job: Nanos,
}

impl Load for Pool {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let remaining = Remaining::new(self.workers);
        let mut workers = Vec::new();
        for _ in 0..self.workers {
            let jobs = Tally::default();
            let job = Block::new().run(self.job).iteration().observe(jobs.clone());
            let all = Block::new().repeat(Times::Count(self.jobs_of_each), job).observe(remaining.clone());
            let program =
                Program::new(all).map_err(|source| LoadError::Program { load: "pool".to_owned(), source })?;
            let priority = RtPriority::new(10).map_or(Policy::Normal, Policy::Rr);
            let worker = Template { policy: priority, ..Template::new("worker", program) };
            setup.spawn(Nanos::ZERO, worker.spec());
            workers.push(jobs);
        }
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

/// Four workers with five jobs of 10 ms each.
fn run(cpus: usize) -> Result<RunResult, Error> {
    let mut experiment = Experiment::new(lab::machine("laptop", Some(cpus), &Files::new())?);
    let pool = Pool { workers: 4, jobs_of_each: 5, job: Nanos::from_millis(10) };
    experiment.loads.push(LoadSpec::new("a pool of 4", pool));
    Ok(experiment.run()?.result)
}

fn main() -> Result<(), Error> {
    print!("{}", lab::report::text::run(&run(2)?, lab::report::text::Rows::All));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::schema::{self, TaskResult};

    /// 200 ms of work: on one CPU it takes that long, on four a quarter of it.
    #[test]
    fn the_pool_ends_with_its_last_job() {
        for (cpus, least_ms) in [(1, 200), (4, 50)] {
            let result = run(cpus).expect("it runs");
            let LoadResult::Own(pool) = &result.loads[0] else { panic!("a load of our own") };
            assert_eq!((pool.figures[0].name.as_str(), pool.figures[0].value), ("jobs", 20), "{cpus} CPUs");
            let took_ms = result.engine.simulated_ns / 1_000_000;
            assert!((least_ms..least_ms * 11 / 10).contains(&took_ms), "{cpus} CPUs: {took_ms} ms");
            let under_rr = |task: &TaskResult| task.policy == schema::Policy::Rr && task.rt_priority == 10;
            assert!(result.tasks.iter().filter(|task| task.comm == "worker").all(under_rr));
        }
    }
}
