//! A mutex with priority inheritance, as pthread makes it of a PI futex (futex(2)).

use rustix::thread::futex::{Flags, lock_pi, unlock_pi};
use rustix::thread::gettid;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// Its word: 0, or its owner's thread id, with a bit that the kernel sets while others wait.
#[derive(Debug, Default)]
pub(super) struct PiMutex(AtomicU32);

impl PiMutex {
    /// Takes it, in the kernel where somebody else has it.
    ///
    /// # Errors
    /// What the kernel says: it belongs to the calling thread already, or there are no such futexes.
    pub(super) fn lock(&self) -> io::Result<()> {
        match self.0.compare_exchange(0, me(), Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => Ok(lock_pi(&self.0, Flags::PRIVATE, None)?),
        }
    }

    /// Lets it go, through the kernel where somebody waits.
    ///
    /// # Errors
    /// What the kernel says: it does not belong to the calling thread.
    pub(super) fn unlock(&self) -> io::Result<()> {
        match self.0.compare_exchange(me(), 0, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => Ok(unlock_pi(&self.0, Flags::PRIVATE)?),
        }
    }
}

fn me() -> u32 {
    gettid().as_raw_nonzero().get().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    #[test]
    fn one_thread_at_a_time_has_it() {
        let (mutex, count) = (PiMutex::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        mutex.lock().expect("a futex");
                        // Two steps, between which another thread would be noticed.
                        let seen = count.load(Ordering::Relaxed);
                        count.store(seen + 1, Ordering::Relaxed);
                        mutex.unlock().expect("its owner's");
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 4000);
        assert!(mutex.unlock().is_err(), "it belongs to nobody");
    }
}
