//! What the trace of a run tells beyond the events of Linux, in events of our own
//! ([`trace::Activity::SchedlabProgram`]): how each task began, what the objects are like that tasks share,
//! the steps of the programs, and messages from outside. A replay of it need not guess. Their texts:
//!
//! ```text
//! run until=34557045
//! program pid=1004 start=fork policy=other nice=0 cpus=all working-set=0 timer-slack=50000 comm=hackbench
//! channel 3 capacity=16 writers-wake-at=8 sync=no softirq=no send-cost=700 receive-cost=500
//! do compute 4000
//! do send 3
//! message 3 at=20000
//! ```
//!
//! The replay of a recording says when its CPUs tick, too, and which messages come in a tick:
//!
//! ```text
//! hz 250
//! tick 0 at=3876543
//! message 3 at=7876543 by=tick
//! ```
//!
//! and how long it takes from wakeups to the woken tasks, as a workload file does (`path …`).
//!
//! Times are in nanoseconds, and those that are absolute are times of the run. Older traces have the same
//! texts as markers, behind `schedlab: `.

mod object;
mod start;
mod step;

use crate::replay::{Throttling, path_lines};
use crate::units::HZ;
use machine::{Arrival, ChannelId, Objects, Outcome, TaskStart, ToldMessage, ToldStep, WakePaths};
pub(crate) use object::{Object, can_be_taken};
use scheduler::Nanos;
pub(crate) use start::{LARGEST_WORKING_SET, MOST_READS};
pub(crate) use step::{read as read_step, read_fork_kind};

/// What older traces have before each text, in a marker.
const PREFIX: &str = "schedlab: ";

/// What one text tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// The run ends then.
    Run { until: Nanos },
    /// There is such an object.
    Object(Object),
    /// A task begins, or will.
    Start(TaskStart),
    /// The running task takes a step.
    Step(ToldStep),
    /// It takes one that an older trace cannot tell.
    Untold,
    /// An interrupt brings a message.
    Message(ToldMessage),
    /// The same in older traces: it has just been brought, in an interrupt of its own.
    Brought(ChannelId),
    /// The kernel ticks so often a second.
    Hz(u32),
    /// Who waits for a mutex with inheritance spins while the owner runs, or sleeps.
    Waiters { spin: bool },
    /// The kernel throttles real-time tasks.
    Throttles(Throttling),
    /// A tick of this CPU; the others come whole periods before and after.
    Tick { cpu: u32, at: Nanos },
    /// From which event the times of paths from wakeups count, and each of them: lines of a workload file.
    Path(Box<str>),
}

impl Told {
    /// Its text.
    pub fn text(&self) -> String {
        match self {
            Told::Run { until } => format!("run until={}", until.0),
            Told::Object(object) => object.to_string(),
            Told::Start(start) => format!("program {}", start::text(start)),
            Told::Step(step) => step_line(&step.clone().text()),
            Told::Untold => UNTOLD.to_owned(),
            Told::Message(ToldMessage { channel, by, at }) => {
                let by = if *by == Arrival::Tick { BY_TICK } else { "" };
                format!("message {} at={}{by}", channel.0, at.0)
            }
            Told::Brought(channel) => format!("message {}", channel.0),
            Told::Hz(hz) => format!("hz {hz}"),
            Told::Waiters { spin: true } => "waiters spin".to_owned(),
            Told::Waiters { spin: false } => "waiters sleep".to_owned(),
            Told::Throttles(throttling) => format!("throttles {}", throttling.word().unwrap_or_default()),
            Told::Tick { cpu, at } => format!("tick {cpu} at={}", at.0),
            Told::Path(line) => line.to_string(),
        }
    }

    /// Reads the marker of an older trace; `None` for every other marker.
    pub fn parse_marker(marker: &str) -> Option<Told> {
        Told::parse(marker.strip_prefix(PREFIX)?)
    }

    /// Reads a text; `None` for one that is not ours.
    pub fn parse(text: &str) -> Option<Told> {
        if text == UNTOLD {
            return Some(Told::Untold);
        }
        let (word, rest) = text.split_once(' ')?;
        match word {
            "do" => step::read(rest).map(Told::Step),
            "run" => Some(Told::Run { until: time(rest.strip_prefix("until=")?)? }),
            "message" => match rest.parse() {
                Ok(channel) => Some(Told::Brought(ChannelId(channel))),
                Err(_) => message(rest).map(Told::Message),
            },
            "hz" => rest.parse().ok().filter(|hz| HZ.contains(hz)).map(Told::Hz),
            "waiters" => match rest {
                "spin" => Some(Told::Waiters { spin: true }),
                "sleep" => Some(Told::Waiters { spin: false }),
                _ => None,
            },
            "throttles" => Throttling::of_word(rest).map(Told::Throttles),
            "tick" => {
                let (cpu, at) = rest.split_once(" at=")?;
                Some(Told::Tick { cpu: cpu.parse().ok()?, at: time(at)? })
            }
            "paths" | "path" => Some(Told::Path(text.into())),
            "program" => start::read(rest).map(Told::Start),
            _ => Object::parse(text).map(Told::Object),
        }
    }
}

/// A trace tells a step so.
pub(crate) fn step_line(step: &str) -> String {
    format!("do {step}")
}

const UNTOLD: &str = "do untold";

/// Behind a message that a tick brings.
const BY_TICK: &str = " by=tick";

fn message(text: &str) -> Option<ToldMessage> {
    let (text, by) = match text.strip_suffix(BY_TICK) {
        Some(text) => (text, Arrival::Tick),
        None => (text, Arrival::Own),
    };
    let (channel, at) = text.split_once(" at=")?;
    Some(ToldMessage { channel: ChannelId(channel.parse().ok()?), by, at: time(at)? })
}

/// Reads nanoseconds. The clock ends after centuries, so that sums of a few times of a year are far from
/// there; longer times are none.
fn time(text: &str) -> Option<Nanos> {
    text.parse().ok().map(Nanos).filter(|time| *time <= LONGEST)
}

/// Longer than any run.
const LONGEST: Nanos = Nanos::from_secs(366 * 24 * 3600);

/// What a load decided about the kernel and the machine of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decided<'a> {
    /// Ticks a second.
    pub hz: Option<u32>,
    /// Whether who waits for a mutex with inheritance spins while the owner runs.
    pub rtmutex_spins: Option<bool>,
    /// How real-time tasks are throttled, where the kernel's profile does not say so.
    pub throttling: Throttling,
    /// The paths from wakeups to the woken tasks.
    pub paths: Option<&'a WakePaths>,
}

/// What belongs before all events of a run: its end, what a load decided about, its ticks, its objects, and
/// how its tasks began.
pub fn told_at_start(outcome: &Outcome, decided: Decided<'_>) -> Vec<String> {
    let Decided { hz, rtmutex_spins, throttling, paths } = decided;
    let run = Told::Run { until: outcome.simulated };
    let waiters = rtmutex_spins.map(|spin| Told::Waiters { spin });
    let ticks_at = (0u32..).zip(&outcome.ticks_at);
    let ticks = ticks_at.filter_map(|(cpu, at)| at.map(|at| Told::Tick { cpu, at }));
    let objects = Object::all(&outcome.objects).map(Told::Object);
    let starts = outcome.starts.iter().cloned().map(Told::Start);
    let throttles = (throttling != Throttling::NotSeen).then_some(Told::Throttles(throttling));
    let ticks = hz.map(Told::Hz).into_iter().chain(waiters).chain(throttles).chain(ticks);
    let paths = paths.map(path_lines).unwrap_or_default();
    let ticks = ticks.chain(paths.into_iter().map(|line| Told::Path(line.into())));
    [run].into_iter().chain(ticks).chain(objects).chain(starts).map(|told| told.text()).collect()
}

/// The objects that tasks share, as texts: their kind, their number, what they are like.
pub fn told_objects(objects: &Objects) -> Vec<String> {
    Object::all(objects).map(|object| object.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_comes_back() {
        let run = Told::Run { until: Nanos(7) };
        let message = |by| Told::Message(ToldMessage { channel: ChannelId(0), by, at: Nanos(5) });
        for told in [
            run,
            Told::Step(ToldStep::Send(ChannelId(3))),
            Told::Untold,
            Told::Brought(ChannelId(0)),
            message(Arrival::Own),
            message(Arrival::Tick),
            Told::Hz(250),
            Told::Tick { cpu: 3, at: Nanos(4_000_001) },
            Told::Waiters { spin: true },
            Told::Waiters { spin: false },
            Told::Throttles(Throttling::Seen),
            Told::Throttles(Throttling::Groups),
        ] {
            assert_eq!(Told::parse(&told.text()), Some(told.clone()));
            assert_eq!(Told::parse_marker(&format!("schedlab: {}", told.text())), Some(told));
        }
    }

    #[test]
    fn other_markers_tell_nothing() {
        for text in [
            "do send 3",
            "schedlab: task pid=1 tgid=1 policy=rr cpus=0 comm=a",
            "schedlab: machine idle=halts",
            "schedlab: do",
            "schedlab: do sing 3",
            "schedlab: message",
            "schedlab: message x",
            "schedlab: run until=x",
            "schedlab: throttles",
            "schedlab: throttles fair",
            "schedlab: run until=18446744073709551615",
        ] {
            assert_eq!(Told::parse_marker(text), None, "{text}");
        }
    }
}
