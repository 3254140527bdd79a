//! How idle CPUs wait: whether one that is woken gets an interrupt (machine.md 5.5, 6.7).

use super::host::Pair;
use super::measure::{Bench, pipe};
use super::sources::{Seen, Way};
use machine::IdleMonitor;
use rustix::thread::nanosleep;
use rustix::time::Timespec;
use std::fs;
use std::io::{self, Read, Write};
use std::thread;

/// What wakeups of a task on an idle CPU brought there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleWakeups {
    /// How many there were.
    pub wakeups: u64,
    /// Interrupts from other CPUs that came to the CPU meanwhile.
    pub interrupts: u64,
    /// Of the time that it could have idled, how much it did, in percent.
    pub idle_percent: u64,
}

impl IdleWakeups {
    /// How the CPU waited, or why that cannot be told.
    pub fn monitor(&self) -> Result<IdleMonitor, &'static str> {
        /// A CPU that others use is woken by interrupts, however it idles.
        const IDLE_PERCENT: u64 = 70;
        let percent = self.interrupts * 100 / self.wakeups.max(1);
        match percent {
            _ if self.wakeups == 0 => Err("nobody was woken"),
            _ if self.idle_percent < IDLE_PERCENT => Err("the CPU that was to be woken was not idle"),
            70.. => Ok(IdleMonitor::Hlt),
            // Or it polls: then idle_exit comes out as next to nothing.
            0..=20 => Ok(IdleMonitor::Mwait),
            _ => Err("some wakeups came with an interrupt, and others did not"),
        }
    }
}

/// How `idle_monitor` is learned.
pub(super) fn way(wakeups: Option<IdleWakeups>) -> Way {
    let left_out = "; left out, idle CPUs halt and get an interrupt";
    match wakeups.map(|wakeups| (wakeups, wakeups.monitor())) {
        Some((wakeups, Ok(_))) => {
            let samples = wakeups.wakeups as usize;
            Way { seen: Some(Seen { probe: "interrupts of an idle CPU", samples }), unseen: String::new() }
        }
        Some((_, Err(why))) => Way { seen: None, unseen: format!("{why}{left_out}") },
        None => {
            let why = "it takes a second CPU and /proc/interrupts, and one of them is missing";
            Way { seen: None, unseen: format!("{why}{left_out}") }
        }
    }
}

impl Bench<'_> {
    /// Wakes a thread on the other CPU, which sleeps for a while before each wakeup, and counts the
    /// interrupts that come there. `None` where the kernel does not tell.
    pub fn idle_wakeups(&self, pair: Pair) -> io::Result<Option<IdleWakeups>> {
        const WAKEUPS: u64 = 400;
        const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let cpu = self.online(pair.b);
        let (mut reader, mut writer) = pipe()?;
        self.pin(pair.b)?;
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut byte = [0];
                while reader.read_exact(&mut byte).is_ok() {}
            });
            self.pin(pair.a)?;
            let Some(before) = Counts::read(cpu) else { return Ok(None) };
            for _ in 0..WAKEUPS {
                // One that a signal ends early is shorter, no more.
                let _ = nanosleep(&PAUSE);
                writer.write_all(&[1])?;
            }
            let after = Counts::read(cpu);
            drop(writer);
            Ok(after.map(|after| after.since(before, WAKEUPS)))
        })
    }
}

/// What the kernel has counted of a CPU so far.
#[derive(Clone, Copy, Debug)]
struct Counts {
    interrupts: u64,
    idle: u64,
    all: u64,
}

/// How much of its time a CPU idles while something is done, in percent; `None` where the kernel does not
/// tell.
pub(super) fn idle_meanwhile<T>(cpu: u16, what: impl FnOnce() -> T) -> (T, Option<u64>) {
    let times = || times_of(&fs::read_to_string("/proc/stat").ok()?, cpu);
    let before = times();
    let done = what();
    let percent = before
        .zip(times())
        .map(|((idle, all), (idle_after, all_after))| (idle_after - idle) * 100 / (all_after - all).max(1));
    (done, percent)
}

impl Counts {
    fn read(cpu: u16) -> Option<Counts> {
        let interrupts = interrupts_of(&fs::read_to_string("/proc/interrupts").ok()?, cpu)?;
        let (idle, all) = times_of(&fs::read_to_string("/proc/stat").ok()?, cpu)?;
        Some(Counts { interrupts, idle, all })
    }

    fn since(self, before: Counts, wakeups: u64) -> IdleWakeups {
        let all = (self.all - before.all).max(1);
        IdleWakeups {
            wakeups,
            interrupts: self.interrupts - before.interrupts,
            idle_percent: (self.idle - before.idle) * 100 / all,
        }
    }
}

/// Interrupts by which other CPUs have asked this one for something, from `/proc/interrupts`.
fn interrupts_of(text: &str, cpu: u16) -> Option<u64> {
    let mut lines = text.lines();
    let column = lines.next()?.split_whitespace().position(|name| name == format!("CPU{cpu}"))?;
    let asks = |line: &&str| ["Rescheduling", "Function call"].iter().any(|kind| line.contains(kind));
    let count = |line: &str| line.split_whitespace().nth(column + 1)?.parse::<u64>().ok();
    lines.filter(asks).map(count).sum()
}

/// Time without work and all time of a CPU, in the kernel's ticks, from `/proc/stat`.
fn times_of(text: &str, cpu: u16) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("cpu{cpu} ")))?;
    let times: Vec<u64> = line.split_whitespace().map_while(|time| time.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal.
    let all: u64 = times.iter().take(8).sum();
    Some((times.get(3)? + times.get(4)?, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU2       \n\
          0:         10          0  IR-IO-APIC   2-edge  timer\n\
        NMI:          3          4   Non-maskable interrupts\n\
        LOC:     500000     600000   Local timer interrupts\n\
        RES:        100       2000   Rescheduling interrupts\n\
        CAL:         30        400   Function call interrupts\n\
        ERR:          0\n";

    #[test]
    fn counts_are_those_of_the_cpu_with_this_number() {
        assert_eq!([0, 1, 2].map(|cpu| interrupts_of(INTERRUPTS, cpu)), [Some(130), None, Some(2400)]);
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu10 0 0 0 1 0 0 0 0 0 0\n";
        assert_eq!([times_of(stat, 0), times_of(stat, 1)], [Some((45, 72)), None]);
    }

    #[test]
    fn an_idle_cpu_that_gets_an_interrupt_halts_and_one_that_gets_none_watches() {
        let seen =
            |interrupts, idle_percent| IdleWakeups { wakeups: 400, interrupts, idle_percent }.monitor();
        assert_eq!(seen(395, 95), Ok(IdleMonitor::Hlt));
        assert_eq!(seen(12, 95), Ok(IdleMonitor::Mwait));
        assert!(seen(200, 95).is_err(), "half of them");
        assert!(seen(395, 20).is_err(), "a busy CPU is interrupted in any case");
        assert!(IdleWakeups { wakeups: 0, interrupts: 0, idle_percent: 100 }.monitor().is_err());
        assert_eq!(
            way(Some(IdleWakeups { wakeups: 400, interrupts: 0, idle_percent: 99 })).seen.map(|s| s.samples),
            Some(400)
        );
        assert!(way(None).unseen.contains("second CPU"));
    }
}
