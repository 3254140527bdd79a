//! The background kernel threads that a machine file describes ([`crate::KthreadNoise`]).
//!
//! A thread that something else wakes sleeps at a *door*: a channel of one message, so that a thread that is
//! already to run is not woken again, as a softirq that is already raised.

use crate::behaviour::{Behaviour, Env, TaskSpec};
use crate::objects::{ChannelId, ChannelSpec};
use crate::rng::{Purpose, Rng};
use crate::setup::{Setup, Spawn};
use crate::spec::{KthreadNoise, MachineSpec, Spread, WakeEvent, Woken};
use crate::step::Step;
use scheduler::{CpuId, CpuMask, Nanos};
use std::rc::Rc;

/// The threads of a machine, and what wakes them.
pub(crate) struct Kthreads {
    pub spawns: Vec<Spawn>,
    pub wakes: KthreadWakes,
}

/// The threads that wake by what happens on a CPU.
#[derive(Debug)]
pub(crate) struct KthreadWakes {
    /// By a tick.
    pub tick: Vec<Wake>,
    /// By the end of a stretch with interrupts off, by source.
    pub irq_off: Vec<Vec<Wake>>,
}

impl KthreadWakes {
    /// Whether no thread is woken by a stretch with interrupts off.
    pub fn none_by_irq_off(&self) -> bool {
        self.irq_off.iter().all(Vec::is_empty)
    }
}

/// A thread (or one for each CPU) that something wakes, in so many percent of the cases.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    /// One for each CPU, or one.
    doors: Rc<[Option<ChannelId>]>,
    percent: u32,
}

impl Wake {
    /// The door to knock at from `cpu`, if it is to be done this time. Certainty draws nothing from `rng`.
    pub fn draw(&self, cpu: CpuId, rng: &mut Rng) -> Option<ChannelId> {
        let wakes = self.percent == 100 || rng.below(100) < u64::from(self.percent);
        let door = self.doors.get(cpu.index()).or_else(|| self.doors.first());
        door.copied().flatten().filter(|_| wakes)
    }
}

/// One task for each thread. A thread with a period starts at a random moment of the first one; others sleep.
pub(crate) fn kthreads(spec: &MachineSpec, setup: &mut Setup, seed: u64) -> Kthreads {
    let noise = &spec.noise;
    let brought = setup.kernel_threads_of;
    let threads = &noise.kthreads[..];
    // Those of the first CPUs may be the load's.
    let first = |thread: &KthreadNoise| if thread.per_cpu { brought } else { brought.min(1) };
    let count = |thread: &KthreadNoise| if thread.per_cpu { spec.topology.cpus } else { 1 };
    let mut starts: Vec<Vec<Option<Start>>> = Vec::new();
    for thread in threads {
        let mut start = || match thread.woken {
            Woken::Every(period) => Start::Timer(period),
            Woken::By { .. } => Start::Door(setup.channel(DOOR)),
        };
        starts.push((0..count(thread)).map(|n| (n >= first(thread)).then(&mut start)).collect());
    }
    let woken_by = |by: WakeEvent| -> Vec<Wake> {
        let wake = |(thread, starts): (&KthreadNoise, &Vec<Option<Start>>)| match thread.woken {
            Woken::By { event, percent } if event == by => {
                let door = |start: &Option<Start>| start.as_ref().and_then(Start::door);
                Some(Wake { doors: starts.iter().map(door).collect(), percent })
            }
            Woken::By { .. } | Woken::Every(_) => None,
        };
        threads.iter().zip(&starts).filter_map(wake).collect()
    };
    // Those that are bound to no CPU leave such CPUs alone.
    let all = CpuMask::first_n(spec.topology.cpus);
    let unbound = (!setup.nohz_full.is_empty()).then(|| all.without(&setup.nohz_full.or(&setup.isolcpus)));
    let unbound = unbound.filter(|cpus| !cpus.is_empty());
    let mut spawns = Vec::new();
    for (number, (thread, starts)) in threads.iter().zip(&starts).enumerate() {
        let mut rng = Rng::keyed(seed, Purpose::Kthread, number as u64);
        let raises = woken_by(WakeEvent::Kthread(number));
        for (index, start) in starts.iter().enumerate() {
            let Some(start) = start else { continue };
            let behaviour =
                Kthread { start: *start, run: thread.run, raises: raises.clone(), next: Next::Sleep };
            let cpu = thread.per_cpu.then_some(CpuId(index as u16));
            let cpus = cpu.map(CpuMask::single).or(unbound);
            spawns.push(kthread(thread, cpu, cpus, behaviour, &mut rng));
        }
    }
    let irq_off = (0..noise.irq_off.len()).map(|source| woken_by(WakeEvent::IrqOff(source))).collect();
    Kthreads { spawns, wakes: KthreadWakes { tick: woken_by(WakeEvent::Tick), irq_off } }
}

const DOOR: ChannelSpec = ChannelSpec::new(1);

fn kthread(
    noise: &KthreadNoise,
    cpu: Option<CpuId>,
    cpus: Option<CpuMask>,
    behaviour: Kthread,
    rng: &mut Rng,
) -> Spawn {
    let comm = cpu.map_or_else(|| noise.comm.clone(), |c| format!("{}/{c}", noise.comm));
    let at = match behaviour.start {
        Start::Timer(period) => {
            let first_period = period.draw(rng);
            rng.between(Nanos::ZERO, first_period)
        }
        Start::Door(_) => Nanos::ZERO,
    };
    let mut spec = TaskSpec::new(comm, behaviour);
    spec.kernel_thread = true;
    spec.policy = noise.policy;
    spec.nice = noise.nice;
    spec.cpus = cpus;
    Spawn { at, cpu, thread: None, spec }
}

#[derive(Debug)]
struct Kthread {
    start: Start,
    run: Spread,
    raises: Vec<Wake>,
    next: Next,
}

/// What it sleeps for.
#[derive(Clone, Copy, Debug)]
enum Start {
    Timer(Spread),
    Door(ChannelId),
}

impl Start {
    fn door(&self) -> Option<ChannelId> {
        match self {
            Start::Timer(_) => None,
            Start::Door(door) => Some(*door),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Sleep,
    Run,
    /// Knock at the doors of the threads it wakes, from this one on.
    Raise(usize),
}

impl Behaviour for Kthread {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        loop {
            match self.next {
                Next::Sleep => {
                    self.next = Next::Run;
                    return match self.start {
                        Start::Timer(period) => Step::SleepFor(period.draw(env.rng)),
                        Start::Door(door) => Step::Receive(door),
                    };
                }
                Next::Run => {
                    self.next = Next::Raise(0);
                    return Step::KernelCompute(self.run.draw(env.rng));
                }
                Next::Raise(index) => match self.raises.get(index) {
                    None => self.next = Next::Sleep,
                    Some(wake) => {
                        self.next = Next::Raise(index + 1);
                        if let Some(door) = wake.draw(env.cpu, env.rng) {
                            return Step::TrySend(door);
                        }
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IrqOff, Machine, Outcome, RunOptions};
    use scheduler::registry::Config;
    use scheduler::{Nice, Policy, Reason, RtPriority, Topology};

    #[derive(Debug)]
    struct Hog;

    impl Behaviour for Hog {
        fn next(&mut self, _: &mut Env<'_>) -> Step {
            Step::Compute(Nanos::from_secs(1))
        }
    }

    const SOFTIRQS: [(&str, bool, Woken); 2] =
        [("timer", true, by(WakeEvent::Tick, 100)), ("rcu", true, by(WakeEvent::Tick, 50))];

    /// A hog on each of two CPUs, for a second, beside these threads at FIFO 50.
    fn run(settings: &[&str], irqs_per_second: Option<u32>, threads: &[(&str, bool, Woken)]) -> Outcome {
        let mut spec = MachineSpec::ideal(Topology::flat(2));
        spec.noise.irq_off.extend(irqs_per_second.map(|per_second| IrqOff {
            what: "disk".into(),
            per_minute_per_cpu: 60 * per_second,
            length: Spread::Constant(Nanos(2_000)),
            device: false,
        }));
        spec.noise.kthreads.extend(threads.iter().map(|(comm, per_cpu, woken)| KthreadNoise {
            comm: (*comm).into(),
            policy: RtPriority::new(50).map_or(Policy::Normal, Policy::Fifo),
            nice: Nice::default(),
            per_cpu: *per_cpu,
            woken: *woken,
            run: Spread::Constant(Nanos(20_000)),
        }));
        let mut setup = Setup::new(2);
        for _ in 0..2 {
            setup.spawn(Nanos::ZERO, TaskSpec::new("hog", Hog));
        }
        let config = Config::of_profile("2.6.23-rt5").expect("a known profile");
        settings.iter().for_each(|s| config.set(s).expect("a setting"));
        let options = RunOptions { check: true, ..RunOptions::default() };
        Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a run without error")
    }

    /// How often a thread ran: each time it sleeps again.
    fn rounds(outcome: &Outcome, comm: &str) -> u64 {
        let tasks = outcome.tasks.iter().filter(|t| t.comm.starts_with(comm));
        tasks.map(|t| t.counters.nr_voluntary_switches.saturating_sub(1)).sum()
    }

    const fn by(event: WakeEvent, percent: u32) -> Woken {
        Woken::By { event, percent }
    }

    #[test]
    fn each_tick_wakes_the_threads_of_its_cpu() {
        let outcome = run(&[], None, &SOFTIRQS);
        let (timer, rcu) = (rounds(&outcome, "timer"), rounds(&outcome, "rcu"));
        assert!((1990..=2000).contains(&timer), "1000 ticks on each of two CPUs: {timer}");
        assert!((900..=1100).contains(&rcu), "half of them: {rcu}");
    }

    #[test]
    fn an_interrupt_wakes_its_thread_and_that_the_softirq_of_its_cpu() {
        let threads = [
            ("irq-disk", false, by(WakeEvent::IrqOff(0), 100)),
            ("block", true, by(WakeEvent::Kthread(0), 100)),
        ];
        let outcome = run(&[], Some(500), &threads);
        let (irq, block) = (rounds(&outcome, "irq-disk"), rounds(&outcome, "block"));
        // An interrupt that comes while the thread is still to run wakes nobody.
        assert!((800..=1100).contains(&irq), "{irq}");
        assert!(block <= irq && block + 100 > irq, "{block} of {irq}");
    }

    #[test]
    fn a_load_that_brings_kernel_threads_has_those_of_its_cpus_alone() {
        let mut spec = MachineSpec::ideal(Topology::flat(3));
        spec.noise.kthreads.push(KthreadNoise {
            comm: "kworker".into(),
            policy: Policy::Normal,
            nice: Nice::default(),
            per_cpu: true,
            woken: Woken::Every(Spread::Constant(Nanos(1_000_000))),
            run: Spread::Constant(Nanos(20_000)),
        });
        let one = KthreadNoise { per_cpu: false, ..spec.noise.kthreads[0].clone() };
        spec.noise.kthreads.push(one);
        let names = |brings: usize| -> Vec<String> {
            let mut setup = Setup::new(3);
            setup.bring_kernel_threads(brings);
            kthreads(&spec, &mut setup, 1).spawns.iter().map(|spawn| spawn.spec.comm.to_string()).collect()
        };
        assert_eq!(names(0), ["kworker/0", "kworker/1", "kworker/2", "kworker"]);
        assert_eq!(names(1), ["kworker/1", "kworker/2"]);
        assert_eq!(names(3), Vec::<String>::new());
    }

    #[test]
    fn threads_woken_together_overload_their_cpu_by_depth_and_others_pull_in_vain() {
        // Built for 255 CPUs, CPU 1 ticks 2 µs after CPU 0, whose threads run for 20 µs; for 2, 250 µs
        // (rt-class 1.6).
        let futile = |settings: &[&str]| {
            let outcome = run(settings, None, &SOFTIRQS);
            outcome.decisions.iter().find(|d| d.reason == Reason::PullNothing).map_or(0, |d| d.count)
        };
        assert_eq!(futile(&[]), 0);
        let herd = futile(&["nr_cpus=255"]);
        assert!(herd > 100, "{herd}");
        assert_eq!(futile(&["nr_cpus=255", "overload_rule=migratory"]), 0);
    }
}
