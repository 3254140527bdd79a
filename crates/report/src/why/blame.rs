//! What all latencies of tasks are due to: each cause with its culprit, over all, at the 99th percentile and
//! above it.

use crate::naming::interrupts;
use crate::naming::locks::LockKind;
use schema::why::{
    Blame, BlameRow, Budget, Cause, Explanation, Handler, HandlerContext, IrqsOffPath, Precedence, WhyTask,
};
use schema::{Nanos, Pid};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sums explanations up, by the victims' command names.
#[derive(Debug, Default)]
pub struct Blamed {
    victims: BTreeMap<Box<str>, Victim>,
}

#[derive(Debug, Default)]
struct Victim {
    tasks: BTreeSet<Pid>,
    /// The latencies, each with how much of it each cause takes, by its number.
    wakeups: Vec<(Nanos, Vec<(usize, Nanos)>)>,
    causes: Vec<(String, Cause)>,
    numbers: BTreeMap<String, usize>,
}

impl Blamed {
    /// Counts one more wakeup.
    pub fn add(&mut self, one: &Explanation) {
        let victim = self.victims.entry(one.task.comm.clone()).or_default();
        victim.tasks.insert(one.task.pid);
        let mut parts = Vec::new();
        for stretch in &one.stretches {
            parts.push((victim.number(&stretch.cause), stretch.own_length()));
            let shares = stretch.shares.iter();
            parts.extend(shares.map(|share| (victim.number(&share.cause), share.length)));
        }
        victim.wakeups.push((one.latency, parts));
    }

    /// What they come to; those with the longest latencies in all come first.
    #[must_use]
    pub fn finish(self) -> Vec<Blame> {
        let blame = |(comm, victim): (Box<str>, Victim)| victim.blame(comm);
        let mut all: Vec<Blame> = self.victims.into_iter().map(blame).collect();
        // Stable: of equal ones the first by name.
        all.sort_by_key(|blame| std::cmp::Reverse(blame.total));
        all
    }
}

impl Victim {
    fn number(&mut self, cause: &Cause) -> usize {
        let (next, name) = (self.causes.len(), due_to(cause));
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.causes.push((name, cause.clone()));
        }
        number
    }

    fn blame(mut self, victim: Box<str>) -> Blame {
        // Stable: equal ones stay in the order of time.
        self.wakeups.sort_by_key(|(latency, _)| *latency);
        let count = self.wakeups.len();
        let at_p99 = (count * 99).div_ceil(100).saturating_sub(1);
        let row = |(due_to, example)| BlameRow {
            due_to,
            example,
            times: 0,
            all: Nanos(0),
            p99: Nanos(0),
            tail: Nanos(0),
        };
        let mut rows: Vec<BlameRow> = self.causes.into_iter().map(row).collect();
        for (place, (_, parts)) in self.wakeups.iter().enumerate() {
            for (number, length) in parts {
                let row = &mut rows[*number];
                row.times += 1;
                row.all.0 += length.0;
                match place.cmp(&at_p99) {
                    Ordering::Less => {}
                    Ordering::Equal => row.p99.0 += length.0,
                    Ordering::Greater => row.tail.0 += length.0,
                }
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.all));
        let latency = |place: usize| self.wakeups.get(place).map_or(Nanos(0), |(latency, _)| *latency);
        Blame {
            victim,
            tasks: self.tasks.len() as u64,
            wakeups: count as u64,
            total: Nanos(self.wakeups.iter().map(|(latency, _)| latency.0).sum()),
            p99: latency(at_p99),
            max: latency(count.saturating_sub(1)),
            rows,
        }
    }
}

/// A cause with its culprit in a few words, the same whenever, wherever and however long.
#[must_use]
pub fn due_to(cause: &Cause) -> String {
    let on_top = |task: &Option<WhyTask>| task.as_ref().map_or("idle", |task| &task.comm).to_owned();
    match cause {
        Cause::TimerLate {} => "timer late".to_owned(),
        Cause::InterruptsOff { path, during } => match path {
            IrqsOffPath::Noise => "interrupts off: noise".to_owned(),
            IrqsOffPath::Schedule => format!("interrupts off: switching at {}", on_top(during)),
            IrqsOffPath::Kernel => format!("interrupts off: kernel path of {}", on_top(during)),
        },
        Cause::Interrupt { irq } => format!("interrupt: {}", irq.map_or("unknown", interrupts::kind)),
        Cause::Softirq {} => "soft interrupt".to_owned(),
        Cause::WakePath {} => "wakeup path".to_owned(),
        Cause::WakerWaits { waker } => format!("waker {} waits", waker.comm),
        Cause::LockWait { lock, on_behalf_of, .. } => {
            format!("{} held by {}", LockKind::of(*lock).name(), on_top(on_behalf_of))
        }
        Cause::InFlight { .. } => "IPI on its way".to_owned(),
        Cause::HandOver { .. } => "moved to another CPU".to_owned(),
        Cause::Running { task, precedence, .. } => {
            let why = match precedence {
                Precedence::Class => "class",
                Precedence::EarlierDeadline => "deadline",
                Precedence::HigherPriority => "priority",
                Precedence::SamePriority => "same priority",
                Precedence::Fair => "fair",
                Precedence::AskedLazily => "asked lazily",
                Precedence::NotPreempted => "not preemptible",
                Precedence::NotRecorded => "deadlines not recorded",
            };
            format!("{} runs ({why})", task.comm)
        }
        Cause::Mutex { chain, behind } => {
            let links: Vec<String> =
                chain.iter().map(|held| format!("mutex {} of {}", held.mutex, on_top(&held.owner))).collect();
            let behind = behind.as_ref().map_or(String::new(), |task| format!(" behind {}", task.comm));
            format!("{}{behind}", links.join(" and "))
        }
        Cause::Throttled { budget, .. } => match budget {
            Budget::RealTime {} => "throttled: real-time".to_owned(),
            Budget::Deadline {} => "throttled: deadline".to_owned(),
            Budget::RtGroup { group } => format!("throttled: real-time of group {group}"),
            Budget::Group { group } => {
                format!("throttled: group {}", group.as_deref().unwrap_or("unknown"))
            }
        },
        Cause::IdleExit { state: None } => "idle exit".to_owned(),
        Cause::IdleExit { state: Some(state) } => format!("idle exit from {state}"),
        Cause::Idle {} => "idle CPU".to_owned(),
        Cause::Switch {} => "switch".to_owned(),
        Cause::CacheRefill { .. } => "cache refill".to_owned(),
        Cause::Sibling { task, .. } => format!("{} on another thread of the core", task.comm),
        Cause::Handler { handler: Handler { context, name } } => match context {
            HandlerContext::Hardirq => format!("interrupt: {name}"),
            HandlerContext::Softirq => format!("soft interrupt: {name}"),
        },
        Cause::NotRecorded {} => "not recorded".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    /// The example's explanations are all alike: each column adds up to what its latencies come to.
    #[test]
    fn each_column_adds_up() {
        let mut blamed = Blamed::default();
        let why = example::why();
        for _ in 0..100 {
            why.explanations.iter().for_each(|one| blamed.add(one));
        }
        let all = blamed.finish();
        let [blame] = &all[..] else { panic!("one victim: {all:?}") };
        assert_eq!(blame.wakeups, 900);
        let sum = |of: fn(&BlameRow) -> Nanos| blame.rows.iter().map(|row| of(row).0).sum::<u64>();
        let each = why.explanations[0].latency.0;
        assert_eq!((sum(|row| row.all), blame.total.0), (900 * each, 900 * each));
        assert_eq!((sum(|row| row.p99), blame.p99.0), (each, each));
        assert_eq!(sum(|row| row.tail), 9 * each, "nine are above 891 of 900");
    }
}
