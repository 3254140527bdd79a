//! What a trace says about affinities. It does not show them, but it shows tasks that stay where they are
//! although another CPU has nothing to do.

use super::recording::{Begin, Evidence, FIRST_FAIR_PRIO, Pinned, RecordedTask, ReplayStep, TaskIndex};
use super::track::Track;
use scheduler::Nanos;

/// A fair task that may run elsewhere is not kept waiting beside idle CPUs for as long as this in all: idle
/// CPUs look for work when they become idle and at every tick.
const PINNED_AFTER: Nanos = Nanos::from_millis(10);
/// Nor is a real-time task, whose waker looks for such CPUs.
const PINNED_AFTER_RT: Nanos = Nanos::from_millis(1);

/// A real-time task whose wakeup finds a pinned one running is sent elsewhere if it may go there (rt-class
/// 3.1, all kernels from 2.6.37 on), but for races: an idle CPU may just have been taken. So a few times say
/// little.
/// So is one that is woken or preempted by its like while another CPU runs what it could preempt (rt-class
/// 3.1 and 4.2).
const PINNED_AFTER_STAYS: u64 = 10;

/// A fair task that an interrupt wakes goes to an idle CPU that shares the cache with its last one, but for
/// races, and where the cache's CPUs are so busy that nobody looks for one (fair-placement 2). One that never
/// does, so often, does not share a cache with such a CPU, or may not go there; a replay keeps it either way.
const PINNED_AFTER_WAKEUPS: u64 = 30;

/// Finds the pinned tasks: kernel threads by name, others that waited long for their last CPU beside idle
/// ones, often behind a real-time task beside ones that they could have had, or stayed where those preempt
/// each other, and their children that ran on that CPU only. Takes out the steps [`ReplayStep::Pin`] of all
/// others.
///
/// A machine with one CPU shows nothing but names: whoever is free stays there, too.
pub(super) fn infer(tasks: &mut [RecordedTask], tracks: &[Track], machine_cpus: u32) {
    let last_cpus: Vec<Option<u32>> = tracks.iter().map(|track| track.whereabouts.cpu).collect();
    let last_cpus = &last_cpus[..];
    let parents = parents(tasks);
    for n in 0..tasks.len() {
        let (task, last_cpu) = (&tasks[n], last_cpus[n]);
        let only = Some(task.placement.ran_on).filter(|cpus| cpus.weight() == 1).and(last_cpu);
        let enough = if task.ends_real_time() { PINNED_AFTER_RT } else { PINNED_AFTER };
        let waited = task.placement.passed_idle_cpus;
        let by_name = per_cpu_thread(&task.comm).filter(|cpu| only == Some(*cpu));
        let by_wait = last_cpu.filter(|_| machine_cpus > 1 && waited >= enough);
        if task.placement.allowed.is_some() {
            continue;
        }
        let pinned = |evidence| move |cpu| Pinned { cpu, evidence };
        let by_wait = by_wait.map(pinned(Evidence::Waited(waited)));
        let behind = behind(n, tasks, tracks, &parents).map(pinned).zip(last_cpu).map(|(by, cpu)| by(cpu));
        let woken = tracks[n].whereabouts.woken_beside_idle;
        let stays =
            machine_cpus > 1 && tracks[n].whereabouts.keeps_its_cpu() && woken >= PINNED_AFTER_WAKEUPS;
        let woken = last_cpu.filter(|_| stays).map(pinned(Evidence::Woken(woken)));
        if let Some(found) = by_name.map(pinned(Evidence::Name)).or(by_wait).or(behind).or(woken) {
            tasks[n].placement.pinned = Some(found);
            inherit(tasks, n, found.cpu);
            if matches!(found.evidence, Evidence::Waited(_)) {
                hand_up(tasks, &parents, n, last_cpus);
            }
        }
    }
    stayed(tasks, tracks);
    for task in tasks {
        if task.placement.pinned.is_none() {
            task.steps.retain(|step| *step != ReplayStep::Pin);
            task.merge_runs();
        }
    }
}

/// Whether a task has waited behind real-time ones often enough beside CPUs that it could have had. What
/// `cyclictest -a` pins are all its threads: of siblings that keep their CPUs the times add up.
fn behind(
    task: usize,
    tasks: &[RecordedTask],
    tracks: &[Track],
    parents: &[Option<usize>],
) -> Option<Evidence> {
    let whereabouts = |n: usize| &tracks[n].whereabouts;
    let own = whereabouts(task).stayed_behind;
    if own == 0 || !whereabouts(task).has_settled() {
        return None;
    }
    if own >= PINNED_AFTER_STAYS {
        return Some(Evidence::Behind(own));
    }
    let is_sibling = |n: &usize| parents[*n] == parents[task] && tasks[*n].comm == tasks[task].comm;
    let keeping = (0..tasks.len()).filter(is_sibling).filter(|n| whereabouts(*n).keeps_its_cpu());
    let all: u64 = keeping.map(|n| whereabouts(n).stayed_behind).sum();
    (whereabouts(task).keeps_its_cpu() && all >= PINNED_AFTER_STAYS).then_some(Evidence::BehindAll(all))
}

/// Finds those that stay where pinned ones run; they in turn show others.
fn stayed(tasks: &mut [RecordedTask], tracks: &[Track]) {
    let mut settled = false;
    while !settled {
        settled = true;
        for (n, track) in tracks.iter().enumerate() {
            let placement = &tasks[n].placement;
            let is_known = placement.pinned.is_some() || placement.allowed.is_some();
            let Some(cpu) = track.whereabouts.cpu.filter(|_| !is_known) else { continue };
            let pinned_there = |other: &TaskIndex| {
                tasks[other.index()].placement.pinned.is_some_and(|there| there.cpu == cpu)
            };
            let with = track.whereabouts.stayed_with.iter().filter(|(other, _)| pinned_there(other));
            let times = with.map(|(_, times)| times).sum();
            if times >= PINNED_AFTER_STAYS {
                tasks[n].placement.pinned = Some(Pinned { cpu, evidence: Evidence::Stayed(times) });
                inherit(tasks, n, cpu);
                settled = false;
            }
        }
    }
}

/// Of each task, which one forked it.
fn parents(tasks: &[RecordedTask]) -> Vec<Option<usize>> {
    let mut parents = vec![None; tasks.len()];
    for (n, task) in tasks.iter().enumerate() {
        for child in task.steps.iter().filter_map(ReplayStep::child) {
            parents[child.index()] = Some(n);
        }
    }
    parents
}

/// Affinity comes from the parent: where one child is pinned, its parent is, as `taskset` does it, if nothing
/// speaks against that. Waiting beside an idle CPU shows only in those that were made to wait.
fn hand_up(tasks: &mut [RecordedTask], parents: &[Option<usize>], child: usize, last_cpus: &[Option<u32>]) {
    let Some(cpu) = tasks[child].placement.pinned.map(|pinned| pinned.cpu) else { return };
    let mut above = parents[child];
    while let Some(parent) = above.filter(|parent| tasks[*parent].placement.pinned.is_none()) {
        let task = &tasks[parent];
        let from = task.steps.iter().position(|step| *step == ReplayStep::Pin).unwrap_or(0);
        let children = task.steps[from..].iter().filter_map(ReplayStep::child);
        let mut ran = children.map(|child| tasks[child.index()].placement.ran_on);
        let elsewhere = ran.any(|cpus| cpus.iter().any(|ran| u32::from(ran.0) != cpu));
        if elsewhere || last_cpus[parent] != Some(cpu) || task.placement.allowed.is_some() {
            return;
        }
        tasks[parent].placement.pinned = Some(Pinned { cpu, evidence: Evidence::Children });
        inherit(tasks, parent, cpu);
        above = parents[parent];
    }
}

/// Affinity goes from parent to child.
fn inherit(tasks: &mut [RecordedTask], parent: usize, cpu: u32) {
    let mut parents = vec![parent];
    while let Some(parent) = parents.pop() {
        let from = tasks[parent].steps.iter().position(|step| *step == ReplayStep::Pin).unwrap_or(0);
        let children: Vec<TaskIndex> =
            tasks[parent].steps[from..].iter().filter_map(ReplayStep::child).collect();
        for child in children.into_iter().map(TaskIndex::index) {
            let placement = &mut tasks[child].placement;
            let only_there = placement.ran_on.iter().all(|ran| u32::from(ran.0) == cpu);
            if only_there && placement.pinned.is_none() && tasks[child].begin == Begin::Forked {
                tasks[child].placement.pinned = Some(Pinned { cpu, evidence: Evidence::Parent });
                parents.push(child);
            }
        }
    }
}

/// Gives children that no recorder has seen what is known of their parents: the affinity, and what priorities
/// do not tell of the policy.
pub(super) fn hand_down(tasks: &mut [RecordedTask]) {
    let mut parents: Vec<usize> =
        (0..tasks.len()).filter(|n| tasks[*n].placement.allowed.is_some()).collect();
    while let Some(parent) = parents.pop() {
        let children: Vec<TaskIndex> = tasks[parent].steps.iter().filter_map(ReplayStep::child).collect();
        for child in children.into_iter().map(TaskIndex::index) {
            // A child that is pinned has changed that itself, as `taskset` does.
            if tasks[child].placement.allowed.is_none() && tasks[child].placement.pinned.is_none() {
                let (round_robin, fair) = (tasks[parent].round_robin, tasks[parent].fair);
                tasks[child].placement.allowed = tasks[parent].placement.allowed;
                match tasks[child].prio < FIRST_FAIR_PRIO {
                    true => tasks[child].round_robin |= round_robin,
                    false => tasks[child].fair = fair,
                }
                parents.push(child);
            }
        }
    }
}

/// The CPU of a kernel thread that has one of its own: `ksoftirqd/1`, `kworker/1:2-events`.
pub(super) fn per_cpu_thread(comm: &str) -> Option<u32> {
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
