//! A mutex with priority inheritance passed on from its owner to one who waits for it.

use super::figure::Figure;
use super::host::Pair;
use super::measure::{Bench, now, pipe};
use super::pi_mutex::PiMutex;
use super::realtime::Fifo;
use scheduler::CpuId;
use std::fs::File;
use std::hint::spin_loop;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The owner's priority.
pub(super) const OWNER: u8 = 10;
/// That of the one who waits.
pub(super) const WAITER: u8 = 20;
/// How long the owner keeps it while the other one waits.
pub(super) const HELD_NS: u64 = 50_000;

/// What both threads know.
#[derive(Debug, Default)]
struct Shared {
    mutex: PiMutex,
    /// When the owner let it go.
    let_go_ns: AtomicU64,
    rounds: usize,
}

/// A pipe's ends of one of the threads.
#[derive(Debug)]
struct Ends {
    reader: File,
    writer: File,
}

impl Bench<'_> {
    /// Between two threads of one CPU.
    pub(super) fn hand_over(&self) -> io::Result<Option<Figure>> {
        let own = Pair { a: CpuId(0), b: CpuId(0) };
        Ok(self.hand_overs(own, 500)?.and_then(Figure::of))
    }

    /// Times from the unlock of a SCHED_FIFO thread on the first CPU to one of higher priority, on the
    /// second, having the mutex. `None` where real-time threads are not allowed.
    pub(super) fn hand_overs(&self, pair: Pair, rounds: usize) -> io::Result<Option<Vec<u64>>> {
        if Fifo::new(WAITER).is_none() {
            return Ok(None);
        }
        let ((from_owner, to_waiter), (from_waiter, to_owner)) = (pipe()?, pipe()?);
        let owner = Ends { reader: from_waiter, writer: to_waiter };
        let waiter = Ends { reader: from_owner, writer: to_owner };
        let shared = Shared { rounds, ..Shared::default() };
        self.pin(pair.b)?;
        let each_ns = thread::scope(|scope| {
            // A thread made here inherits the CPU. Each has its ends for itself: when one gives up, the other
            // one's pipes end.
            let waits = scope.spawn(|| shared.wait_for_it(waiter));
            let owned = self.pin(pair.a).and_then(|()| shared.own_it(owner));
            let waited = waits.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")));
            owned.and(waited)
        })?;
        Ok(Some(each_ns))
    }
}

impl Shared {
    fn own_it(&self, mut ends: Ends) -> io::Result<()> {
        let _fifo = Fifo::new(OWNER).ok_or(io::ErrorKind::PermissionDenied)?;
        for _ in 0..self.rounds {
            self.mutex.lock()?;
            ends.writer.write_all(&[1])?;
            let until = now() + HELD_NS;
            while now() < until {
                spin_loop();
            }
            self.let_go_ns.store(now(), Ordering::Relaxed);
            self.mutex.unlock()?;
            ends.reader.read_exact(&mut [0])?;
        }
        Ok(())
    }

    fn wait_for_it(&self, mut ends: Ends) -> io::Result<Vec<u64>> {
        let _fifo = Fifo::new(WAITER).ok_or(io::ErrorKind::PermissionDenied)?;
        let mut each_ns = Vec::with_capacity(self.rounds);
        for _ in 0..self.rounds {
            ends.reader.read_exact(&mut [0])?;
            self.mutex.lock()?;
            each_ns.push(now().saturating_sub(self.let_go_ns.load(Ordering::Relaxed)));
            self.mutex.unlock()?;
            ends.writer.write_all(&[1])?;
        }
        Ok(each_ns)
    }
}
