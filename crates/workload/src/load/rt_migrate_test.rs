//! rt-migrate-test of rt-tests: whether the highest real-time tasks run at once, wherever there is a CPU.
//!
//! On N CPUs N + 1 tasks of rising priority wait at a barrier. Main, above all of them, releases them
//! together, and each says how late it began; then it spins by the clock, 20 ms. So the N highest should
//! begin at once, and the lowest when the first of them is done. Main sleeps while they run and again before
//! the next interval: 50 intervals took 10.05 s where it was recorded.
//!
//! An interval is passed if none of the N highest began later than `-m` allows.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::{Remaining, Tally};
use super::spawn::{program, rt_priority, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::latency::LatencyRecorder;
use crate::program::{Block, Observer, Template, Times};
use crate::units::{micros_above_zero, millis, millis_above_zero};
use machine::{BarrierId, Env, Setup};
use scheduler::{Nanos, Policy};
use schema::{Better, LoadResult, OwnResult};
use std::cell::Cell;
use std::rc::Rc;

const NAME: &str = "rt-migrate-test";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Real-time tasks, one more than CPUs, released together; counts when a high one began late.",
    ends: "After -l intervals (50).",
    source: "rt-migrate-test of rt-tests 2.4: its manual, and a recorded run (native-6.18/rtmigrate)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Intervals (50).
    #[arg(
        short = 'l',
        long,
        value_name = "NUM",
        default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    loops: u64,
    /// How late the highest tasks may begin, microseconds without a unit (1000).
    #[arg(short = 'm', long, value_name = "TIME", default_value = "1000", value_parser = micros_above_zero)]
    maxerr: Nanos,
    /// Priority of the lowest task (2).
    #[arg(short = 'p', long, value_name = "PRIO", default_value_t = 2)]
    prio: u8,
    /// How long each task spins, milliseconds without a unit (20).
    #[arg(short = 'r', long, value_name = "TIME", default_value = "20", value_parser = millis_above_zero)]
    run_time: Nanos,
    /// How long main sleeps while they run and before the next interval, milliseconds without a unit (100).
    #[arg(short = 's', long, value_name = "TIME", default_value = "100", value_parser = millis)]
    sleep_time: Nanos,
    /// Number of tasks (one more than CPUs).
    #[arg(value_name = "NR_TASKS", value_parser = clap::value_parser!(u32).range(1..=512))]
    tasks: Option<u32>,
}

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    Ok(Box::new(RtMigrateTest { options: options(NAME, words)? }))
}

#[derive(Debug)]
struct RtMigrateTest {
    options: Options,
}

/// Where main and the tasks wait for each other.
struct Barriers {
    start: BarrierId,
    end: BarrierId,
}

impl RtMigrateTest {
    fn main_block(&self, barriers: &Barriers, course: &Course) -> Block {
        let Options { sleep_time, .. } = self.options;
        let releases = Block::new().observe(Released(course.clone())).barrier(barriers.start);
        let waits = releases.sleep(sleep_time).barrier(barriers.end);
        waits.observe(Judged(course.clone())).iteration().sleep(sleep_time)
    }

    fn task_block(&self, barriers: &Barriers, began: Began) -> Block {
        let begins = Block::new().barrier(barriers.start).observe(began);
        begins.spin(self.options.run_time).barrier(barriers.end).iteration()
    }
}

impl Load for RtMigrateTest {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let Options { loops, maxerr, prio, tasks, .. } = self.options;
        let cpus = setup.cpus() as u32;
        let tasks = tasks.unwrap_or(cpus + 1);
        if u32::from(prio) + tasks > 99 {
            let most = 99u32.saturating_sub(u32::from(prio));
            let message = format!(
                "{tasks} tasks from priority {prio} and main above them do not fit priorities 1 to 99: at most \
                 {most}"
            );
            return Err(usage(NAME, message));
        }
        let fifo = |what: &str, above: u32| {
            rt_priority(NAME, what, i64::from(prio) + i64::from(above)).map(Policy::Fifo)
        };
        let barriers = Barriers { start: setup.barrier(tasks + 1), end: setup.barrier(tasks + 1) };
        let (course, remaining) = (Course::default(), Remaining::new(tasks + 1));
        let [highest, lowest] = [LatencyRecorder::with_limit(maxerr), LatencyRecorder::new()];
        let add = |setup: &mut Setup, policy: Policy, pass: Block| {
            let block = Block::new().repeat(Times::Count(loops), pass).observe(remaining.clone());
            let mut template = Template::new(NAME, program(NAME, block)?);
            template.policy = policy;
            spawn(setup, &template);
            Ok::<(), LoadError>(())
        };
        add(setup, fifo("main", tasks)?, self.main_block(&barriers, &course))?;
        for number in 0..tasks {
            // Of more tasks than CPUs the lower ones have to wait.
            let must_run = number + cpus >= tasks;
            let delays = if must_run { &highest } else { &lowest };
            let limit = must_run.then_some(maxerr);
            let began = Began { course: course.clone(), delays: delays.clone(), limit };
            add(setup, fifo(&format!("task {number}"), number)?, self.task_block(&barriers, began))?;
        }
        Ok(BuiltLoad::new(remaining, Delays { course, highest, lowest }))
    }
}

/// What main and the tasks know of each other.
#[derive(Clone, Debug, Default)]
struct Course {
    /// When the interval under way began.
    released: Rc<Cell<Nanos>>,
    /// Whether one of the highest began late in it.
    is_late: Rc<Cell<bool>>,
    intervals: Tally,
    failed: Tally,
}

#[derive(Debug)]
struct Released(Course);

impl Observer for Released {
    fn observe(&self, env: &Env<'_>, _: &[Nanos]) {
        self.0.released.set(env.now);
        self.0.is_late.set(false);
    }
}

/// All are done with an interval.
#[derive(Debug)]
struct Judged(Course);

impl Observer for Judged {
    fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
        self.0.intervals.observe(env, times);
        if self.0.is_late.get() {
            self.0.failed.observe(env, times);
        }
    }
}

/// A task begins.
#[derive(Debug)]
struct Began {
    course: Course,
    delays: LatencyRecorder,
    /// How late it may be, where it is one of the highest.
    limit: Option<Nanos>,
}

impl Observer for Began {
    fn observe(&self, env: &Env<'_>, _: &[Nanos]) {
        let delay = env.now.saturating_sub(self.course.released.get());
        self.delays.record(delay);
        if self.limit.is_some_and(|limit| delay > limit) {
            self.course.is_late.set(true);
        }
    }
}

/// How late the tasks began: those that should have run at once, and the others.
#[derive(Debug)]
struct Delays {
    course: Course,
    highest: LatencyRecorder,
    lowest: LatencyRecorder,
}

impl Results for Delays {
    fn result(&self, load: String) -> LoadResult {
        let [high, low] = [&self.highest, &self.lowest].map(|delays| delays.stats().all().summary());
        let result = OwnResult::new(load, NAME)
            .count("intervals", Better::Neutral, self.course.intervals.get())
            .count("intervals failed", Better::Lower, self.course.failed.get())
            .nanos("longest delay of a high task", Better::Lower, high.max)
            .nanos("mean delay of a high task", Better::Lower, high.mean)
            .nanos("shortest delay of a low task", Better::Neutral, low.min)
            .nanos("longest delay of a low task", Better::Lower, low.max);
        LoadResult::Own(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(words: &[&str], cpus: usize) -> Result<Setup, LoadError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut setup = Setup::new(cpus);
        parse(&words)?.build(&mut setup)?;
        Ok(setup)
    }

    #[test]
    fn one_task_more_than_cpus_and_main_above_all() {
        let priorities = |words: &[&str], cpus| {
            let tasks = build(words, cpus).expect("a load").into_tasks();
            tasks.iter().map(|task| task.spec.policy).collect::<Vec<_>>()
        };
        let fifo = |prio: u8| Policy::Fifo(rt_priority(NAME, "it", i64::from(prio)).expect("a priority"));
        assert_eq!(priorities(&[], 2), [5, 2, 3, 4].map(fifo));
        assert_eq!(priorities(&["-p", "40", "2"], 8), [42, 40, 41].map(fifo));
        let error = build(&[], 98).expect_err("too many").to_string();
        assert!(error.contains("99 tasks from priority 2") && error.contains("at most 97"), "{error}");
    }
}
