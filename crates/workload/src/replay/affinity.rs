//! What a trace says about affinities. It does not show them, but it shows tasks that stay where they are although
//! another CPU has nothing to do.

use super::recording::{Begin, Recorded, RecordedTask};
use scheduler::Nanos;

/// A task that may run elsewhere is not kept waiting beside idle CPUs for as long as this in all: idle CPUs look for
/// work when they become idle and at every tick.
const PINNED_AFTER: Nanos = Nanos::from_millis(10);

/// Finds the pinned tasks: kernel threads by name, others that ran on one CPU only and waited long beside idle ones, and
/// their children that ran on that CPU only.
pub(super) fn infer(tasks: &mut [RecordedTask], cpus: u32) {
    for n in 0..tasks.len() {
        let task = &tasks[n];
        let placement = &task.placement;
        let only =
            placement.ran_on.first().filter(|_| placement.ran_on.weight() == 1).map(|cpu| u32::from(cpu.0));
        let waited = cpus > 1 && placement.passed_idle_cpus >= PINNED_AFTER;
        let pinned = waited || per_cpu_thread(&task.comm) == only;
        if let Some(cpu) = only.filter(|_| pinned) {
            tasks[n].placement.pinned_to = Some(cpu);
            inherit(tasks, n, cpu);
        }
    }
}

/// Affinity goes from parent to child.
fn inherit(tasks: &mut [RecordedTask], parent: usize, cpu: u32) {
    let mut parents = vec![parent];
    while let Some(parent) = parents.pop() {
        let children: Vec<usize> = tasks[parent]
            .steps
            .iter()
            .filter_map(|step| match step {
                Recorded::Fork(child) => Some(child.index()),
                _ => None,
            })
            .collect();
        for child in children {
            let placement = &mut tasks[child].placement;
            let only_there = placement.ran_on.iter().all(|ran| u32::from(ran.0) == cpu);
            if only_there && placement.pinned_to.is_none() && tasks[child].begin == Begin::Forked {
                tasks[child].placement.pinned_to = Some(cpu);
                parents.push(child);
            }
        }
    }
}

/// The CPU of a kernel thread that has one of its own: `ksoftirqd/1`, `kworker/1:2-events`.
fn per_cpu_thread(comm: &str) -> Option<u32> {
    let (name, number) = comm.rsplit_once('/')?;
    let number = if name == "kworker" { number.split_once(':')?.0 } else { number };
    const PER_CPU: [&str; 8] =
        ["ksoftirqd", "kworker", "migration", "cpuhp", "rcuc", "ktimers", "irq_work", "idle_inject"];
    PER_CPU.contains(&name).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_of_one_cpu_are_known_by_name() {
        let cases = [
            ("ksoftirqd/3", Some(3)),
            ("migration/12", Some(12)),
            ("kworker/1:2", Some(1)),
            ("kworker/0:1H-kblock", Some(0)),
            ("kworker/u4:2", None),
            ("jbd2/sda1-8", None),
            ("make/7", None),
            ("bash", None),
        ];
        for (comm, cpu) in cases {
            assert_eq!(per_cpu_thread(comm), cpu, "{comm}");
        }
    }
}
