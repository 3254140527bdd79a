//! What recording costs: the same work once with the events and once without them, just before the recording.

use rustix::pipe::pipe;
use rustix::time::{ClockId, clock_gettime};
use scheduler::Nanos;
use std::fs::File;
use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

/// Round trips of one try: some milliseconds.
const ROUNDS: u32 = 300;
/// The shortest of so many tries counts: others disturb caches.
pub const TRIES: u32 = 3;

/// CPU time of two threads that wake each other a few hundred times.
///
/// # Errors
/// No pipes, no threads.
pub fn wakeups() -> io::Result<Duration> {
    let ((near_read, far_write), (far_read, near_write)) = (pipe()?, pipe()?);
    thread::scope(|scope| {
        let echo = scope.spawn(move || answer(File::from(far_read), File::from(far_write)));
        let asked = ask(File::from(near_read), File::from(near_write));
        let answered = echo.join().unwrap_or_else(|_| Err(io::Error::other("the other thread panicked")));
        Ok(asked? + answered?)
    })
}

fn ask(mut read: File, mut write: File) -> io::Result<Duration> {
    cpu_time(|| {
        write.write_all(&[1])?;
        read.read_exact(&mut [0])
    })
}

fn answer(mut read: File, mut write: File) -> io::Result<Duration> {
    cpu_time(|| {
        read.read_exact(&mut [0])?;
        write.write_all(&[1])
    })
}

/// What all rounds take of this thread's CPU time.
fn cpu_time(mut round: impl FnMut() -> io::Result<()>) -> io::Result<Duration> {
    let start = clock_gettime(ClockId::ThreadCPUTime);
    for _ in 0..ROUNDS {
        round()?;
    }
    let end = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(end - start).map_err(io::Error::other)
}

/// What an event costs if `events` of them made the difference between two times.
pub fn of_event(with: Duration, without: Duration, events: u64) -> Option<Nanos> {
    let difference = u64::try_from(with.saturating_sub(without).as_nanos()).ok()?;
    difference.checked_div(events).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_costs_its_part_of_the_difference() {
        let us = Duration::from_micros;
        assert_eq!(of_event(us(900), us(500), 2_000), Some(Nanos(200)));
        assert_eq!(of_event(us(500), us(900), 2_000), Some(Nanos(0)), "noise is no gain");
        assert_eq!(of_event(us(900), us(500), 0), None);
    }

    #[test]
    fn two_threads_come_to_an_end() {
        assert!(wakeups().expect("pipes and threads") > Duration::ZERO);
    }
}
