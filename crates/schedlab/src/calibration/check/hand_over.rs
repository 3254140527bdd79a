//! A mutex with priority inheritance that passes from its owner to one who waits for it.

use super::figures::{MIDDLE, Statistic};
use super::simulated::{Doer, Moment};
use super::twin::{Ran, Told, Twin};
use crate::calibration::hand_over::{HELD_NS, OWNER, WAITER};
use crate::calibration::host::Pair;
use crate::calibration::measure::Bench;
use machine::{ChannelSpec, MutexKind};
use scheduler::{CpuId, Nanos};
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, Times};

const ROUNDS: usize = 500;

/// Two threads, each on a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandOver {
    pair: Pair,
}

impl HandOver {
    pub(super) fn on(pair: Pair) -> HandOver {
        HandOver { pair }
    }
}

impl Twin for HandOver {
    fn name(&self) -> &'static str {
        if self.pair.a == self.pair.b { "PI hand-over, one CPU" } else { "PI hand-over, two CPUs" }
    }

    fn about(&self) -> String {
        let Pair { a, b } = self.pair;
        let of_owner = if a == b { String::new() } else { format!(" on CPU {a}") };
        format!(
            "a SCHED_FIFO thread of priority {WAITER} on CPU {b} wants a PI futex that one of priority \
             {OWNER}{of_owner} has; from the unlock to the other's having it"
        )
    }

    fn statistics(&self) -> &'static [Statistic] {
        MIDDLE
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![self.pair.a, self.pair.b]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        Ok(bench.hand_overs(self.pair, ROUNDS)?.map_or_else(Ran::not_real_time, Ran::did))
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, .. } = told;
        let Pair { a, b } = self.pair;
        let mutex = setup.mutex("passed on", MutexKind::Pi);
        let (asks, answers) = (setup.channel(ChannelSpec::new(1)), setup.channel(ChannelSpec::new(1)));
        let let_go = Moment::default();
        let since = let_go.clone();
        let passed = recorder.samples(move |now, _| Some(now - since.get()));
        let owns = Block::new().lock(mutex).send(asks).run(Nanos(HELD_NS)).observe(let_go.taken());
        let owns = owns.unlock(mutex).receive(answers);
        let waits = Block::new().receive(asks).lock(mutex).observe(passed).unlock(mutex).send(answers);
        let rounds = Times::Count(ROUNDS as u64);
        Doer::fifo("waits", b, WAITER).starts(setup, Block::new().repeat(rounds.clone(), waits))?;
        Doer::fifo("owns", a, OWNER).ends(setup, Block::new().repeat(rounds, owns))
    }
}
