//! A byte there and back through two pipes.

use super::figures::{MIDDLE, Samples, Statistic};
use super::simulated::Doer;
use super::twin::{Ran, Told, Twin};
use crate::calibration::host::Pair;
use crate::calibration::measure::Bench;
use machine::ChannelSpec;
use scheduler::{CpuId, Nanos};
use std::io;
use workload::load::{LoadError, Remaining};
use workload::program::{Block, TimeVar, Times};

const ROUNDS: usize = 2000;

/// Two threads, each on a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct PingPong {
    pair: Pair,
}

impl PingPong {
    pub(super) fn on(pair: Pair) -> PingPong {
        PingPong { pair }
    }
}

impl Twin for PingPong {
    fn name(&self) -> &'static str {
        if self.pair.a == self.pair.b { "pipe, one CPU" } else { "pipe, two CPUs" }
    }

    fn about(&self) -> String {
        let Pair { a, b } = self.pair;
        let cpus = if a == b { format!("CPU {a}") } else { format!("CPUs {a} and {b}") };
        format!("as perf bench sched pipe: two threads on {cpus} send a byte back and forth; half a round")
    }

    fn statistics(&self) -> &'static [Statistic] {
        MIDDLE
    }

    fn cpus(&self) -> Vec<CpuId> {
        vec![self.pair.a, self.pair.b]
    }

    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran> {
        let own_ns = bench.pipe_alone()?.map(|figure| figure.quarter_ns);
        let rounds = bench.pipe_rounds(self.pair, ROUNDS)?.into_iter();
        Ok(Ran::Did { samples: Samples::of(rounds.map(|round| round.all_ns / 2).collect()), own_ns })
    }

    fn there(&self, told: Told<'_>) -> Result<Remaining, LoadError> {
        let Told { setup, recorder, own_ns, syscall_ns } = told;
        let Pair { a, b } = self.pair;
        // A byte that one thread writes and reads costs two calls, and what a pipe does in them.
        let call = Nanos((own_ns / 2).saturating_sub(syscall_ns));
        let pipe = ChannelSpec { send_cost: call, receive_cost: call, sync: true, ..ChannelSpec::new(1) };
        let (there, back) = (setup.channel(pipe), setup.channel(pipe));
        let half = recorder.samples(|now, times| Some(Nanos((now - times[0]).0 / 2)));
        let round = Block::new().mark(TimeVar(0)).send(there).receive(back).observe(half);
        let answers = Block::new().receive(there).send(back);
        let rounds = Times::Count(ROUNDS as u64);
        Doer::fair("pong", b).starts(setup, Block::new().repeat(rounds.clone(), answers))?;
        Doer::fair("ping", a).ends(setup, Block::new().repeat(rounds, round))
    }
}
