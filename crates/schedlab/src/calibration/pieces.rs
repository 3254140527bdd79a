//! How long the kernel keeps a task from making room for another one (machine.md 4.1, 6.7): a timer of a
//! real-time thread over a task that does the same operation all the time. What it is later than over a task
//! that spins in user mode is the rest of the piece in which it came.

use super::figure::quantile;
use super::measure::Bench;
use super::preemption::HostPreemption;
use super::sources::{Seen, Way};
use super::timers::fifo_sleeps;
use machine::{Operation, Points, Stretch};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use scheduler::{CpuId, Nanos};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// How late timers were, as far as it is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waits {
    /// How many there are.
    pub(super) samples: usize,
    p50_ns: u64,
    p90_ns: u64,
    /// Up to here they are the machine's own; beyond lie stalls of a host.
    p995_ns: u64,
    /// Mean of those up to that.
    mean_ns: u64,
}

impl Waits {
    /// Of samples in any order; `None` without enough of them for their tail.
    pub(super) fn of(mut samples: Vec<u64>) -> Option<Waits> {
        samples.sort_unstable();
        let last = samples.len().checked_sub(200)? + 199;
        let p995_ns = *samples.get(last * 995 / 1000)?;
        let own: Vec<u64> = samples.iter().copied().filter(|ns| *ns <= p995_ns).collect();
        Some(Waits {
            samples: samples.len(),
            p50_ns: quantile(&samples, 50)?,
            p90_ns: quantile(&samples, 90)?,
            p995_ns,
            mean_ns: own.iter().sum::<u64>() / own.len() as u64,
        })
    }
}

/// All that was seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pieces {
    /// What the kernel says of where it makes room.
    pub(super) preemption: HostPreemption,
    /// Over a task that stays in user mode.
    pub(super) user: Waits,
    /// Over tasks in the kernel.
    pub(super) over: Vec<(Operation, Waits)>,
}

/// What one of them says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The stretch, as a machine file has it.
    pub(super) stretch: Stretch,
    /// What it was taken from.
    pub(super) waits: Waits,
}

impl Pieces {
    /// A stretch of this kind. What cannot be seen under the kernel that runs here is as in `base`: a kernel
    /// that makes room at points shows nothing of its atomic sections, and the other way round.
    pub(super) fn of(&self, operation: Operation, base: &Stretch) -> Option<Piece> {
        let waits = self.over.iter().find(|(of, _)| *of == operation)?.1;
        let points = base.points?;
        // Of an exponential span of mean m nine tenths lie within ln 10 m, a half within ln 2 m. How cold the
        // path is that the load has left is in both.
        const BETWEEN_PPM: u64 = 1_609_438;
        let apart = |waits: &Waits| waits.p90_ns - waits.p50_ns;
        let every_ns = apart(&waits).saturating_sub(apart(&self.user)) * 1_000_000 / BETWEEN_PPM;
        let every_ns = every_ns.max(LEAST_NS);
        let longest = waits.p995_ns.saturating_sub(self.user.p995_ns).max(every_ns);
        let scaled = |of: Nanos, to: Nanos| Nanos((of.0 * every_ns / to.0.max(1)).max(1));
        let stretch = match self.preemption {
            HostPreemption::None => Stretch {
                points: Some(Points {
                    cond_every: Nanos(every_ns),
                    might_every: scaled(points.might_every, points.cond_every),
                    longest: Nanos(longest),
                }),
                ..*base
            },
            HostPreemption::Voluntary => Stretch {
                points: Some(Points {
                    cond_every: scaled(points.cond_every, points.might_every),
                    might_every: Nanos(every_ns),
                    longest: Nanos(longest).max(scaled(points.cond_every, points.might_every)),
                }),
                ..*base
            },
            HostPreemption::Full => {
                let mean_ns = waits.mean_ns.saturating_sub(self.user.mean_ns) * 100;
                let atomic_mean = Nanos((mean_ns / u64::from(base.atomic_percent.max(1))).max(1));
                Stretch { atomic_mean, atomic_max: Nanos(longest).max(atomic_mean), ..*base }
            }
            HostPreemption::Realtime | HostPreemption::Unknown => return None,
        };
        Some(Piece { stretch, waits })
    }

    /// By how much timers were later than over a task that spins.
    pub(super) fn later(&self, waits: &Waits) -> String {
        let p50 = waits.p50_ns.saturating_sub(self.user.p50_ns);
        let p995 = waits.p995_ns.saturating_sub(self.user.p995_ns);
        format!("p50 {p50} ns later, p99.5 {p995} ns")
    }

    /// What was taken off what, in words.
    pub(super) fn how(&self, waits: &Waits) -> String {
        let (all, user) = (waits, &self.user);
        format!(
            "timers of a FIFO thread every 613 us were late by {} (p90 {}, p99.5 {}, n {}) over a task that does \
             this all the time, by {} (p90 {}, p99.5 {}) over one that spins, ns, under a kernel that {}",
            all.p50_ns,
            all.p90_ns,
            all.p995_ns,
            all.samples,
            user.p50_ns,
            user.p90_ns,
            user.p995_ns,
            self.preemption.words()
        )
    }
}

/// How the stretch with this name is learned.
pub(super) fn way(name: &str, pieces: Option<&Pieces>) -> Way {
    let none = |why: &str| Way { seen: None, unseen: why.to_owned() };
    let Some(pieces) = pieces else {
        return none(
            "it takes timers of a real-time thread beside a task in the kernel, which this process may not \
             have",
        );
    };
    match pieces.preemption {
        HostPreemption::Unknown => {
            return none(
                "the kernel does not say how it is preempted, so what a timer waits for has no name",
            );
        }
        HostPreemption::Realtime => {
            return none("under PREEMPT_RT most of what a stretch says is out of sight");
        }
        HostPreemption::None | HostPreemption::Voluntary | HostPreemption::Full => {}
    }
    match pieces.over.iter().find(|(operation, _)| operation.name() == name) {
        Some((_, waits)) => Way {
            seen: Some(Seen { probe: "timers over tasks in the kernel", samples: waits.samples }),
            unseen: String::new(),
        },
        None => none("a call is over before anything could be told of it, or the program for it is not here"),
    }
}

/// A piece is no shorter: a program cannot tell.
const LEAST_NS: u64 = 500;

/// What tasks do meanwhile, in a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    /// A shell forks, and waits for the child, which exits.
    Forks,
    /// A shell starts a program and waits for it.
    Executes,
    /// A thread makes threads and awaits them.
    MakesThreads,
    /// A thread makes files of 8 MiB in memory and frees them.
    FreesFiles,
}

impl Bench<'_> {
    /// Timers over tasks that fork, execute programs, make threads and free files. `None` where this process
    /// may not be real-time.
    pub(super) fn rests_of_pieces(&self) -> io::Result<Option<Pieces>> {
        /// Such that the timers do not follow the tick.
        const INTERVAL_NS: u64 = 613_000;
        const SLEEPS: usize = 1600;
        self.pin(CpuId(0))?;
        let preemption = HostPreemption::here();
        let timers = || fifo_sleeps(INTERVAL_NS, SLEEPS);
        let user = self.beside_a_spinner(timers)?;
        let Some(user) = user.and_then(Waits::of) else { return Ok(None) };
        let mut over = Vec::new();
        for (operation, does) in [
            (Operation::Fork, Does::Forks),
            (Operation::Exec, Does::Executes),
            (Operation::Thread, Does::MakesThreads),
            (Operation::Other, Does::FreesFiles),
        ] {
            let samples = match does {
                Does::Forks => beside_a_shell("while :; do (:); done", timers)?,
                Does::Executes => match PROGRAMS.iter().find(|path| Path::new(path).exists()) {
                    Some(path) => beside_a_shell(&format!("while :; do {path}; done"), timers)?,
                    None => None,
                },
                Does::MakesThreads => self.beside_a_thread(make_thread, timers)?,
                Does::FreesFiles => self.beside_a_thread(free_file, timers)?,
            };
            over.extend(samples.and_then(Waits::of).map(|waits| (operation, waits)));
        }
        // A process leaves the kernel by the same way as the one that the shell forks.
        let fork = over.iter().find(|(of, _)| *of == Operation::Fork).map(|(_, waits)| *waits);
        over.extend(fork.map(|waits| (Operation::Exit, waits)));
        Ok(Some(Pieces { preemption, user, over }))
    }
}

/// Where the program true is.
const PROGRAMS: [&str; 2] = ["/bin/true", "/usr/bin/true"];

fn make_thread() {
    // Where there are too many, there is none for once.
    let _ = thread::Builder::new().spawn(|| {}).map(|made| made.join());
}

fn free_file() {
    let Ok(file) = memfd_create("schedlab", MemfdFlags::CLOEXEC) else { return };
    // Where there is no memory for it, it is freed as it is.
    let _ = fallocate(&file, FallocateFlags::empty(), 0, 8 << 20);
}

/// A shell that is killed in the end.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `what` while a shell does this on the same CPU, whose affinity it inherits.
pub(super) fn beside_a_shell<T>(script: &str, what: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let _killed = Killed(quiet(Command::new("sh").args(["-c", script]))?);
    what()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Sleeps that are late by this, and by an exponential rest of a piece on top, to the nanosecond: one
    /// for each step of its quantiles.
    fn late(least: f64, mean: f64, longest: f64) -> Waits {
        let rest = |n: u32| -mean * (1.0 - (f64::from(n) + 0.5) / 2000.0_f64).ln();
        Waits::of((0..2000).map(|n| (least + rest(n).min(longest)) as u64).collect()).expect("samples")
    }

    pub(in super::super) fn seen_under(preemption: HostPreemption) -> Pieces {
        let all = [Operation::Fork, Operation::Thread, Operation::Exec, Operation::Exit, Operation::Other];
        let over = all.map(|operation| (operation, late(17_000.0, 15_000.0, 50_000.0))).to_vec();
        Pieces { preemption, user: late(17_000.0, 1.0, 1.0), over }
    }

    const BASE: Stretch = Stretch {
        points: Some(Points { cond_every: Nanos(8_000), might_every: Nanos(4_000), longest: Nanos(50_000) }),
        atomic_percent: 25,
        atomic_mean: Nanos(1_500),
        atomic_max: Nanos(20_000),
    };

    /// machine.md 6.7 wants 30 %.
    #[test]
    fn a_mean_piece_and_the_longest_come_out_again() {
        let of = |preemption| seen_under(preemption).of(Operation::Exec, &BASE).expect("it was seen").stretch;
        let points = of(HostPreemption::None).points.expect("it has some");
        assert!(points.cond_every.0.abs_diff(15_000) < 300, "{points:?}");
        assert!(points.longest.0.abs_diff(50_000) < 300, "{points:?}");
        assert_eq!(points.might_every.0, points.cond_every.0 / 2, "as assumed");
        let voluntary = of(HostPreemption::Voluntary).points.expect("it has some");
        assert_eq!(
            (voluntary.might_every, voluntary.cond_every.0),
            (points.cond_every, points.cond_every.0 * 2)
        );
        assert_eq!(of(HostPreemption::None).atomic_mean, BASE.atomic_mean, "points hide them");
    }

    /// 14.4 us on average, if cut at 50, in a quarter of the cases.
    #[test]
    fn a_kernel_that_preempts_itself_shows_its_atomic_sections() {
        let stretch =
            seen_under(HostPreemption::Full).of(Operation::Fork, &BASE).expect("it was seen").stretch;
        assert_eq!(stretch.points, BASE.points, "it has no use for them");
        assert!(stretch.atomic_mean.0.abs_diff(4 * 14_400) < 1_500, "{stretch:?}");
        assert!(stretch.atomic_max >= stretch.atomic_mean);
    }

    #[test]
    fn of_a_kernel_that_says_nothing_nothing_is_said() {
        for preemption in [HostPreemption::Unknown, HostPreemption::Realtime] {
            assert_eq!(seen_under(preemption).of(Operation::Exec, &BASE), None);
        }
        assert_eq!(seen_under(HostPreemption::None).of(Operation::Call, &BASE), None, "no probe calls");
        assert_eq!(Waits::of(vec![1; 199]), None, "too few for a tail");
    }
}
