//! A small program with its twin in the simulation.

use super::figures::{Samples, Statistic};
use super::fork::Fork;
use super::hand_over::HandOver;
use super::hogs::Hogs;
use super::pipe::PingPong;
use super::simulated::Recorder;
use super::stalls::Stalls;
use super::timers::Timers;
use crate::calibration::host::{Host, Pair};
use crate::calibration::measure::Bench;
use machine::{Distance, Setup};
use scheduler::CpuId;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use workload::load::{LoadError, Remaining};

/// What runs here, and a load that does the same.
pub(super) trait Twin: Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// What it does, and what is measured, in sentences.
    fn about(&self) -> String;

    /// What is told of its samples.
    fn statistics(&self) -> &'static [Statistic];

    /// The CPUs that it takes, here and there.
    fn cpus(&self) -> Vec<CpuId>;

    /// Runs it once on this computer.
    ///
    /// # Errors
    /// What the system does not allow.
    fn here(&self, bench: &Bench<'_>) -> io::Result<Ran>;

    /// Puts its tasks into a simulation: they record samples, and count themselves off when they are done.
    ///
    /// # Errors
    /// A program that misuses what programs are made of.
    fn there(&self, twin: Told<'_>) -> Result<Remaining, LoadError>;
}

/// What came of a run here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ran {
    /// It ran.
    Did {
        /// What it saw.
        samples: Samples,
        /// CPU time of what it does itself, which its twin cannot know, ns.
        own_ns: Option<u64>,
    },
    /// It cannot, and why.
    Not(String),
}

impl Ran {
    /// It saw these, ns, and does nothing of its own.
    pub(super) fn did(each_ns: Vec<u64>) -> Ran {
        Ran::Did { samples: Samples::of(each_ns), own_ns: None }
    }

    /// Its threads are real-time ones.
    pub(super) fn not_real_time() -> Ran {
        let why =
            "this process may not be real-time: run it as root, or with a limit for that (ulimit -r 95)";
        Ran::Not(why.to_owned())
    }
}

/// What the simulated twin is given.
#[derive(Debug)]
pub(super) struct Told<'a> {
    /// Where its tasks go.
    pub(super) setup: &'a mut Setup,
    /// Where its samples go.
    pub(super) recorder: &'a Recorder,
    /// What the one here measured of itself; 0 where that is nothing.
    pub(super) own_ns: u64,
    /// What a system call costs on the machine, ns.
    pub(super) syscall_ns: u64,
}

/// All of them, as far as this computer has the CPUs.
pub(super) fn all(host: &Host) -> Vec<Arc<dyn Twin>> {
    let first = CpuId(0);
    let alone = Pair { a: first, b: first };
    let nearest =
        |least: Distance| Distance::ALL.into_iter().filter(|d| *d >= least).find_map(|d| host.pair(d));
    let threads = nearest(Distance::Smt);
    // What passes between two CPUs is not to be slowed down by their sharing a core.
    let cores = nearest(Distance::SharedCache).or(threads);
    let mut twins: Vec<Arc<dyn Twin>> = vec![Arc::new(Timers::idle()), Arc::new(Timers::beside_a_hog())];
    for pair in [Some(alone), cores].into_iter().flatten() {
        twins.push(Arc::new(PingPong::on(pair)));
    }
    twins.push(Arc::new(Fork));
    for pair in [Some(alone), cores].into_iter().flatten() {
        twins.push(Arc::new(HandOver::on(pair)));
    }
    if let Some(pair) = threads {
        twins.push(Arc::new(Hogs::on(pair, host.distance(pair.a, pair.b))));
    }
    twins.push(Arc::new(Stalls));
    twins
}
