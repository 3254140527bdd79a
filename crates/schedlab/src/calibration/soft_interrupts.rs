//! How long interrupts and soft interrupts take (machine.md 2.2, 6.7): where tracefs may be written, their
//! events say so, in an instance of tracing of our own; elsewhere a program cannot tell one from the other.

use super::figure::quantile;
use super::measure::Bench;
use super::pieces::beside_a_shell;
use crate::recording::{RecordError, Tracefs};
use rustix::thread::nanosleep;
use rustix::time::Timespec;
use scheduler::CpuId;
use std::collections::BTreeMap;
use std::io;

/// How long handlers of one kind took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Handlers {
    /// `softirq RCU`, `irq 36`, `local_timer`.
    pub(super) what: String,
    /// How many.
    pub(super) count: usize,
    /// The median, ns.
    pub(super) p50_ns: u64,
    /// All but one of a hundred, ns.
    pub(super) p99_ns: u64,
    /// The longest, ns.
    pub(super) max_ns: u64,
}

/// What is switched on: an entry with each exit.
const EVENTS: [&str; 10] = [
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "irq_vectors/local_timer_entry",
    "irq_vectors/local_timer_exit",
    "irq_vectors/reschedule_entry",
    "irq_vectors/reschedule_exit",
    "irq_vectors/call_function_single_entry",
    "irq_vectors/call_function_single_exit",
];

impl Bench<'_> {
    /// Those of this CPU while a shell forks on it. `Err`: why they cannot be had.
    pub(super) fn soft_interrupts(&self) -> io::Result<Result<Vec<Handlers>, String>> {
        self.pin(CpuId(0))?;
        let traced = beside_a_shell("while :; do (:); done", || Ok(traced(self.online(CpuId(0)))))?;
        Ok(traced.map(|text| handlers(&text)).map_err(|error| error.to_string()))
    }
}

/// What tracefs has to say of the CPU in two seconds, as text.
fn traced(cpu: u16) -> Result<String, RecordError> {
    const LASTS: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
    let tracefs = Tracefs::find()?;
    let instance = tracefs.instance()?;
    let buffer = "per_cpu/cpu";
    let asked = || {
        instance.write("trace_clock", "mono")?;
        for event in EVENTS {
            let file = format!("events/{event}/enable");
            // Kernels of other processors have other vectors, or none.
            if instance.has(&file) {
                instance.write(&file, "1")?;
            }
        }
        // One that a signal ends early is shorter, no more.
        let _ = nanosleep(&LASTS);
        instance.write("tracing_on", "0")?;
        instance.read(&format!("{buffer}{cpu}/trace"))
    };
    let text = asked();
    instance.remove()?;
    text
}

/// Of the text of a trace of one CPU: from each entry to the exit of the same kind.
fn handlers(text: &str) -> Vec<Handlers> {
    let mut begun: BTreeMap<String, u64> = BTreeMap::new();
    let mut lengths: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for Line { at_ns, event, rest } in text.lines().filter_map(line) {
        let (kind, is_entry) = match (event.strip_suffix("_entry"), event.strip_suffix("_exit")) {
            (Some(kind), _) => (kind, true),
            (_, Some(kind)) => (kind, false),
            _ => continue,
        };
        let what = match kind {
            // vec=9 [action=RCU]
            "softirq" => {
                let action = rest.split_once("action=").and_then(|(_, rest)| rest.split(']').next());
                format!("softirq {}", action.unwrap_or("of unknown kind"))
            }
            // irq=36 name=virtio0 and irq=36 ret=handled
            "irq_handler" => {
                let number = rest.split(' ').find_map(|word| word.strip_prefix("irq="));
                format!("irq {}", number.unwrap_or("of unknown number"))
            }
            _ => kind.to_owned(),
        };
        if is_entry {
            begun.insert(what, at_ns);
        } else if let Some(from) = begun.remove(&what) {
            lengths.entry(what).or_default().push(at_ns.saturating_sub(from));
        }
    }
    let handler = |(what, mut lengths): (String, Vec<u64>)| {
        lengths.sort_unstable();
        let at = |percent| quantile(&lengths, percent).unwrap_or_default();
        Handlers { count: lengths.len(), p50_ns: at(50), p99_ns: at(99), max_ns: at(100), what }
    };
    lengths.into_iter().map(handler).collect()
}

/// A line of a trace.
struct Line<'a> {
    at_ns: u64,
    event: &'a str,
    rest: &'a str,
}

/// Of `  sh-12 [000] d.h1. 12.345678: softirq_entry: vec=9 [action=RCU]`; a name of a task may have anything
/// in it, so that the time is the first word before a colon that looks like one.
fn line(text: &str) -> Option<Line<'_>> {
    text.match_indices(": ").find_map(|(at, colon)| {
        let time = text[..at].rsplit(' ').next()?;
        let (seconds, part) = time.split_once('.')?;
        let micros: u64 = part.get(..6)?.parse().ok()?;
        let at_ns = seconds.parse::<u64>().ok()? * 1_000_000_000 + micros * 1000;
        let (event, rest) = text[at + colon.len()..].split_once(':')?;
        Some(Line { at_ns, event: event.trim(), rest: rest.trim() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as kernel 6.18 writes them; the first exit has lost its entry, and a task has a strange name.
    #[test]
    fn handlers_last_from_their_entry_to_their_exit() {
        let text = "# tracer: nop\n#\n\
            \x20             sh-100     [000] d.s2.    61.000001: softirq_exit: vec=1 [action=TIMER]\n\
            \x20         <idle>-0       [000] d.h1.    61.000010: local_timer_entry: vector=236\n\
            \x20         <idle>-0       [000] d.h1.    61.000021: local_timer_exit: vector=236\n\
            \x20             sh-100     [000] ..s1.    61.000022: softirq_entry: vec=9 [action=RCU]\n\
            \x20             sh-100     [000] d.h2.    61.000030: irq_handler_entry: irq=36 name=virtio0\n\
            \x20             sh-100     [000] d.h2.    61.000033: irq_handler_exit: irq=36 ret=handled\n\
            \x20             sh-100     [000] ..s1.    61.000052: softirq_exit: vec=9 [action=RCU]\n\
            \x20       a: 1.0: b-100     [000] ..s1.    61.000060: softirq_entry: vec=9 [action=RCU]\n\
            \x20             sh-100     [000] ..s1.    61.000070: softirq_exit: vec=9 [action=RCU]\n";
        let told: Vec<_> =
            handlers(text).into_iter().map(|h| (h.what, h.count, h.p50_ns, h.max_ns)).collect();
        assert_eq!(
            told,
            [
                ("irq 36".to_owned(), 1, 3_000, 3_000),
                ("local_timer".to_owned(), 1, 11_000, 11_000),
                ("softirq RCU".to_owned(), 2, 30_000, 30_000)
            ]
        );
        assert_eq!(handlers("CPU 0 is empty\n"), []);
    }
}
