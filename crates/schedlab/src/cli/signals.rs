//! Ctrl-C and its relatives: they end the program without leaving half a file behind, and a recording with a
//! whole one.

use schedlab::outputs::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

/// Somebody who ends by himself when a signal asks for it takes signals.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// A signal asked.
static ASKED: AtomicBool = AtomicBool::new(false);

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
            if TAKEN.load(Ordering::SeqCst) {
                ASKED.store(true, Ordering::SeqCst);
            } else {
                let _standstill = remove_unfinished();
                // As the shell wants to see it; it does not come back.
                let _ = emulate_default_handler(signal);
                process::exit(128 + signal);
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

/// While it lives, a signal ends nothing but asks.
#[derive(Debug)]
pub struct Taken;

impl Taken {
    pub fn take() -> Taken {
        TAKEN.store(true, Ordering::SeqCst);
        Taken
    }

    /// Whether a signal came since the last time that this was asked.
    pub fn asked(&self) -> bool {
        ASKED.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::SeqCst);
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
