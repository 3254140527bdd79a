//! How calibrating learns each entry of a machine file: the one list from which the origins in the file and
//! the report come. Nothing that a machine file may say is left out here without a word.

use super::figure::Figure;
use super::host::Host;
use super::{Measured, bandwidth, cold, idle, pieces, timers};
use machine::{Distance, MachineSpec, OriginKind};

/// How an entry is learned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Way {
    /// What times or reads it, if anything has.
    pub(super) seen: Option<Seen>,
    /// Why it is not measured, where it is not.
    pub(super) unseen: String,
}

/// What told an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    /// The probe, by a short name.
    pub(super) probe: &'static str,
    /// Samples of it.
    pub(super) samples: usize,
}

/// Where an entry of a written file comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrySource {
    /// `costs.line.own`, or `noise.irq_off[0]` where there may be several.
    pub entry: String,
    /// Its value in words; `None`: the file does not have it.
    pub value: Option<String>,
    /// How it was found; `None` with the value.
    pub kind: Option<OriginKind>,
    /// The probe that told it.
    pub probe: Option<&'static str>,
    /// How many samples that took.
    pub samples: Option<usize>,
    /// How exactly; where it was not measured, why not.
    pub how: String,
}

/// Every entry that a machine file may have, with what this one says and why.
pub(super) fn of_file(spec: &MachineSpec, host: &Host, measured: &Measured) -> Vec<EntrySource> {
    let mut sources = Vec::new();
    for entry in MachineSpec::entries() {
        let way = way(&entry, host, measured);
        let before = sources.len();
        for origin in spec.origins.iter().filter(|origin| origin.entry() == entry) {
            let seen = way.as_ref().and_then(|way| way.seen).filter(|_| origin.kind == OriginKind::Measured);
            sources.push(EntrySource {
                entry: origin.field.clone(),
                value: Some(origin.value.clone()),
                kind: Some(origin.kind),
                probe: seen.map(|seen| seen.probe),
                samples: seen.map(|seen| seen.samples),
                how: origin.text.clone(),
            });
        }
        if sources.len() == before {
            let how = way.map_or_else(|| "calibrating does not know this entry".to_owned(), |way| way.unseen);
            sources.push(EntrySource { entry, value: None, kind: None, probe: None, samples: None, how });
        }
    }
    sources
}

/// How an entry is learned; `None` for one that is not known here, which a test does not let happen.
pub(super) fn way(entry: &str, host: &Host, m: &Measured) -> Option<Way> {
    let timed = |probe, figure: Option<Figure>, unseen: &str| {
        let seen = figure.map(|figure| Seen { probe, samples: figure.samples });
        Some(Way { seen, unseen: unseen.to_owned() })
    };
    let never = |unseen: &str| Some(Way { seen: None, unseen: unseen.to_owned() });
    let one_gap = "a program sees an interrupt as one gap, and not what that consists of";
    let (table, key) = entry.split_once('.').unwrap_or((entry, ""));
    match (table, key) {
        ("idle_monitor", _) => Some(idle::way(m.idle)),
        ("idle", key) => Some(m.idle_states.way(key)),
        ("rcu_callback", _) => never(
            "called in soft interrupts, whose lengths show how many at a go and how long each takes only together; \
             left out, nobody leaves any",
        ),
        ("topology", _) => {
            Some(Way { seen: Some(Seen { probe: "sysfs", samples: host.cpus() }), unseen: String::new() })
        }
        ("costs", "schedule") if m.yields_were_disturbed() => {
            never("other work came to run at every sched_yield")
        }
        ("costs", "context_switch") if m.yields_were_disturbed() => {
            never("other work came to run at every sched_yield")
        }
        ("costs", "schedule") => timed("sched_yield", m.yield_alone, "sched_yield was not timed"),
        ("costs", "context_switch") => {
            timed("two threads that yield", m.yield_switch, "the two threads did not take turns")
        }
        ("costs", "enqueue" | "dequeue" | "wakeup") => {
            timed("pipe on one CPU", m.hop.hop, "no hop through a pipe was timed")
        }
        ("costs", "tick") => timed(
            "gaps at every tick",
            m.interruptions.ticks.map(|ticks| ticks.lengths),
            "no gaps of a spinning thread came at the times of ticks",
        ),
        ("costs", "scan_cpu" | "scan_task") => {
            never("some nanoseconds within a search of the scheduler, which no program can time apart")
        }
        ("costs", "set_prio") => timed(
            "PI futex handed over",
            m.hand_over,
            "a PI futex is handed over between real-time threads, which this process may not have",
        ),
        ("costs", "irq_entry" | "irq_exit" | "timer_expiry") => never(one_gap),
        ("costs", "syscall") => timed("getppid", m.syscall, "getppid was not timed"),
        ("costs", "timer_program") => timed("timerfd_settime", m.timer_program, "no timer was set"),
        ("costs", "fork" | "exec" | "exit") => timed("the program true", m.process, "no program was started"),
        ("costs", "wait") => never("a small part of starting a program, which no program can time apart"),
        ("costs", "thread_create" | "thread_exit") => timed("a thread", m.thread, "no thread was made"),
        ("costs", "lock_uncontended") => timed("two atomic operations", m.lock, "none were timed"),
        ("costs", "ipi_send") => {
            let call = m.pairs.first().and_then(|pair| pair.hop.call);
            timed("write that wakes another CPU", call, "it takes a second CPU, and there is one only")
        }
        ("costs", "idle_exit") => {
            let hop = m.pairs.first().and_then(|pair| pair.hop.hop);
            timed("pipe to another CPU", hop, "it takes a second CPU, and there is one only")
        }
        ("costs", "ticket_spinner_percent") => {
            never("kernels of today have no ticket locks, and no program can take a lock of the kernel's")
        }
        ("costs", "ipi_stolen_percent") => never(
            "it takes a trace to see whether a CPU executes while an interrupt is on its way there; left \
             out, nothing of the way is lost",
        ),
        ("costs", by_distance) => of_distance(by_distance, host, m),
        ("cache", "refill_ps_per_byte") => timed(
            "pass over 256 KiB after a move",
            m.refill.and_then(|refill| refill.at_random),
            "it takes two cores of a package, and there is one only",
        ),
        ("cache", "tau") => never(
            "how fast others displace a working set takes many sizes of it beside each other, longer than a \
             calibration lasts",
        ),
        ("cache", "smt_lost_percent") if !host.has_smt() => never(NO_SMT),
        ("cache", "shared_cache_lost_percent" | "smt_lost_percent") => {
            never("a pass after a move shows the loss times the cost of a byte, and not each of both")
        }
        ("cold", key @ ("path" | "bytes" | "halted")) => Some(cold::way(key, m.cold.as_ref())),
        ("speed", "smt_busy_percent") if !host.has_smt() => never(NO_SMT),
        ("speed", "smt_busy_percent") => timed(
            "integer work beside a busy sibling",
            m.siblings.and_then(|siblings| siblings.together),
            "not measured; left out, a busy sibling takes nothing",
        ),
        ("speed", "cpus") => never("CPUs are not timed one by one; left out, they are equally fast"),
        ("memory", "cpu" | "node") => Some(bandwidth::way(m.bandwidth)),
        ("frequency", "domains") => never(
            "which frequencies there are, and what they take, is not read; left out, CPUs have one speed",
        ),
        ("kernel", rwsem) if rwsem.starts_with("rwsem.") => never(
            "waits for them show in the events lock:contention_begin and _end, which no program can do without the \
             rights of root; left out, nobody waits for one",
        ),
        ("kernel", stretch) => Some(pieces::way(stretch.strip_prefix("stretch.")?, m.pieces.as_ref())),
        ("noise", "timer_jitter") => Some(timers::way(m.timers.as_ref())),
        ("noise", "timer_delivery") => never(
            "left out, as timer_jitter says how late timers are; whether a late interrupt takes later timers \
             along is not looked at",
        ),
        ("noise", "thread_start") => {
            never("a habit of the program that starts the threads; left out, all start at once")
        }
        ("noise", "spin_overshoot") => {
            never("the clock here is read in less than a microsecond; left out, busy-waits end on time")
        }
        ("noise", "irq_off") => {
            let short: usize = m.interruptions.short().map(|source| source.lengths.samples).sum();
            let long = if m.stalls.are_told() { m.stalls.lengths_ns.len() } else { 0 };
            let samples = short + long;
            let seen = (samples > 0).then_some(Seen { probe: "gaps of a spinning thread", samples });
            Some(Way { seen, unseen: "no gap was seen; left out, there are none".to_owned() })
        }
        ("noise", "kthread") => never(
            "who works in the background, and when, is for a trace to say (schedlab record brings its own); \
             left out, nobody does",
        ),
        _ => None,
    }
}

const NO_SMT: &str = "no two CPUs that are visible here are hardware threads of a core";

/// `ipi.smt`, `line.own`.
fn of_distance(key: &str, host: &Host, m: &Measured) -> Option<Way> {
    let (kind, name) = key.split_once('.')?;
    let distance = Distance::ALL.into_iter().find(|distance| distance.name() == name)?;
    let pair = m.pairs.iter().find(|pair| pair.distance == distance);
    let (probe, figure, own) = match kind {
        "ipi" => {
            ("membarrier", pair.and_then(|pair| pair.round), "no program can have a CPU interrupt itself")
        }
        "line" => (
            "word that two CPUs write in turn",
            pair.and_then(|pair| pair.line),
            "a hit in a CPU's own cache is shorter than the clock can tell",
        ),
        _ => return None,
    };
    let unseen = match distance {
        Distance::Own => own.to_owned(),
        _ if host.cpus() == 1 => "it takes a second CPU, and there is one only".to_owned(),
        Distance::Smt => NO_SMT.to_owned(),
        Distance::SharedCache => "no two cores that are visible here share a cache".to_owned(),
        Distance::SameNode => "all cores of a package share a cache here".to_owned(),
        Distance::OtherNode => "there is one package only".to_owned(),
    };
    let seen = figure.map(|figure| Seen { probe, samples: figure.samples });
    Some(Way { seen, unseen })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{hosts, measured_everything};
    use super::*;

    /// A new entry of machine files has to be thought of here.
    #[test]
    fn every_entry_of_a_machine_file_has_a_way_or_a_reason() {
        for host in hosts() {
            for measured in [Measured::default(), measured_everything(&host)] {
                for entry in MachineSpec::entries() {
                    let way = way(&entry, &host, &measured).unwrap_or_else(|| panic!("{entry} is forgotten"));
                    assert!(way.seen.is_some() || !way.unseen.is_empty(), "{entry}: neither");
                }
            }
        }
        assert_eq!(way("costs.tea", &hosts()[0], &Measured::default()), None);
        assert_eq!(way("biscuits", &hosts()[0], &Measured::default()), None);
    }
}
