//! A program started and awaited.

use super::figures::{MIDDLE, Statistic};
use super::simulated::Doer;
use super::twin::{Ran, Told, Twin};
use crate::calibration::measure::Bench;
use machine::ForkKind;
use scheduler::CpuId;
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, TimeVar, Times};

const STARTS: usize = 100;

/// The program `true`, again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fork;

impl Twin for Fork {
    fn name(&self) -> &'static str {
        "fork"
    }

    fn about(&self) -> String {
        "the program true is started (vfork, exec) and awaited on CPU 0; how long that takes".to_owned()
    }

    fn statistics(&self) -> &'static [Statistic] {
        MIDDLE
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![CpuId(0)]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        Ok(Ran::did(bench.processes(STARTS)?))
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, .. } = told;
        let child = Doer::fair("true", CpuId(0)).task(Block::new().exec("true"))?;
        let took = recorder.samples(|now, times| Some(now - times[0]));
        let start = Block::new().mark(TimeVar(0)).fork(child, ForkKind::Vfork).wait_child().observe(took);
        Doer::fair("starts", CpuId(0)).ends(setup, Block::new().repeat(Times::Count(STARTS as u64), start))
    }
}
