//! Two hogs beside each other.

use super::figures::{MIDDLE, Samples, Statistic};
use super::simulated::Doer;
use super::twin::{Ran, Told, Twin};
use crate::calibration::figure::Figure;
use crate::calibration::host::Pair;
use crate::calibration::measure::Bench;
use crate::calibration::siblings::Pieces;
use machine::Distance;
use scheduler::{CpuId, Nanos};
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, TimeVar, Times};

/// Pieces of work, of some 50 us each.
const PIECES: usize = 2000;

/// A thread that computes beside another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hogs {
    pair: Pair,
    distance: Distance,
}

impl Hogs {
    pub(super) fn on(pair: Pair, distance: Distance) -> Hogs {
        Hogs { pair, distance }
    }
}

impl Twin for Hogs {
    fn name(&self) -> &'static str {
        if self.distance == Distance::Smt { "hogs, one core" } else { "hogs, two cores" }
    }

    fn about(&self) -> String {
        let Pair { a, b } = self.pair;
        let threads = match self.distance {
            Distance::Smt => "hardware threads of a core",
            _ => "no hardware threads of a core are to be seen",
        };
        format!("integer work on CPU {a} beside the same on CPU {b} ({threads}); a piece of it")
    }

    fn statistics(&self) -> &'static [Statistic] {
        MIDDLE
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![self.pair.a, self.pair.b]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        let Pieces { alone_ns, together_ns } = bench.pieces(self.pair, PIECES)?;
        let own_ns = Figure::of(alone_ns).map(|figure| figure.quarter_ns);
        Ok(Ran::Did { samples: Samples::of(together_ns), own_ns })
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, own_ns, .. } = told;
        let Pair { a, b } = self.pair;
        let piece = Nanos(own_ns.max(1));
        let took = recorder.samples(|now, times| Some(now - times[0]));
        let work = Block::new().mark(TimeVar(0)).run(piece).observe(took);
        Doer::fair("beside", b).starts(setup, Block::new().forever(Block::new().run(piece)))?;
        Doer::fair("works", a).ends(setup, Block::new().repeat(Times::Count(PIECES as u64), work))
    }
}
