//! Options and structure of each load, walked without a machine.

mod cyclictest;
mod databases;
mod extremes;
mod fork_storm;
mod hackbench;
mod keyrepeat;
mod make;
mod others;
mod rt_migrate;
mod schbench;
mod usage;
mod wakeup_latency;

use super::*;
use crate::script::Script;
use machine::{ForkKind, Spawn, Step};
use scheduler::{CpuMask, Nice, Policy, RtPriority};

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn fifo(priority: u8) -> Policy {
    Policy::Fifo(RtPriority::new(priority).unwrap())
}

/// A load built for a machine of so many CPUs: its tasks and its results.
struct Built {
    load: BuiltLoad,
    tasks: Vec<Spawn>,
}

fn build(command: &str, cpus: usize) -> Built {
    let mut setup = Setup::new(cpus);
    let load = parse(command).and_then(|load| load.build(&mut setup)).unwrap_or_else(|e| panic!("{e}"));
    Built { load, tasks: setup.into_tasks() }
}

impl Built {
    fn task(&mut self, number: usize) -> Script {
        Script::boxed(std::mem::replace(&mut self.tasks[number].spec.behaviour, Box::new(Gone)))
    }
}

/// Stands where a walked behaviour was.
#[derive(Debug)]
struct Gone;

impl machine::Behaviour for Gone {
    fn next(&mut self, _: &mut machine::Env<'_>) -> Step {
        Step::Exit
    }
}

/// What the command is refused with, on a machine of four CPUs.
fn refusal(command: &str) -> String {
    match parse(command).and_then(|load| load.build(&mut Setup::new(4))) {
        Ok(_) => panic!("{command} was accepted"),
        Err(error) => error.to_string(),
    }
}

fn length(command: &str) -> Length {
    parse(command).unwrap().length()
}
