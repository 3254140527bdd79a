//! What the trace of a run tells beyond the events of Linux, as markers: how each task began, what the objects are like that
//! tasks share, the steps of the programs, and messages from outside. A replay of it need not guess.
//!
//! ```text
//! schedlab: run until=34557045
//! schedlab: program pid=1004 start=fork policy=other nice=0 cpus=all working-set=0 timer-slack=50000 comm=hackbench
//! schedlab: channel 3 capacity=16 writers-wake-at=8 sync=no softirq=no send-cost=700 receive-cost=500
//! schedlab: do compute 4000
//! schedlab: do send 3
//! schedlab: message 3
//! ```
//!
//! Times are in nanoseconds, and those that are absolute are times of the run.

mod object;
mod start;
mod step;

use machine::{ChannelId, Outcome, TaskStart, ToldStep};
pub(crate) use object::{Object, can_be_taken};
use scheduler::Nanos;
pub(crate) use start::LARGEST_WORKING_SET;
pub(crate) use step::{fork_kind, read as read_step, read_fork_kind, text as step_text};

/// What such markers begin with.
const PREFIX: &str = "schedlab: ";

/// What one marker tells.
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
    /// The text of its marker.
    pub fn marker(&self) -> String {
        match self {
            Told::Run { until } => format!("{PREFIX}run until={}", until.0),
            Told::Object(object) => format!("{PREFIX}{object}"),
            Told::Start(start) => format!("{PREFIX}program {}", start::text(start)),
            Told::Step(step) => format!("{PREFIX}do {}", step::text(step)),
            Told::Message(channel) => format!("{PREFIX}message {}", channel.0),
        }
    }

    /// Reads the text of a marker; `None` for every other marker.
    pub fn parse(marker: &str) -> Option<Told> {
        let text = marker.strip_prefix(PREFIX)?;
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

/// The markers that belong before all events of a run: its end, its objects, and how its tasks began.
pub fn markers_at_start(outcome: &Outcome) -> Vec<String> {
    let run = Told::Run { until: outcome.simulated };
    let objects = Object::all(&outcome.objects).map(Told::Object);
    let starts = outcome.starts.iter().cloned().map(Told::Start);
    [run].into_iter().chain(objects).chain(starts).map(|told| told.marker()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_comes_back() {
        let run = Told::Run { until: Nanos(7) };
        for told in [run, Told::Step(ToldStep::Send(ChannelId(3))), Told::Message(ChannelId(0))] {
            assert_eq!(Told::parse(&told.marker()), Some(told));
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
            assert_eq!(Told::parse(text), None, "{text}");
        }
    }
}
