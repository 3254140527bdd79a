//! A program of one's own as a load: one task that goes round in it.

use super::error::LoadError;
use super::progress::{Remaining, Tally};
use super::spawn::{program, spawn};
use super::{BuiltLoad, Length, Load, Results};
use crate::program::{Block, Template, Times};
use machine::Setup;
use schema::{Better, LoadResult, OwnResult};
use std::fmt;

/// A task that repeats a block. For more than that (several tasks, policies, figures of its own) implement
/// [`Load`].
pub struct OwnProgram {
    comm: String,
    length: Length,
    cycle: Box<dyn Fn() -> Block + Send + Sync>,
}

impl OwnProgram {
    /// `comm` is the command name of the task. The block is repeated for the `length`; where that is
    /// [`Length::Work`], its task goes through it once. `cycle` makes the block anew for each run, because
    /// what a block counts belongs to one run.
    pub fn new(
        comm: impl Into<String>,
        length: Length,
        cycle: impl Fn() -> Block + Send + Sync + 'static,
    ) -> OwnProgram {
        OwnProgram { comm: comm.into(), length, cycle: Box::new(cycle) }
    }
}

impl fmt::Debug for OwnProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnProgram")
            .field("comm", &self.comm)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Load for OwnProgram {
    fn length(&self) -> Length {
        self.length
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let (remaining, cycles) = (Remaining::new(1), Tally::default());
        let cycle = (self.cycle)().iteration().observe(cycles.clone());
        let times = match self.length {
            Length::Endless => Times::Forever,
            Length::Time(time) => Times::For(time),
            Length::Work => Times::Count(1),
        };
        let block = Block::new().repeat(times, cycle).observe(remaining.clone());
        let task = Template::new(self.comm.clone(), program(&self.comm, block)?);
        spawn(setup, &task);
        Ok(BuiltLoad::new(remaining, Task { comm: self.comm.clone(), cycles }))
    }
}

#[derive(Debug)]
struct Task {
    comm: String,
    cycles: Tally,
}

impl Results for Task {
    fn result(&self, load: String) -> LoadResult {
        let result = OwnResult::new(load, self.comm.clone());
        LoadResult::Own(result.count("cycles", Better::Higher, self.cycles.get()))
    }
}
