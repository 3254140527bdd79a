//! Recordings of some of a machine's CPUs, as `perf sched record -C 1` makes them: what happened on the
//! others is not in them, and a replay would have those CPUs for itself.

use trace::{Cpu, EventKind, Trace};

/// The CPUs of a machine of which not all were recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SeenCpus {
    /// Whose switches were recorded.
    pub seen: Vec<u32>,
    /// Who has none, although tasks were sent there.
    missing: Vec<u32>,
    /// So many times.
    sent: u64,
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

    /// What to know of a replay of it.
    pub fn warning(&self) -> String {
        let times = if self.sent == 1 { "once".to_owned() } else { format!("{} times", self.sent) };
        let own = self.seen.len();
        format!(
            "the recording has switches of {} only, and tasks were sent to {} {times}: it is one of some of the \
             machine's CPUs, and what they did there is missing. A replay on all CPUs has the others for itself; as \
             many as were recorded are cpus={own}",
            cpus(&self.seen),
            cpus(&self.missing)
        )
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
    use crate::replay::tests::trace;

    /// Of two CPUs the recorder wrote down the second: of a task that it wakes on the first, nothing is seen.
    #[test]
    fn a_recording_of_one_cpu_is_found_by_whom_it_sends_elsewhere() {
        let of_one =
            "0 1 idle R a\n100 1 a wakes b on 0\n200 1 a S idle\n300 1 irq@idle wakes a\n310 1 idle R a";
        let found = SeenCpus::of(&trace(of_one)).expect("one of two CPUs");
        assert_eq!((found.seen.as_slice(), found.missing.as_slice(), found.sent), (&[1][..], &[0][..], 1));
        let said = found.warning();
        assert!(said.contains("switches of CPU 1 only, and tasks were sent to CPU 0 once"), "{said}");
        assert!(said.ends_with("as many as were recorded are cpus=1"), "{said}");
        let of_both = format!("{of_one}\n400 0 idle R b\n500 0 b S idle");
        assert_eq!(SeenCpus::of(&trace(&of_both)), None);
    }

    #[test]
    fn a_cpu_to_which_nobody_was_sent_may_have_idled() {
        assert_eq!(SeenCpus::of(&trace("0 1 idle R a\n200 1 a S idle\n300 1 irq@idle wakes a on 1")), None);
    }

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(cpus(&[3]), "CPU 3");
        assert_eq!(cpus(&[0, 1, 2, 5]), "CPUs 0-2, 5");
    }
}
