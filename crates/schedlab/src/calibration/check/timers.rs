//! Timers as cyclictest's: how late a real-time thread's sleeps end.

use super::figures::{Statistic, WITH_TAIL};
use super::simulated::Doer;
use super::twin::{Ran, Told, Twin};
use crate::calibration::measure::Bench;
use crate::calibration::realtime::PRIORITY;
use crate::calibration::timers::fifo_sleeps;
use scheduler::{CpuId, Nanos};
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, Overrun, TimeVar, Times};

/// From one expiry to the next. No part of a tick's period, so that ticks meet the timers at every phase,
/// here and there.
const INTERVAL_NS: u64 = 1_013_000;
const SLEEPS: usize = 1000;

/// A thread that sleeps until absolute times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// A fair task spins on its CPU, which never idles then.
    beside_a_hog: bool,
}

impl Timers {
    /// On a CPU that idles as it likes.
    pub(super) fn idle() -> Timers {
        Timers { beside_a_hog: false }
    }

    /// On a CPU that has something else to do.
    pub(super) fn beside_a_hog() -> Timers {
        Timers { beside_a_hog: true }
    }
}

impl Twin for Timers {
    fn name(&self) -> &'static str {
        if self.beside_a_hog { "timers, busy CPU" } else { "timers, idle CPU" }
    }

    fn about(&self) -> String {
        let meanwhile = if self.beside_a_hog { "beside a fair one that spins" } else { "else idle" };
        format!(
            "as cyclictest -t1 -p{PRIORITY} -i{}: a SCHED_FIFO thread on CPU 0, {meanwhile}; how late its \
             sleeps end",
            INTERVAL_NS / 1000
        )
    }

    fn statistics(&self) -> &'static [Statistic] {
        WITH_TAIL
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![CpuId(0)]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        bench.pin(CpuId(0))?;
        let sleeps = || fifo_sleeps(INTERVAL_NS, SLEEPS);
        let late = if self.beside_a_hog { bench.beside_a_spinner(sleeps)? } else { sleeps()? };
        Ok(late.map_or_else(Ran::not_real_time, Ran::did))
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, .. } = told;
        let next = TimeVar(0);
        let interval = Nanos(INTERVAL_NS);
        let late = recorder.samples(|now, times| Some(now.saturating_sub(times[0])));
        let cycle = Block::new().sleep_until(next).observe(late).advance(next, interval, Overrun::Skip);
        let sleeps = Block::new().advance(next, interval, Overrun::CatchUp);
        let sleeps = sleeps.repeat(Times::Count(SLEEPS as u64), cycle);
        if self.beside_a_hog {
            let spins = Block::new().forever(Block::new().run(Nanos::from_millis(1)));
            Doer::fair("spins", CpuId(0)).starts(setup, spins)?;
        }
        Doer::fifo("sleeps", CpuId(0), PRIORITY).ends(setup, sleeps)
    }
}
