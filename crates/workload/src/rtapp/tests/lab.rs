//! A machine for tests: a CPU for every thread, no costs, first come first served.

use crate::rtapp::build::{shared, specs};
use crate::rtapp::log::RtAppThread;
use crate::rtapp::main_thread::main_thread;
use crate::rtapp::shared::Shared;
use crate::rtapp::{RtAppDialect, parse};
use machine::{Behaviour, Env, Purpose, Rng, Setup, Step, TaskCounters, TaskSpec};
use scheduler::{CpuId, Nanos, Pid, TaskId};
use std::collections::BTreeMap;
use std::rc::Rc;

pub struct Lab {
    shared: Rc<Shared>,
    parties: Vec<u32>,
    threads: Vec<LabThread>,
    /// Owner and waiters of each mutex.
    mutexes: BTreeMap<u32, Mutex>,
    channels: BTreeMap<u32, Channel>,
    /// Who waits at each barrier.
    barriers: BTreeMap<u32, Vec<usize>>,
    /// `time name step` of everything that happens, time in µs.
    pub journal: Vec<String>,
    /// Extra time that the next computation of a thread takes, as if it were preempted.
    pub disturbances: Vec<Nanos>,
}

struct LabThread {
    name: String,
    behaviour: Box<dyn Behaviour>,
    /// When its step is over; `None` while it is blocked or after it has ended.
    ready_at: Option<Nanos>,
    ended: bool,
    counters: TaskCounters,
    iterations: u64,
    rng: Rng,
}

#[derive(Default)]
struct Mutex {
    owner: Option<usize>,
    waiters: Vec<usize>,
}

#[derive(Default)]
struct Channel {
    messages: u32,
    readers: Vec<usize>,
}

/// What the load has measured.
pub struct Measured {
    pub threads: Vec<RtAppThread>,
    pub fork_limit: Option<String>,
}

impl Lab {
    /// Four CPUs as far as `cpus` goes.
    pub fn new(text: &str) -> Lab {
        Lab::with(text, RtAppDialect::Workgen)
    }

    pub fn with(text: &str, dialect: RtAppDialect) -> Lab {
        let app = parse(text, "lab.json", dialect).unwrap_or_else(|e| panic!("{e}"));
        let mut setup = Setup::new(4);
        let shared = shared(&app, &mut setup).unwrap_or_else(|e| panic!("{e}"));
        let mut specs = specs(&shared, &mut setup);
        specs.extend(main_thread(&shared));
        let mut lab = Lab {
            parties: shared.app.resources.parties.clone(),
            shared,
            threads: Vec::new(),
            mutexes: BTreeMap::new(),
            channels: BTreeMap::new(),
            barriers: BTreeMap::new(),
            journal: Vec::new(),
            disturbances: Vec::new(),
        };
        for spec in specs {
            lab.spawn(spec, Nanos::ZERO);
        }
        lab
    }

    fn spawn(&mut self, spec: TaskSpec, at: Nanos) {
        self.threads.push(LabThread {
            name: spec.comm,
            behaviour: spec.behaviour,
            ready_at: Some(at),
            ended: false,
            counters: TaskCounters::default(),
            iterations: 0,
            rng: Rng::keyed(1, Purpose::Task, 0),
        });
    }

    /// Runs until the time, or until nothing can happen any more, and says what the load measured.
    pub fn run(&mut self, until: Nanos) -> Measured {
        loop {
            let ready = |(number, thread): (usize, &LabThread)| thread.ready_at.map(|at| (at, number));
            let Some((now, number)) = self.threads.iter().enumerate().filter_map(ready).min() else { break };
            if now > until {
                break;
            }
            self.step(number, now);
        }
        let threads = self.shared.state.borrow().log.clone();
        Measured { threads, fork_limit: self.shared.fork_limit().map(str::to_owned) }
    }

    fn step(&mut self, number: usize, now: Nanos) {
        let thread = &mut self.threads[number];
        let step = thread.behaviour.next(&mut Env {
            now,
            cpu: CpuId(0),
            task: TaskId(number as u32),
            pid: Pid(1000 + number as i32),
            last_child: None,
            rng: &mut thread.rng,
            iterations: &mut thread.iterations,
            traced: true,
            counters: thread.counters,
        });
        self.journal.push(format!("{} {} {step:?}", now.0 / 1_000, thread.name));
        thread.ready_at = Some(now);
        match step {
            Step::Compute(time) | Step::KernelCompute(time) => {
                thread.counters.sum_exec_runtime += time;
                thread.ready_at = Some(now + time + self.disturbances.pop().unwrap_or_default());
            }
            Step::SpinUntil(time) => {
                let preempted = self.disturbances.pop().unwrap_or_default();
                let spun = time.max(now).saturating_sub(now);
                thread.counters.sum_exec_runtime += spun.saturating_sub(preempted);
                thread.ready_at = Some(time.max(now));
            }
            Step::SleepFor(time) => thread.ready_at = Some(now + time),
            Step::SleepUntil(time) => thread.ready_at = Some(now.max(time)),
            Step::Lock(mutex) => {
                let mutex = self.mutexes.entry(mutex.0).or_default();
                assert_ne!(mutex.owner, Some(number), "deadlock with itself");
                if mutex.owner.is_some() {
                    mutex.waiters.push(number);
                    thread.ready_at = None;
                } else {
                    mutex.owner = Some(number);
                }
            }
            Step::Unlock(mutex) => {
                let mutex = self.mutexes.entry(mutex.0).or_default();
                assert_eq!(mutex.owner, Some(number), "unlocks what it does not hold");
                mutex.owner = if mutex.waiters.is_empty() { None } else { Some(mutex.waiters.remove(0)) };
                if let Some(next) = mutex.owner {
                    self.threads[next].ready_at = Some(now);
                }
            }
            Step::Send(channel) => {
                let channel = self.channels.entry(channel.0).or_default();
                if channel.readers.is_empty() {
                    channel.messages += 1;
                } else {
                    let reader = channel.readers.remove(0);
                    self.threads[reader].ready_at = Some(now);
                }
            }
            Step::Receive(channel) => {
                let channel = self.channels.entry(channel.0).or_default();
                if channel.messages > 0 {
                    channel.messages -= 1;
                } else {
                    channel.readers.push(number);
                    thread.ready_at = None;
                }
            }
            Step::BarrierWait(barrier) => {
                let waiting = self.barriers.entry(barrier.0).or_default();
                waiting.push(number);
                thread.ready_at = None;
                if waiting.len() == self.parties[barrier.0 as usize] as usize {
                    for waiter in std::mem::take(waiting) {
                        self.threads[waiter].ready_at = Some(now);
                    }
                }
            }
            Step::Fork { child, .. } => self.spawn(*child, now),
            Step::Exit => {
                thread.ready_at = None;
                thread.ended = true;
            }
            Step::Yield | Step::SetPolicy { .. } | Step::SetNice { .. } | Step::SetAffinity { .. } => {}
            Step::Marker(_) => {}
            other => panic!("rt-app does not ask for {other:?}"),
        }
    }

    /// The journal's lines of one thread, without its name.
    pub fn steps_of(&self, name: &str) -> Vec<String> {
        self.journal
            .iter()
            .filter_map(|line| {
                let mut words = line.splitn(3, ' ');
                let (time, thread, step) = (words.next()?, words.next()?, words.next()?);
                (thread == name).then(|| format!("{time} {step}"))
            })
            .collect()
    }

    /// Whether the load says that it is over.
    pub fn is_finished(&self) -> bool {
        self.shared.remaining.is_zero()
    }

    pub fn has_ended(&self, name: &str) -> bool {
        self.threads.iter().any(|thread| thread.name == name && thread.ended)
    }
}
