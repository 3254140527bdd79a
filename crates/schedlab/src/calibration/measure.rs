//! The measurements themselves: small loops, timed from user space. Each sample is in nanoseconds.

use super::figure::Figure;
use super::host::{Host, Pair};
use rustix::thread::{CpuSet, MembarrierCommand, membarrier, sched_setaffinity, sched_yield};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use scheduler::CpuId;
use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Measures on the CPUs of a machine.
#[derive(Debug)]
pub struct Bench<'a> {
    host: &'a Host,
}

/// Nanoseconds on the clock that neither jumps nor stops.
pub(super) fn now() -> u64 {
    let time = clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How long something takes.
pub(super) fn timed(what: impl FnOnce()) -> u64 {
    let start = now();
    what();
    now() - start
}

impl<'a> Bench<'a> {
    /// For this machine.
    pub fn new(host: &'a Host) -> Bench<'a> {
        Bench { host }
    }

    /// Ties the calling thread to a CPU.
    pub(super) fn pin(&self, cpu: CpuId) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(self.online(cpu).into());
        Ok(sched_setaffinity(None, &set)?)
    }

    /// The kernel's number of a CPU.
    pub(super) fn online(&self, cpu: CpuId) -> u16 {
        self.host.online[cpu.index()]
    }

    /// Lets the calling thread go anywhere again.
    pub fn unpin(&self) -> io::Result<()> {
        let mut set = CpuSet::new();
        self.host.online.iter().for_each(|cpu| set.set((*cpu).into()));
        Ok(sched_setaffinity(None, &set)?)
    }

    /// A system call that does nothing.
    pub fn syscall(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        Ok(batches(200, 1000, || {
            black_box(rustix::process::getppid());
        }))
    }

    /// Taking and releasing a free lock whose line is here.
    pub fn lock(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        let lock = AtomicBool::new(false);
        Ok(batches(200, 1000, || {
            let _ = black_box(&lock).compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            black_box(&lock).store(false, Ordering::Release);
        }))
    }

    /// sched_yield with nothing else to run.
    pub fn yield_alone(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        Ok(batches(200, 20, sched_yield))
    }

    /// sched_yield of two threads on one CPU: a sample is the time of a batch by the switches that it made.
    pub fn yield_switch(&self, alone: Figure) -> io::Result<Option<Figure>> {
        // Few, so that most batches are over before other work on this CPU gets its turn.
        const YIELDS: u64 = 10;
        self.pin(CpuId(0))?;
        let (over, last, switches) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let turn = |me: u64| {
            if last.swap(me, Ordering::Relaxed) != me {
                switches.fetch_add(1, Ordering::Relaxed);
            }
            sched_yield();
        };
        let mut samples = Vec::new();
        // A thread made here inherits the CPU.
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    turn(2);
                }
            });
            for _ in 0..1000 {
                switches.store(0, Ordering::Relaxed);
                let took = timed(|| (0..YIELDS).for_each(|_| turn(1)));
                let switched = switches.load(Ordering::Relaxed);
                // Both threads yield: where they do not take turns, the batch says nothing.
                if switched > YIELDS {
                    let idle = (2 * YIELDS).saturating_sub(switched) * alone.quarter_ns;
                    samples.push(took.saturating_sub(idle) / switched);
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        Ok(Figure::of(samples))
    }

    /// Writing a byte into a pipe and reading it, by one thread.
    pub fn pipe_alone(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        let mut pipe = Pipe::new()?;
        Ok(batches(200, 100, || pipe.write_and_read()))
    }

    /// A byte there and back through two pipes, by threads on these CPUs: a sample is half a round.
    pub fn pipe_hop(&self, pair: Pair) -> io::Result<Hops> {
        let rounds = self.pipe_rounds(pair, 2000)?;
        let hop = Figure::of(rounds.iter().map(|round| round.all_ns / 2).collect());
        Ok(Hops { hop, call: Figure::of(rounds.iter().map(|round| round.call_ns).collect()) })
    }

    /// The same, round by round.
    pub(super) fn pipe_rounds(&self, pair: Pair, count: usize) -> io::Result<Vec<Round>> {
        let (mut there, mut back) = (Pipe::new()?, Pipe::new()?);
        self.pin(pair.b)?;
        let mut rounds = Vec::with_capacity(count);
        thread::scope(|scope| {
            let (from, to) = (&mut there.reader, &mut back.writer);
            scope.spawn(move || {
                for _ in 0..count {
                    let mut byte = [0];
                    if from.read_exact(&mut byte).is_err() || to.write_all(&byte).is_err() {
                        break;
                    }
                }
            });
            self.pin(pair.a)?;
            for _ in 0..count {
                let start = now();
                there.writer.write_all(&[1])?;
                let call_ns = now() - start;
                back.reader.read_exact(&mut [0])?;
                rounds.push(Round { all_ns: now() - start, call_ns });
            }
            io::Result::Ok(())
        })?;
        Ok(rounds)
    }

    /// membarrier, which interrupts the other CPU and waits for its answer.
    pub fn interrupt_round(&self, pair: Pair) -> io::Result<Option<Figure>> {
        membarrier(MembarrierCommand::RegisterPrivateExpedited)?;
        let mut samples = Vec::new();
        self.beside(pair, |ball| {
            for _ in 0..1000 {
                // A CPU that does not run this process is not interrupted: the other thread must be running
                // right now.
                round_trip(ball);
                let start = now();
                membarrier(MembarrierCommand::PrivateExpedited)?;
                samples.push(now() - start);
            }
            Ok(())
        })?;
        Ok(Figure::of(samples))
    }

    /// One way of a cache line that two CPUs write in turn.
    pub fn line(&self, pair: Pair) -> io::Result<Option<Figure>> {
        const ROUNDS: u64 = 100;
        let mut samples = Vec::new();
        self.beside(pair, |ball| {
            for _ in 0..500 {
                let took = timed(|| (0..ROUNDS).for_each(|_| round_trip(ball)));
                samples.push(took / (2 * ROUNDS));
            }
            Ok(())
        })?;
        Ok(Figure::of(samples))
    }

    /// Runs `what` on the first CPU while a thread on the second spins: it makes odd numbers of the word
    /// even.
    fn beside(&self, pair: Pair, what: impl FnOnce(&AtomicU64) -> io::Result<()>) -> io::Result<()> {
        let (ball, over) = (AtomicU64::new(0), AtomicBool::new(false));
        self.pin(pair.b)?;
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let seen = ball.load(Ordering::Acquire);
                    if seen % 2 == 1 {
                        ball.store(seen + 1, Ordering::Release);
                    }
                    spin_loop();
                }
            });
            let done = self.pin(pair.a).and_then(|()| what(&ball));
            over.store(true, Ordering::Relaxed);
            done
        })
    }

    /// What setting a timer costs more where it is the next to expire, so that the hardware must be told.
    pub fn timer_program(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::empty())?;
        let set = |ns: i64| -> io::Result<u64> {
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            let expiry = Timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
            let start = now();
            timerfd_settime(
                &timer,
                TimerfdTimerFlags::empty(),
                &Itimerspec { it_interval: zero, it_value: expiry },
            )?;
            Ok(now() - start)
        };
        let mut samples = Vec::new();
        for _ in 0..500 {
            let far = set(3_600_000_000_000)?;
            let near = set(200_000)?;
            // Off again, which tells the hardware, too: the far one must not pay for that.
            set(0)?;
            samples.push(near.saturating_sub(far));
        }
        Ok(Figure::of(samples))
    }

    /// Making a thread and waiting for its end.
    pub fn thread(&self) -> io::Result<Option<Figure>> {
        self.pin(CpuId(0))?;
        Ok(batches(300, 1, || {
            thread::scope(|scope| drop(scope.spawn(|| {})));
        }))
    }

    /// Starting a program that does nothing, and waiting for its end.
    pub fn process(&self) -> io::Result<Option<Figure>> {
        Ok(Figure::of(self.processes(100)?))
    }

    /// The same, one by one.
    pub(super) fn processes(&self, count: usize) -> io::Result<Vec<u64>> {
        self.pin(CpuId(0))?;
        let mut samples = Vec::with_capacity(count);
        for _ in 0..count {
            let start = now();
            Command::new("true").stdin(Stdio::null()).stdout(Stdio::null()).status()?;
            samples.push(now() - start);
        }
        Ok(samples)
    }

    /// What a pass over a working set of 256 KiB costs more after a move to the other CPU, in ps a byte: in
    /// the order of memory, and at random.
    pub fn refill(&self, pair: Pair) -> io::Result<Refill> {
        const LINES: usize = 4096;
        const LINE_WORDS: usize = 16;
        let mut set = vec![0u32; LINES * LINE_WORDS];
        // A ring through all lines in a scrambled order: steps of an odd number of lines reach every line.
        let mut line = 0;
        for _ in 0..LINES {
            let next = (line + 2477) % LINES;
            set[line * LINE_WORDS] = (next * LINE_WORDS) as u32;
            line = next;
        }
        let chase = |set: &[u32]| {
            let mut at = 0;
            for _ in 0..LINES {
                at = set[at] as usize;
            }
            black_box(at);
        };
        let sweep = |set: &[u32]| {
            black_box(set.iter().step_by(LINE_WORDS).fold(0u32, |sum, word| sum.wrapping_add(*word)));
        };
        let mut refill = |pass: &dyn Fn(&[u32])| -> io::Result<Option<Figure>> {
            let mut samples = Vec::new();
            for n in 0..60 {
                let (from, to) = if n % 2 == 0 { (pair.a, pair.b) } else { (pair.b, pair.a) };
                self.pin(from)?;
                set.iter_mut().step_by(LINE_WORDS).for_each(|word| *word = black_box(*word));
                pass(&set);
                let warm = timed(|| pass(&set));
                self.pin(to)?;
                let moved = timed(|| pass(&set));
                samples.push(moved.saturating_sub(warm) * 1000 / (LINES * 64) as u64);
            }
            Ok(Figure::of(samples))
        };
        Ok(Refill { in_order: refill(&sweep)?, at_random: refill(&chase)? })
    }
}

/// Makes the word odd and waits until the other thread has made it even.
fn round_trip(ball: &AtomicU64) {
    let served = ball.load(Ordering::Acquire) + 1;
    ball.store(served, Ordering::Release);
    while ball.load(Ordering::Acquire) == served {
        spin_loop();
    }
}

/// A byte there and back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// All of it, ns.
    pub(super) all_ns: u64,
    /// The call that writes and wakes, ns.
    pub(super) call_ns: u64,
}

/// Times of a byte on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hops {
    /// From the write to the other thread's answer, half of it.
    pub hop: Option<Figure>,
    /// The call that writes and wakes.
    pub call: Option<Figure>,
}

/// Costs of being moved, ps a byte.
#[derive(Clone, Copy, Debug)]
pub struct Refill {
    /// Memory is read in its order.
    pub in_order: Option<Figure>,
    /// Each load depends on the one before.
    pub at_random: Option<Figure>,
}

/// Samples of a batch each: the time of one call.
fn batches(samples: usize, batch: u64, mut what: impl FnMut()) -> Option<Figure> {
    let sample = |_| timed(|| (0..batch).for_each(|_| what())) / batch;
    Figure::of((0..samples).map(sample).collect())
}

/// Both ends of a new pipe, the reader's first.
pub(super) fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = rustix::pipe::pipe()?;
    Ok((reader.into(), writer.into()))
}

#[derive(Debug)]
struct Pipe {
    reader: File,
    writer: File,
}

impl Pipe {
    fn new() -> io::Result<Pipe> {
        let (reader, writer) = pipe()?;
        Ok(Pipe { reader, writer })
    }

    fn write_and_read(&mut self) {
        // A pipe of our own that holds at most a byte does not fail.
        let _ = self.writer.write_all(&[1]);
        let _ = self.reader.read_exact(&mut [0]);
    }
}
