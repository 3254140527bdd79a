//! What busy hardware threads of a core take from each other (machine.md 6.2, 6.7).

use super::figure::Figure;
use super::file::quoted;
use super::host::{Host, Pair};
use super::measure::{Bench, timed};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How long a piece of integer work takes on a hardware thread, ns.
#[derive(Clone, Copy, Debug)]
pub struct Siblings {
    /// Its sibling idles.
    pub alone: Option<Figure>,
    /// Its sibling does the same work.
    pub together: Option<Figure>,
}

impl Siblings {
    /// What a thread is left with beside a busy one, in percent.
    fn busy_percent(&self) -> Option<u64> {
        let (alone, together) = (self.alone?.quarter_ns, self.together?.quarter_ns.max(1));
        Some(((alone * 100 + together / 2) / together).clamp(1, 100))
    }
}

/// How long each piece of integer work took on one CPU, ns.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// The other CPU was left alone.
    pub(super) alone_ns: Vec<u64>,
    /// The other CPU did the same work.
    pub(super) together_ns: Vec<u64>,
}

impl Bench<'_> {
    /// Times integer work on one sibling.
    pub fn siblings(&self, pair: Pair) -> io::Result<Siblings> {
        let Pieces { alone_ns, together_ns } = self.pieces(pair, 2000)?;
        Ok(Siblings { alone: Figure::of(alone_ns), together: Figure::of(together_ns) })
    }

    /// Pieces of integer work on the first CPU, so many by turns alone and beside the other CPU: what the
    /// clock of a core does meanwhile, it does to both.
    pub(super) fn pieces(&self, pair: Pair, count: usize) -> io::Result<Pieces> {
        const TURNS: usize = 5;
        let mut pieces = Pieces::default();
        let sample = |into: &mut Vec<u64>| into.extend((0..count / TURNS).map(|_| timed(integer_work)));
        for _ in 0..TURNS {
            self.pin(pair.a)?;
            sample(&mut pieces.alone_ns);
            let (runs, over) = (AtomicBool::new(false), AtomicBool::new(false));
            // A thread made here inherits the CPU.
            self.pin(pair.b)?;
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        integer_work();
                        runs.store(true, Ordering::Relaxed);
                    }
                });
                let moved = self.pin(pair.a);
                while moved.is_ok() && !runs.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                if moved.is_ok() {
                    sample(&mut pieces.together_ns);
                }
                over.store(true, Ordering::Relaxed);
                moved
            })?;
        }
        Ok(pieces)
    }
}

/// Some 50 µs of what compilers make of everyday code: independent additions, shifts and products.
fn integer_work() {
    let mut words = black_box([1u64, 2, 3, 4]);
    for n in 0..10_000u64 {
        for word in &mut words {
            *word = (*word ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(13).wrapping_add(*word >> 7);
        }
    }
    black_box(words);
}

/// The `[speed]` of a machine file that is measured, or a word that there is nothing to measure.
pub(super) fn speed(host: &Host, siblings: Option<Siblings>) -> String {
    if !host.has_smt() {
        return "\n# No SMT is visible, so there is no smt_busy_percent.\n".to_owned();
    }
    let measured = siblings.and_then(|s| Some((s.busy_percent()?, s.alone?, s.together?)));
    let Some((percent, alone, together)) = measured else { return String::new() };
    let origin =
        format!("measured: integer work on a sibling takes {alone} ns alone, {together} ns together");
    format!("\n[speed]\nsmt_busy_percent = {{ percent = {percent}, origin = {} }}\n", quoted(&origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(alone: u64, together: u64) -> Siblings {
        Siblings { alone: Figure::of(vec![alone]), together: Figure::of(vec![together]) }
    }

    #[test]
    fn the_factor_is_the_time_alone_by_the_time_together() {
        let percent = |alone, together| took(alone, together).busy_percent();
        assert_eq!([percent(62_000, 100_000), percent(50_000, 80_645)], [Some(62), Some(62)]);
        assert_eq!([percent(1, 3), percent(2, 3)], [Some(33), Some(67)]);
        // No thread gets faster beside another one: that is chance.
        assert_eq!(percent(101, 100), Some(100));
        assert_eq!(Siblings { alone: None, together: None }.busy_percent(), None);
    }
}
