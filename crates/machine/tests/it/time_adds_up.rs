//! MI1 of machine.md 8.2: what happens on a CPU takes all of its time, and no more. The checker asks it of
//! all CPUs together (fair-class I11); here it is asked of each.

use crate::script::{fifo, ideal, run, script, us};
use machine::{FIRST_PID, IrqOff, Setup, Spread, Step};
use scheduler::{CpuId, CpuMask, Nanos};

const CPUS: usize = 4;

/// Tasks that sleep and compute, real-time and fair, each on a CPU, until the last one ends. What interrupts
/// and the host take while one runs is part of its time; no path of the kernel costs any.
#[test]
fn mi1_what_a_cpu_runs_and_idles_is_the_time_that_passed() {
    let mut spec = ideal(CPUS);
    spec.noise.irq_off.push(IrqOff {
        what: "host".into(),
        per_minute_per_cpu: 60_000,
        length: Spread::Exponential { min: us(1), mean: us(40) },
        device: false,
    });
    let mut setup = Setup::new(CPUS);
    for n in 0..3 * CPUS {
        let steps = (0..300 + 20 * n as u64).map(|k| match k % 2 {
            0 => Step::Compute(us(50 + 97 * k % 300)),
            _ => Step::SleepFor(us(500 + 61 * k % 900)),
        });
        let (mut task, _) = script("task", steps);
        task.cpus = Some(CpuMask::single(CpuId((n % CPUS) as u16)));
        if n % 3 == 0 {
            task.policy = fifo(10);
        }
        setup.spawn(Nanos::ZERO, task);
    }
    let outcome = run(spec, setup);
    for cpu in 0..CPUS {
        let here = outcome.tasks.iter().filter(|t| (t.pid.0 - FIRST_PID) as usize % CPUS == cpu);
        let ran: Nanos = here.map(|t| t.counters.sum_exec_runtime).sum();
        let idle = Nanos(outcome.cpus[cpu].idle_ns);
        assert!(ran > us(30_000) && idle > us(30_000), "CPU {cpu} runs {ran} and idles {idle}");
        assert_eq!(ran + idle, outcome.simulated);
    }
}
