//! Ctrl-C and its relatives: they end the program without leaving half a file behind, a recording with a
//! whole one, and what takes long with a word on what stands.

use super::output::Failure;
use schedlab::Error;
use schedlab::outputs::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;

/// Who ends by himself when a signal asks for it.
static TAKER: Mutex<Option<Taker>> = Mutex::new(None);
/// The last signal that asked; 0: none.
static LAST: AtomicI32 = AtomicI32::new(0);

struct Taker {
    asked: Arc<AtomicBool>,
    /// Whether a signal that comes while he has been asked already ends the program.
    is_asked_once: bool,
}

fn taker() -> MutexGuard<'static, Option<Taker>> {
    TAKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks whoever takes signals to end; `false`: nobody does, or he was asked before.
fn ask(signal: i32) -> bool {
    // First: whoever sees that he is asked also sees by which.
    LAST.store(signal, Ordering::SeqCst);
    match taker().as_ref() {
        Some(taker) => !taker.asked.swap(true, Ordering::SeqCst) || !taker.is_asked_once,
        None => false,
    }
}

/// From here on, a signal that ends the program removes unfinished files first.
///
/// # Errors
/// Those of the system, which has no thread left.
pub fn clean_up() -> io::Result<()> {
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.get().is_some() {
        return Ok(());
    }
    // A file that is larger than the user's limit is an error like a full disk, and not the end.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(&status, signal));
    let mut signals = Signals::new(heeded)?;
    Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if !ask(signal) {
                end_by(signal);
            }
        }
    })?;
    DONE.get_or_init(|| ());
    Ok(())
}

/// Whether the signal was ignored when the program began (as SIGHUP under nohup): then it stays so.
fn is_ignored(status: &str, signal: i32) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Ends the program as if it had not heard of the signal, but without half a file.
fn end_by(signal: i32) -> ! {
    let _standstill = remove_unfinished();
    // As the shell wants to see it; it does not come back.
    let _ = emulate_default_handler(signal);
    process::exit(128 + signal)
}

/// While it lives, a signal ends nothing but asks.
#[derive(Debug)]
pub struct Taken {
    asked: Arc<AtomicBool>,
}

impl Taken {
    /// Every signal asks, until it is dropped.
    pub fn take() -> Taken {
        Taken::of(false)
    }

    /// The first signal asks; another one ends the program.
    ///
    /// # Errors
    /// Those of the system, which has no thread left.
    pub fn once() -> io::Result<Taken> {
        clean_up()?;
        Ok(Taken::of(true))
    }

    fn of(is_asked_once: bool) -> Taken {
        let asked = Arc::new(AtomicBool::new(false));
        *taker() = Some(Taker { asked: asked.clone(), is_asked_once });
        Taken { asked }
    }

    /// Whether a signal came since the last time that this was asked.
    pub fn asked(&self) -> bool {
        self.asked.swap(false, Ordering::SeqCst)
    }

    /// Set when a signal comes, for whoever looks there by himself.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// What an error comes to: if a signal came, that ends the program once the error is told.
    pub fn failure(&self, error: Error) -> Failure {
        match self.came() {
            Some(signal) => Failure::Signal(signal, Some(error)),
            None => Failure::Error(error),
        }
    }

    /// The signal that came, if one did: who has said what stands ends by it.
    pub fn came(&self) -> Option<Signal> {
        self.asked.load(Ordering::SeqCst).then(|| Signal(LAST.load(Ordering::SeqCst)))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *taker() = None;
    }
}

/// A signal that came, and was heeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal(i32);

impl Signal {
    /// Ends the program by it.
    pub fn end(self) -> ! {
        end_by(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_nohup_ignores_stays_ignored() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT) && !is_ignored(status, SIGTERM) && !is_ignored("", SIGHUP));
    }
}
