//! What the trace of a run tells beyond the events of Linux, in events of our own ([`trace::Activity::SchedlabProgram`]): how
//! each task began, what the objects are like that tasks share, the steps of the programs, and messages from outside. A replay of it
//! need not guess. Their texts:
//!
//! ```text
//! run until=34557045
//! program pid=1004 start=fork policy=other nice=0 cpus=all working-set=0 timer-slack=50000 comm=hackbench
//! channel 3 capacity=16 writers-wake-at=8 sync=no softirq=no send-cost=700 receive-cost=500
//! do compute 4000
//! do send 3
//! message 3
//! ```
//!
//! Times are in nanoseconds, and those that are absolute are times of the run. Older traces have the same texts as markers, behind
//! `schedlab: `.

mod object;
mod start;
mod step;

use machine::{ChannelId, Outcome, TaskStart, ToldStep};
pub(crate) use object::{Object, can_be_taken};
use scheduler::Nanos;
pub(crate) use start::LARGEST_WORKING_SET;
pub(crate) use step::{fork_kind, read as read_step, read_fork_kind, text as step_text};

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
    /// An interrupt brings a message.
    Message(ChannelId),
}

impl Told {
    /// Its text.
    pub fn text(&self) -> String {
        match self {
            Told::Run { until } => format!("run until={}", until.0),
            Told::Object(object) => object.to_string(),
            Told::Start(start) => format!("program {}", start::text(start)),
            Told::Step(step) => format!("do {}", step::text(step)),
            Told::Message(channel) => format!("message {}", channel.0),
        }
    }

    /// Reads the marker of an older trace; `None` for every other marker.
    pub fn parse_marker(marker: &str) -> Option<Told> {
        Told::parse(marker.strip_prefix(PREFIX)?)
    }

    /// Reads a text; `None` for one that is not ours.
    pub fn parse(text: &str) -> Option<Told> {
        let (word, rest) = text.split_once(' ')?;
        match word {
            "do" => step::read(rest).map(Told::Step),
            "run" => Some(Told::Run { until: time(rest.strip_prefix("until=")?)? }),
            "message" => rest.parse().ok().map(|channel| Told::Message(ChannelId(channel))),
            "program" => start::read(rest).map(Told::Start),
            _ => Object::parse(text).map(Told::Object),
        }
    }
}

/// Reads nanoseconds. The clock ends after centuries, so that sums of a few times of a year are far from there; longer times are
/// none.
fn time(text: &str) -> Option<Nanos> {
    text.parse().ok().map(Nanos).filter(|time| *time <= LONGEST)
}

/// Longer than any run.
const LONGEST: Nanos = Nanos::from_secs(366 * 24 * 3600);

/// What belongs before all events of a run: its end, its objects, and how its tasks began.
pub fn told_at_start(outcome: &Outcome) -> Vec<String> {
    let run = Told::Run { until: outcome.simulated };
    let objects = Object::all(&outcome.objects).map(Told::Object);
    let starts = outcome.starts.iter().cloned().map(Told::Start);
    [run].into_iter().chain(objects).chain(starts).map(|told| told.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_comes_back() {
        let run = Told::Run { until: Nanos(7) };
        for told in [run, Told::Step(ToldStep::Send(ChannelId(3))), Told::Message(ChannelId(0))] {
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
            "schedlab: run until=18446744073709551615",
        ] {
            assert_eq!(Told::parse_marker(text), None, "{text}");
        }
    }
}
