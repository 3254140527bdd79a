//! What two CPUs that read memory take from each other (machine.md 6.4, 6.7).

use super::figure::Figure;
use super::file::quoted;
use super::host::Pair;
use super::measure::Bench;
use super::sources::{Seen, Way};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How much CPU time a pass over memory that no cache holds takes, ns: what other tasks take is not in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    /// The other CPU was left alone.
    pub(super) alone: Figure,
    /// The other CPU read as much, from memory of its own.
    pub(super) together: Figure,
}

/// A pass.
const BYTES: usize = 64 << 20;
const LINE: usize = 64;

/// Two readers wait for each other if each is left with less than this, in percent.
const WAITING_PERCENT: u64 = 95;

impl Bandwidth {
    /// What of its speed alone a reader is left with, in percent.
    fn percent(&self) -> u64 {
        let together = self.together.quarter_ns.max(1);
        ((self.alone.quarter_ns * 100 + together / 2) / together).min(100)
    }
}

/// The `[memory]` of a machine file, if two readers wait for each other: then what they read together is all
/// that there is.
pub(super) fn memory(seen: Option<Bandwidth>) -> String {
    let Some(seen) = seen.filter(|seen| seen.percent() < WAITING_PERCENT) else { return String::new() };
    let Bandwidth { alone, together } = seen;
    let bytes_per_us = |ns: u64| BYTES as u64 * 1000 / ns.max(1);
    let (cpu, node) = (bytes_per_us(alone.quarter_ns), 2 * bytes_per_us(together.quarter_ns));
    let entry = |key: &str, bytes: u64, origin: String| {
        format!("{key} = {{ bytes_per_us = {bytes}, origin = {} }}\n", quoted(&origin))
    };
    let of_cpu = format!("measured: a pass over 64 MiB takes {alone} ns alone");
    let of_node =
        format!("measured: two CPUs that read 64 MiB each take {together} ns together, more than alone");
    format!("\n[memory]\n{}{}", entry("cpu", cpu, of_cpu), entry("node", node.max(cpu), of_node))
}

pub(super) fn way(seen: Option<Bandwidth>) -> Way {
    let unseen = match seen {
        Some(seen) if seen.percent() >= WAITING_PERCENT => format!(
            "two readers have {} % of their speed alone, so all that memory gives is more than that; left out, nobody \
             waits for it",
            seen.percent()
        ),
        _ => "it takes two cores of a package, and there is one only; left out, nobody waits for memory"
            .to_owned(),
    };
    let waiting = seen.filter(|seen| seen.percent() < WAITING_PERCENT);
    let seen =
        waiting.map(|seen| Seen { probe: "reads beside another reader", samples: seen.together.samples });
    Way { seen, unseen }
}

/// How much CPU time of this thread something takes, ns.
fn cpu_time(what: impl FnOnce()) -> u64 {
    let time = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let start = time();
    what();
    time() - start
}

impl Bench<'_> {
    /// Reads memory on the first CPU, alone and beside the other one.
    pub(super) fn bandwidth(&self, pair: Pair) -> io::Result<Option<Bandwidth>> {
        const PASSES: usize = 40;
        let memory = || vec![1u8; BYTES];
        let read = |memory: &[u8]| {
            black_box(memory.iter().step_by(LINE).fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
        };
        self.pin(pair.a)?;
        let own = memory();
        let passes = || (0..PASSES).map(|_| cpu_time(|| read(&own))).collect::<Vec<u64>>();
        let alone = passes();
        let (runs, over) = (AtomicBool::new(false), AtomicBool::new(false));
        // A thread made here inherits the CPU.
        self.pin(pair.b)?;
        let together = thread::scope(|scope| {
            scope.spawn(|| {
                let others = memory();
                while !over.load(Ordering::Relaxed) {
                    read(&others);
                    runs.store(true, Ordering::Relaxed);
                }
            });
            let moved = self.pin(pair.a);
            while moved.is_ok() && !runs.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let took = moved.map(|()| passes());
            over.store(true, Ordering::Relaxed);
            took
        })?;
        let figures = Figure::of(alone).zip(Figure::of(together));
        Ok(figures.map(|(alone, together)| Bandwidth { alone, together }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// machine.md 6.4: 25 to 26 bytes in a nanosecond alone, 13.9 to 14.8 together, a factor of 0.53 to 0.59.
    #[test]
    fn a_reader_beside_another_one_is_left_with_half() {
        let figure = |ns| Figure::of(vec![ns]).expect("a sample");
        let seen = Bandwidth { alone: figure(2_580_000), together: figure(4_610_000) };
        assert_eq!(seen.percent(), 56);
        let text = memory(Some(seen));
        assert!(text.contains("cpu = { bytes_per_us = 26011,"), "{text}");
        assert!(text.contains("node = { bytes_per_us = 29114,"), "{text}");
        assert!(way(Some(seen)).seen.is_some());
        // As fast as alone: nobody knows what a third one would find.
        let chance = Bandwidth { alone: figure(2_600_000), together: figure(2_500_000) };
        assert_eq!((chance.percent(), memory(Some(chance)).as_str()), (100, ""));
        assert_eq!((way(Some(chance)).seen, way(None).seen), (None, None));
    }
}
