//! The background kernel threads that a machine file describes ([`crate::KthreadNoise`]).

use crate::behaviour::{Behaviour, Env, Step, TaskSpec};
use crate::rng::{Purpose, Rng};
use crate::setup::Spawn;
use crate::spec::{KthreadNoise, MachineSpec, Spread};
use scheduler::{CpuId, CpuMask, Nanos};

/// One task for each thread, starting at a random moment of its first period.
pub(crate) fn kthreads(spec: &MachineSpec, seed: u64) -> Vec<Spawn> {
    let mut spawns = Vec::new();
    for (number, noise) in spec.noise.kthreads.iter().enumerate() {
        let mut rng = Rng::keyed(seed, Purpose::Kthread, number as u64);
        let cpus = if noise.per_cpu { spec.topology.cpus } else { 1 };
        for cpu in 0..cpus {
            let cpu = noise.per_cpu.then_some(CpuId(cpu as u16));
            spawns.push(kthread(noise, cpu, &mut rng));
        }
    }
    spawns
}

fn kthread(noise: &KthreadNoise, cpu: Option<CpuId>, rng: &mut Rng) -> Spawn {
    let comm = cpu.map_or_else(|| noise.comm.clone(), |c| format!("{}/{c}", noise.comm));
    let mut spec = TaskSpec::new(comm, Kthread { period: noise.period, run: noise.run, next: Next::Sleep });
    spec.policy = noise.policy;
    spec.nice = noise.nice;
    spec.cpus = cpu.map(CpuMask::single);
    let first_period = noise.period.draw(rng);
    Spawn { at: rng.between(Nanos::ZERO, first_period), cpu, spec }
}

#[derive(Debug)]
struct Kthread {
    period: Spread,
    run: Spread,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Sleep,
    Run,
}

impl Behaviour for Kthread {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        match self.next {
            Next::Sleep => {
                self.next = Next::Run;
                Step::SleepFor(self.period.draw(env.rng))
            }
            Next::Run => {
                self.next = Next::Sleep;
                Step::KernelCompute(self.run.draw(env.rng))
            }
        }
    }
}
