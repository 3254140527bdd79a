//! Measures this machine and describes it as a machine file.
//!
//! What a program can time from outside are composites: a hop through a pipe, a timer's wakeup. The primitive
//! costs of a machine file are taken from them by differences, and their origins say which. What cannot be
//! told from outside is taken over from the built-in laptop, and marked as assumed.

mod bandwidth;
mod check;
mod cold;
mod composites;
mod distances;
mod figure;
mod file;
mod gaps;
mod hand_over;
mod host;
mod host_stalls;
mod idle;
mod idle_states;
mod measure;
mod observations;
mod pi_mutex;
mod pieces;
mod preemption;
mod realtime;
mod siblings;
mod soft_interrupts;
mod sources;
mod stretches;
#[cfg(test)]
mod tests;
mod timers;

use bandwidth::Bandwidth;
pub use check::{Check, CheckError, Checked};
use cold::ColdWakeups;
use figure::Figure;
use gaps::Interruptions;
use host::Host;
use host_stalls::HostStalls;
use idle::IdleWakeups;
use idle_states::IdleTable;
use machine::{Distance, MachineSpec, SpecError};
use measure::{Bench, Hops, Refill};
pub use observations::Observation;
use pieces::Pieces;
use soft_interrupts::Handlers;
pub use sources::EntrySource;
pub use timers::{Lateness, Meanwhile, Sleeper, TimerRun, Timers};

use rustix::process::{getpriority_process, setpriority_process};
use siblings::Siblings;
use std::io;
use thiserror::Error;

/// Why there is no machine file.
#[derive(Debug, Error)]
pub enum CalibrationError {
    /// A measurement that this system does not allow.
    #[error(
        "cannot measure {what}: {source}; are all CPUs online and allowed to this process (taskset, cgroup)?"
    )]
    Measure {
        /// Which.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// What was measured describes no machine.
    #[error("the measurements describe no possible machine: {0}")]
    Impossible(SpecError),
}

/// A measured machine.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The machine file.
    pub text: String,
    /// What it describes.
    pub spec: MachineSpec,
    /// Where every entry that a machine file may have comes from, in the order of the file.
    pub sources: Vec<EntrySource>,
    /// What was seen, or looked for, that no entry of a machine file says.
    pub observations: Vec<Observation>,
    /// How late timers were.
    pub timers: Timers,
    /// Why its figures may be wrong, if they may.
    pub warnings: Vec<String>,
}

/// A machine file with this machine's topology, and costs that are taken over from the built-in laptop.
///
/// # Errors
/// A topology that no machine can have.
pub fn topology_alone(name: &str) -> Result<String, CalibrationError> {
    let host = Host::whole();
    let text = file::text(name, &host, None);
    MachineSpec::parse(&text, name).map_err(CalibrationError::Impossible).map(|_| text)
}

/// Everything measured.
#[derive(Debug, Default)]
struct Measured {
    syscall: Option<Figure>,
    lock: Option<Figure>,
    yield_alone: Option<Figure>,
    yield_switch: Option<Figure>,
    pipe_alone: Option<Figure>,
    /// Between threads of one CPU.
    hop: Hops,
    timer_program: Option<Figure>,
    /// Of a PI mutex, between threads of one CPU; `None` where they may not be real-time.
    hand_over: Option<Figure>,
    thread: Option<Figure>,
    process: Option<Figure>,
    timers: Option<Timers>,
    interruptions: Interruptions,
    /// Of the nearest other CPU.
    idle: Option<IdleWakeups>,
    /// Read, not timed.
    idle_states: IdleTable,
    /// Between CPUs, for each distance that the machine has.
    pairs: Vec<MeasuredPair>,
    /// After a move to the nearest CPU of another core.
    refill: Option<Refill>,
    /// Between hardware threads of a core, if it has any.
    siblings: Option<Siblings>,
    /// Over writers and after halts; `None` where this process may not be real-time.
    cold: Option<ColdWakeups>,
    /// Over tasks in the kernel; likewise.
    pieces: Option<Pieces>,
    /// On up to two CPUs at once.
    stalls: HostStalls,
    /// Between the nearest CPUs of two cores, if there are any.
    bandwidth: Option<Bandwidth>,
    /// How long they took, or why nothing says so.
    handlers: Option<Result<Vec<Handlers>, String>>,
}

impl Measured {
    /// How often this kernel ticks, which belongs to a kernel and not to a machine, if it was seen.
    fn rate_of_ticks(&self) -> Option<String> {
        let hz = self.interruptions.ticks?.hz;
        Some(format!(
            "this kernel ticks {hz} times a second, which the file of a machine does not say: runs that are to be \
             like it need --set hz={hz}"
        ))
    }

    /// Whether other work came to run at every yield: a hop through a pipe has a switch and more, but leaves
    /// no turn to others.
    fn yields_were_disturbed(&self) -> bool {
        let quarter = |figure: Option<Figure>| figure.map(|figure| figure.quarter_ns);
        let longer = |other: Option<Figure>| quarter(other) > quarter(self.hop.hop);
        longer(self.yield_alone) || longer(self.yield_switch)
    }
}

/// What was measured between two CPUs.
#[derive(Debug)]
struct MeasuredPair {
    distance: Distance,
    hop: Hops,
    round: Option<Figure>,
    line: Option<Figure>,
}

/// Measures for less than two minutes. `progress` is told what comes next.
///
/// # Errors
/// A measurement that the system does not allow.
pub fn calibrate(name: &str, progress: &mut dyn FnMut(&str)) -> Result<Calibrated, CalibrationError> {
    let host = Host::here();
    let measured = favoured(|| measure(&host, progress))?;
    let text = file::text(name, &host, Some(&measured));
    let spec = MachineSpec::parse(&text, name).map_err(CalibrationError::Impossible)?;
    let sources = sources::of_file(&spec, &host, &measured);
    let mut warnings = warnings(&host);
    warnings.extend(measured.rate_of_ticks());
    warnings.extend(measured.interruptions.left_out());
    let observations = observations::of(&measured);
    let timers = measured.timers.unwrap_or_default();
    Ok(Calibrated { text, spec, sources, observations, timers, warnings })
}

/// Does it at the highest priority of fair tasks: other work takes next to nothing from that. Who may not
/// have it does it as he is.
fn favoured<T>(what: impl FnOnce() -> T) -> T {
    let nice = getpriority_process(None).unwrap_or(0);
    let _ = setpriority_process(None, -20);
    let done = what();
    let _ = setpriority_process(None, nice);
    done
}

fn measure(host: &Host, progress: &mut dyn FnMut(&str)) -> Result<Measured, CalibrationError> {
    let bench = Bench::new(host);
    macro_rules! take {
        ($what:literal, $measurement:expr) => {{
            progress($what);
            $measurement.map_err(|source| CalibrationError::Measure { what: $what, source })?
        }};
    }
    let own = host::Pair { a: scheduler::CpuId(0), b: scheduler::CpuId(0) };
    let yield_alone = take!("sched_yield", bench.yield_alone());
    let yield_switch = match yield_alone {
        Some(alone) => take!("context switches", bench.yield_switch(alone)),
        None => None,
    };
    let mut pairs = Vec::new();
    for distance in Distance::ALL.into_iter().skip(1) {
        let Some(pair) = host.pair(distance) else { continue };
        pairs.push(MeasuredPair {
            distance,
            hop: take!("wakeups of other CPUs", bench.pipe_hop(pair)),
            round: take!("interrupts between CPUs", bench.interrupt_round(pair)),
            line: take!("cache lines between CPUs", bench.line(pair)),
        });
    }
    let idle = match pairs.first().and_then(|nearest: &MeasuredPair| host.pair(nearest.distance)) {
        Some(pair) => take!("how idle CPUs wait", bench.idle_wakeups(pair)),
        None => None,
    };
    let apart =
        [Distance::SharedCache, Distance::SameNode].into_iter().find_map(|distance| host.pair(distance));
    let refill = match apart {
        Some(pair) => Some(take!("caches after a move", bench.refill(pair))),
        None => None,
    };
    let bandwidth = match apart {
        Some(pair) => take!("memory bandwidth", bench.bandwidth(pair)),
        None => None,
    };
    let siblings = match host.pair(Distance::Smt) {
        Some(pair) => Some(take!("hardware threads of a core", bench.siblings(pair))),
        None => None,
    };
    let measured = Measured {
        syscall: take!("system calls", bench.syscall()),
        lock: take!("locks", bench.lock()),
        yield_alone,
        yield_switch,
        pipe_alone: take!("pipes", bench.pipe_alone()),
        hop: take!("wakeups", bench.pipe_hop(own)),
        timer_program: take!("setting timers", bench.timer_program()),
        hand_over: take!("mutexes with priority inheritance", bench.hand_over()),
        thread: take!("threads", bench.thread()),
        process: take!("processes", bench.process()),
        timers: Some(take!("how late timers are", bench.timers())),
        interruptions: take!("interruptions", bench.interruptions()),
        idle,
        idle_states: host.idle_states(),
        pairs,
        refill,
        siblings,
        cold: take!("cold caches", bench.cold_wakeups()),
        pieces: take!("where the kernel makes room", bench.rests_of_pieces()),
        stalls: take!("stalls of the host", bench.host_stalls(host)),
        bandwidth,
        handlers: Some(take!("soft interrupts", bench.soft_interrupts())),
    };
    bench.unpin().map_err(|source| CalibrationError::Measure { what: "on all CPUs again", source })?;
    Ok(measured)
}

/// How often this kernel ticks a second, seen by a spinning thread; `None` where nothing lies on such a grid.
pub fn measured_hz() -> Option<u64> {
    let host = Host::here();
    let bench = Bench::new(&host);
    let seen = favoured(|| bench.interruptions()).ok()?;
    bench.unpin().ok()?;
    Some(seen.ticks?.hz)
}

/// A machine that is busy gives figures that are too high.
fn warnings(host: &Host) -> Vec<String> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    // The measurements themselves keep two CPUs busy for part of the time.
    let busy = load > 2.0;
    let all = host.cpus() + host.left_out.len();
    let busy =
        busy.then(|| format!("the machine is busy (load {load} on {all} CPUs): figures may be too high"));
    busy.into_iter().chain(host.left_out()).collect()
}
