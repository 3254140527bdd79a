//! What else there was at each decision of the scheduler about a task that is late: other CPUs where it is
//! decided where the task goes, other tasks where it is decided who runs.

use super::course::Course;
use super::cut::precedence;
use super::wakeup::Wakeup;
use schema::why::{WhyAlternative, WhyDecision, WhyStretch, WhyTask};
use schema::{CpuId, Nanos, Pid};
use std::cmp::Reverse;

/// So many are told, the best first.
const MOST: usize = 16;

/// What a decision is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum About {
    /// Where the task goes.
    Where,
    /// That it stays where it is.
    Stays,
    /// Who runs on a CPU.
    Who,
    Other,
}

/// The beginnings of their names (`schedlab list decisions`).
const DECISIONS: [(About, &[&str]); 3] = [
    (About::Stays, &["push_no_target", "push_changed", "not_moved_"]),
    (
        About::Where,
        &[
            "wake_",
            "wa_",
            "sis_",
            "wide",
            "waker_cpu_",
            "local_",
            "numa_",
            "other_",
            "fork_idlest",
            "fork_local",
            "dl_wake_",
            "dl_pushed",
            "dl_pulled",
            "pushed",
            "pulled",
            "balanced_",
            "affinity_move",
        ],
    ),
    (
        About::Who,
        &[
            "preempt_",
            "no_preempt",
            "buddy_",
            "pick_",
            "tick_",
            "request_end",
            "protection_end",
            "hrtick_end",
            "rr_slice",
            "dl_preempt",
            "prio_",
            "asked_lazily",
            "lazy_hardened",
            "delayed_woken",
        ],
    ),
];

impl About {
    fn of(reason: &str) -> About {
        let begins = |names: &[&str]| names.iter().any(|name| reason.starts_with(name));
        DECISIONS.iter().find(|(_, names)| begins(names)).map_or(About::Other, |(about, _)| *about)
    }
}

/// Adds them to the decisions of a wakeup. Of decisions that follow each other and had the same, the last one
/// has them.
pub(super) fn add(course: &Course, wakeup: &Wakeup, stretches: &mut [WhyStretch]) {
    let mut next: Option<(About, Vec<WhyAlternative>)> = None;
    for decision in stretches.iter_mut().flat_map(|stretch| &mut stretch.decisions).rev() {
        let about = About::of(decision.reason);
        let mut found = match about {
            About::Where | About::Stays => cpus(course, wakeup, decision.at, about),
            About::Who => tasks(course, wakeup, decision.at),
            About::Other => continue,
        };
        if next.as_ref().is_some_and(|(later, same)| *later == about && *same == found) {
            continue;
        }
        next = Some((about, found.clone()));
        set(decision, &mut found);
    }
}

fn set(decision: &mut WhyDecision, found: &mut Vec<WhyAlternative>) {
    decision.more_alternatives = found.len().saturating_sub(MOST) as u64;
    found.truncate(MOST);
    decision.alternatives = std::mem::take(found);
}

/// Every other CPU: those on which the task could have run at once first.
fn cpus(course: &Course, wakeup: &Wakeup, time: Nanos, about: About) -> Vec<WhyAlternative> {
    let Some(task) = course.tasks.get(&wakeup.pid) else { return Vec::new() };
    let waits = task.waits_at(time).map(|since| since.is);
    let chosen = if about == About::Stays { waits } else { task.comes_to(time).or(waits) };
    let all = (0..course.cpus.len() as u16).map(CpuId).filter(|cpu| Some(*cpu) != chosen);
    let of = |cpu: CpuId| {
        let busy = course.cpu(cpu).runs_at(time);
        let busy = (busy.pid != Pid::IDLE).then_some(busy);
        WhyAlternative::Cpu {
            cpu,
            allowed: task.is_allowed_on(time, cpu),
            runs: busy.map(|busy| WhyTask { prio: busy.prio, ..course.who(busy.pid, time) }),
            precedence: busy.and_then(|busy| precedence(busy.prio, task.prio_at(time))),
        }
    };
    let mut found: Vec<WhyAlternative> = all.map(of).collect();
    // Stable: of equal ones the first by number.
    found.sort_by_key(|one| match one {
        WhyAlternative::Cpu { allowed, runs, precedence, .. } => {
            let prio = runs.as_ref().map(|runs| Reverse(runs.prio));
            (!allowed, precedence.is_some(), prio)
        }
        WhyAlternative::Task { .. } => (true, true, None),
    });
    found
}

/// Who else waited in the queue in which the task is then, or comes: those that go first first.
fn tasks(course: &Course, wakeup: &Wakeup, time: Nanos) -> Vec<WhyAlternative> {
    let Some(late) = course.tasks.get(&wakeup.pid) else { return Vec::new() };
    let waits = late.waits_at(time).map(|since| since.is);
    let Some(cpu) = waits.or_else(|| late.comes_to(time)) else { return Vec::new() };
    let others = course.tasks.iter().filter(|(pid, _)| **pid != wakeup.pid);
    let mut found: Vec<(Nanos, WhyTask)> = others
        .filter_map(|(pid, task)| {
            let since = task.waits_at(time).filter(|since| since.is == cpu)?;
            Some((since.from, course.who(*pid, time)))
        })
        .collect();
    found.sort_by_key(|(since, task)| (task.prio, *since));
    found.into_iter().map(|(since, task)| WhyAlternative::Task { task, since }).collect()
}
