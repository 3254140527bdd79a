//! Signals that end the program under test.

use rustix::process::Signal;

/// Those that it hears: what is ignored by whoever started the tests (in the background of a script, `nohup`)
/// is ignored by all that they start, as it should be.
pub fn heard() -> Vec<Signal> {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("hexadecimal");
    let signals = [Signal::INT, Signal::TERM, Signal::HUP];
    signals.into_iter().filter(|signal| ignored & (1 << (signal.as_raw() - 1)) == 0).collect()
}
