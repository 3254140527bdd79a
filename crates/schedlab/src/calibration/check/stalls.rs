//! What a spinning thread loses: ticks, other interrupts, the host of a virtual machine.

use super::figures::{Samples, Statistic};
use super::simulated::Doer;
use super::twin::{Ran, Told, Twin};
use crate::calibration::gaps::{MachinesGaps, gaps};
use crate::calibration::measure::Bench;
use scheduler::{CpuId, Nanos};
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, TimeVar, Times};

const WATCHED_NS: u64 = 1_000_000_000;
/// Shorter ones are the loop that reads the clock.
const LEAST_NS: u64 = 1000;
/// The simulated thread looks at the clock so often: what stalls it between two looks counts as one.
const PIECE_NS: u64 = 20_000;

/// A thread that does nothing but look at the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stalls;

impl Twin for Stalls {
    fn name(&self) -> &'static str {
        "stalls"
    }

    fn about(&self) -> String {
        format!(
            "a fair thread on CPU 0 watches the clock; gaps of {} us and more, without those of other tasks",
            LEAST_NS / 1000
        )
    }

    fn statistics(&self) -> &'static [Statistic] {
        const ALL: &[Statistic] = &[
            Statistic::PerSecond,
            Statistic::Lost,
            Statistic::Quantile(50),
            Statistic::Quantile(99),
            Statistic::Longest,
        ];
        ALL
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![CpuId(0)]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        bench.pin(CpuId(0))?;
        // What other tasks take here has no part in the simulation.
        let MachinesGaps { gaps, watched_ns, .. } =
            MachinesGaps::of(&gaps(WATCHED_NS, LEAST_NS)?, WATCHED_NS);
        let each_ns = gaps.iter().map(|gap| gap.length_ns).collect();
        Ok(Ran::Did { samples: Samples { each_ns, watched_ns }, own_ns: None })
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, .. } = told;
        let gap = recorder.samples(|now, times| {
            let more = (now - times[0]).saturating_sub(Nanos(PIECE_NS));
            (more >= Nanos(LEAST_NS)).then_some(more)
        });
        let piece = Block::new().mark(TimeVar(0)).run(Nanos(PIECE_NS)).observe(gap);
        Doer::fair("watches", CpuId(0)).ends(setup, Block::new().repeat(Times::For(Nanos(WATCHED_NS)), piece))
    }
}
