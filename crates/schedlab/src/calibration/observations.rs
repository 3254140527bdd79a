//! What calibrating sees, or looks for, that no entry of a machine file says.

use super::Measured;
use super::pieces::Waits;
use super::soft_interrupts::Handlers;
use machine::Operation;

/// Something that was looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// Of what.
    pub what: String,
    /// What was seen; `None`: nothing could be.
    pub value: Option<String>,
    /// What that changes, or why nothing could be seen.
    pub how: String,
}

/// All of them.
pub(super) fn of(measured: &Measured) -> Vec<Observation> {
    let mut all: Vec<Observation> = stalls(measured).into_iter().collect();
    all.extend(waits(measured));
    match &measured.handlers {
        Some(Ok(handlers)) if handlers.is_empty() => {
            let how = "none of its events came".to_owned();
            all.push(Observation { what: INTERRUPTS.to_owned(), value: None, how });
        }
        Some(Ok(handlers)) => all.extend(handlers.iter().map(handler)),
        Some(Err(why)) => all.push(unseen_handlers(why)),
        None => all.push(unseen_handlers("nobody looked")),
    }
    all
}

const INTERRUPTS: &str = "interrupts, soft interrupts";

fn unseen_handlers(why: &str) -> Observation {
    let how = format!("{why}; a spinning thread sees them as gaps, and not what they are");
    Observation { what: INTERRUPTS.to_owned(), value: None, how }
}

/// Where too few were seen for an entry.
fn stalls(measured: &Measured) -> Option<Observation> {
    let stalls = &measured.stalls;
    (!stalls.are_told()).then(|| Observation {
        what: "stalls of the host".to_owned(),
        value: (stalls.watched_ns > 0).then(|| {
            let longest = stalls.lengths_ns.iter().max().map_or(0, |ns| ns / 1000);
            format!("{} seen, the longest {longest} us", stalls.lengths_ns.len())
        }),
        how: format!("{}: too few to tell how often they come; left out, there are none", stalls.words()),
    })
}

/// What timers waited for over tasks in the kernel, where no entry can be made of it.
fn waits(measured: &Measured) -> Vec<Observation> {
    let Some(pieces) = &measured.pieces else { return Vec::new() };
    if pieces.preemption.shows_pieces() {
        return Vec::new();
    }
    let wait = |(operation, waits): &(Operation, Waits)| Observation {
        what: format!("timers over {}", operation.name()),
        value: Some(pieces.later(waits)),
        how: pieces.how(waits),
    };
    // That of exit is that of fork.
    pieces.over.iter().filter(|(operation, _)| *operation != Operation::Exit).map(wait).collect()
}

fn handler(handlers: &Handlers) -> Observation {
    let Handlers { what, count, p50_ns, p99_ns, max_ns } = handlers;
    let [p50, p99, max] = [p50_ns, p99_ns, max_ns].map(|ns| ns / 1000);
    Observation {
        what: what.clone(),
        value: Some(format!("{count} seen: p50 {p50}, p99 {p99}, max {max} us")),
        how: "traced for 2 s on the first CPU beside a shell that forks; trace events are in it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::tests::seen_under;
    use super::super::preemption::HostPreemption;
    use super::super::tests::{hosts, measured_everything};
    use super::*;

    #[test]
    fn what_was_seen_has_a_value_and_what_was_not_a_reason() {
        let of = |measured: &Measured, what: &str| {
            of(measured).into_iter().find(|seen| seen.what == what).expect("it is looked for")
        };
        let seen = measured_everything(&hosts()[1]);
        let rcu = of(&seen, "softirq RCU");
        assert_eq!(rcu.value.as_deref(), Some("231 seen: p50 3, p99 30, max 85 us"));
        let nothing = Measured::default();
        assert!(of(&nothing, INTERRUPTS).how.starts_with("nobody looked; a spinning thread"));
        assert_eq!(of(&nothing, "stalls of the host").value, None);
        assert!(super::of(&seen).iter().all(|seen| seen.what != "stalls of the host"), "an entry has them");
        assert!(super::of(&seen).iter().all(|seen| !seen.what.starts_with("timers over")), "likewise");
        let unknown = Measured { pieces: Some(seen_under(HostPreemption::Unknown)), ..seen };
        let fork = of(&unknown, "timers over fork").value.expect("it was seen");
        // 15 us times ln 2, by the nearest of 2000 samples.
        assert!(fork.starts_with("p50 10404 ns later, p99.5 "), "{fork}");
    }
}
