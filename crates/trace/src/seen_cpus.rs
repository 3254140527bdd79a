//! Traces of some of a machine's CPUs, as `perf sched record -C 1` makes them.

use crate::model::{Cpu, EventKind, Trace};
use std::fmt;

/// The CPUs of a machine of which not all were recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenCpus {
    /// Whose switches were recorded.
    pub seen: Vec<u32>,
    /// Who has none, although tasks were sent there.
    pub missing: Vec<u32>,
    /// So many times.
    pub sent: u64,
}

impl SeenCpus {
    /// `None` where all were recorded, as far as that shows: a CPU without switches to which nobody was
    /// woken, made or moved may have idled all the time.
    pub fn of(trace: &Trace) -> Option<SeenCpus> {
        let mut cpus = vec![OfCpu::default(); trace.cpus as usize];
        for event in &trace.events {
            let to: Option<Cpu> = match &event.kind {
                EventKind::SchedSwitch(_) => {
                    cpus[event.cpu.0 as usize].switches = true;
                    None
                }
                EventKind::SchedWakeup(wakeup) | EventKind::SchedWakeupNew(wakeup) => Some(wakeup.target_cpu),
                EventKind::SchedMigrateTask(moved) => Some(moved.dest_cpu),
                _ => None,
            };
            if let Some(cpu) = to.and_then(|cpu| cpus.get_mut(cpu.0 as usize)) {
                cpu.sent += 1;
            }
        }
        let numbered = || (0..).zip(&cpus);
        let seen: Vec<u32> = numbered().filter(|(_, cpu)| cpu.switches).map(|(number, _)| number).collect();
        let missing = numbered().filter(|(_, cpu)| !cpu.switches && cpu.sent > 0);
        let missing: Vec<u32> = missing.map(|(number, _)| number).collect();
        let sent = missing.iter().map(|number| cpus[*number as usize].sent).sum();
        (!seen.is_empty() && !missing.is_empty()).then_some(SeenCpus { seen, missing, sent })
    }
}

/// `switches of CPU 1 only, and tasks were sent to CPU 0 once`.
impl fmt::Display for SeenCpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.sent == 1 { "once".to_owned() } else { format!("{} times", self.sent) };
        let (seen, missing) = (cpus(&self.seen), cpus(&self.missing));
        write!(f, "switches of {seen} only, and tasks were sent to {missing} {times}")
    }
}

/// What is known of one CPU.
#[derive(Clone, Copy, Default)]
struct OfCpu {
    switches: bool,
    /// How often a task was woken, made or moved to it.
    sent: u64,
}

/// `CPU 1`, `CPUs 0-2, 5`.
fn cpus(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers.iter().copied() {
        match ranges.last_mut().filter(|(_, last)| last + 1 == number) {
            Some((_, last)) => *last = number,
            None => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let list: Vec<String> = ranges.iter().map(text).collect();
    format!("{} {}", if numbers.len() == 1 { "CPU" } else { "CPUs" }, list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(cpus(&[3]), "CPU 3");
        assert_eq!(cpus(&[0, 1, 2, 5]), "CPUs 0-2, 5");
    }
}
