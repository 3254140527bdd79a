//! What the user changes of recorded tasks.

use super::assumption::Waits;
use super::recording::{Begin, FIRST_FAIR_PRIO, FairPolicy, Recording, ReplayStep, TaskIndex};
use super::task_selector::TaskSelector;
use machine::{ToldStep, policy_text};
use scheduler::{Nanos, Nice, Policy};
use std::collections::BTreeSet;
use std::fmt;

/// Kernel priority of deadline tasks.
const DEADLINE_PRIO: i32 = -1;

/// Kernel priority of nice 0.
const NICE_0_PRIO: i32 = 120;

/// Parts of [`WorkFactor`] in one.
const MILLIONTHS: u128 = 1_000_000;

/// A factor for CPU work, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkFactor {
    /// 1,000,000 changes nothing.
    pub millionths: u64,
}

/// A change of some recorded tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Override {
    /// Which tasks.
    pub whom: TaskSelector,
    /// What becomes of them.
    pub what: Changed,
}

/// What becomes of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It has this policy all the time, and so have its descendants that no override of policies names.
    Policy(Policy),
    /// It has this nice value whenever it is fair, and so have its descendants that no override of nice
    /// values names.
    Nice(Nice),
    /// Its CPU work is longer or shorter.
    Scale(WorkFactor),
    /// Its waits for interrupts are taken so.
    Waits(Waits),
    /// After its last sleep it computes until the time at which it ended, however much CPU time it gets.
    UntilEnd,
    /// Nothing: its work ends it, however much it looks as if the clock did.
    UntilDone,
    /// It does nothing of its own; whom it wakes and what it starts, it still does, at no work.
    Without,
}

/// As the user writes it, without the tasks.
impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Changed::Policy(policy) => write!(f, "policy {}", policy_text(*policy)),
            Changed::Nice(nice) => write!(f, "nice {}", nice.get()),
            Changed::Scale(WorkFactor { millionths }) => write!(f, "work times {}", *millionths as f64 / 1e6),
            Changed::Waits(waits) => waits.fmt(f),
            Changed::UntilEnd => f.write_str("until it ended, by the clock"),
            Changed::UntilDone => f.write_str("until its work is done"),
            Changed::Without => f.write_str("left out"),
        }
    }
}

/// The recording with all changes, each on top of those before it.
pub(super) fn apply(recording: &Recording, overrides: &[Override]) -> Recording {
    let mut changed = recording.clone();
    let mut with_other_policies = BTreeSet::new();
    for Override { whom, what } in overrides {
        for task in meant(&changed, whom, what, overrides) {
            change(&mut changed, task, *what);
            if let Changed::Policy(_) = what {
                with_other_policies.insert(task);
            }
        }
    }
    if !with_other_policies.is_empty() {
        inherit_nothing(&mut changed, &with_other_policies);
    }
    changed
}

/// The tasks of a change: policies and nice values go from parent to child, as on Linux.
fn meant(
    recording: &Recording,
    whom: &TaskSelector,
    what: &Changed,
    overrides: &[Override],
) -> Vec<TaskIndex> {
    let tasks = &recording.tasks;
    let named = (0..).map(TaskIndex).zip(tasks).filter(|(_, task)| whom.is(task));
    let mut all: Vec<TaskIndex> = named.map(|(index, _)| index).collect();
    // Deadline tasks fork no others.
    let is_passed_on = match what {
        Changed::Policy(policy) => !matches!(policy, Policy::Deadline(_)),
        Changed::Nice(_) => true,
        Changed::Scale(_) | Changed::Waits(_) | Changed::UntilEnd | Changed::UntilDone | Changed::Without => {
            false
        }
    };
    if !is_passed_on {
        return all;
    }
    let same_kind = |other: &&Override| std::mem::discriminant(&other.what) == std::mem::discriminant(what);
    let has_its_own = |child: TaskIndex| {
        overrides.iter().filter(same_kind).any(|other| other.whom.is(&tasks[child.index()]))
    };
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        let children = tasks[parent.index()].steps.iter().filter_map(ReplayStep::child);
        let heirs: Vec<TaskIndex> = children.filter(|child| !has_its_own(*child)).collect();
        // A damaged trace may let a task be its own ancestor.
        all.extend(heirs.into_iter().filter(|heir| !all.contains(heir)).collect::<Vec<_>>());
        next += 1;
    }
    all
}

/// What others lent to these tasks, and they to others, were the priorities that they had then.
fn inherit_nothing(recording: &mut Recording, changed: &BTreeSet<TaskIndex>) {
    for (n, task) in (0..).map(TaskIndex).zip(&mut recording.tasks) {
        let own = changed.contains(&n);
        task.steps.retain(|step| match step {
            ReplayStep::Lend { to, .. } => !own && !changed.contains(to),
            ReplayStep::GiveBack(_) => !own,
            _ => true,
        });
        task.merge_runs();
    }
}

fn change(recording: &mut Recording, index: TaskIndex, what: Changed) {
    let task = &mut recording.tasks[index.index()];
    match what {
        Changed::Policy(policy) => {
            task.round_robin = matches!(policy, Policy::Rr(_));
            task.fair = match policy {
                Policy::Batch => FairPolicy::Batch,
                Policy::Idle => FairPolicy::Idle,
                _ => FairPolicy::Normal,
            };
            let fair_before = if task.prio < FIRST_FAIR_PRIO { NICE_0_PRIO } else { task.prio };
            let rt_prio = policy.rt_priority().map(|p| 99 - i32::from(p.get()));
            (task.prio, task.deadline) = match policy {
                Policy::Deadline(params) => (DEADLINE_PRIO, Some(params)),
                _ => (rt_prio.unwrap_or(fair_before), None),
            };
            task.steps.retain(|step| {
                !matches!(step, ReplayStep::SetPrio(_) | ReplayStep::Told(ToldStep::SetPolicy { .. }))
            });
            task.merge_runs();
        }
        Changed::Nice(nice) => {
            let prio = NICE_0_PRIO + i32::from(nice.get());
            let first = std::iter::once(&mut task.prio);
            let later = task.steps.iter_mut().filter_map(|step| match step {
                ReplayStep::SetPrio(prio) => Some(prio),
                _ => None,
            });
            for fair in first.chain(later).filter(|prio| **prio >= FIRST_FAIR_PRIO) {
                *fair = prio;
            }
            if let Some(told) = &mut task.told {
                told.nice = nice;
            }
            task.steps.retain(|step| !matches!(step, ReplayStep::Told(ToldStep::SetNice { .. })));
        }
        Changed::Scale(factor) => {
            let scale = |length: &mut Nanos| {
                let scaled = u128::from(length.0) * u128::from(factor.millionths) / MILLIONTHS;
                length.0 = u64::try_from(scaled).unwrap_or(u64::MAX);
            };
            scale(&mut task.cpu_time);
            for step in &mut task.steps {
                match step {
                    ReplayStep::Run(length) | ReplayStep::Told(ToldStep::KernelCompute(length)) => {
                        scale(length)
                    }
                    _ => {}
                }
            }
        }
        Changed::Waits(waits) => waits.assume(recording, index),
        Changed::UntilDone => {}
        Changed::UntilEnd => {
            let end = task.exited.unwrap_or(recording.span);
            until(&mut task.steps, end);
        }
        Changed::Without => {
            let matters = |step: &ReplayStep| match step {
                ReplayStep::Wake { .. } | ReplayStep::Fork { .. } | ReplayStep::Told(_) => true,
                ReplayStep::Submit { task, .. } => *task != index,
                _ => false,
            };
            if !task.steps.iter().any(matters) {
                task.begin = Begin::Never;
            }
            task.cpu_time = Nanos::ZERO;
            task.steps.retain(|step| {
                let told = matches!(step, ReplayStep::Told(ToldStep::KernelCompute(_)));
                !told && !matches!(step, ReplayStep::Run(_) | ReplayStep::RunUntil(_))
            });
        }
    }
}

/// Has the task compute until this time, after its last sleep: its longest stretch there lasts until so long
/// before that time as what it computes after it takes. What is in the midst of that stretch, interrupts and
/// all, was its own work and no step of others. Who slept at the end of the recording has no such stretch.
fn until(steps: &mut Vec<ReplayStep>, end: Nanos) {
    let is_computing = |step: &ReplayStep| {
        matches!(step, ReplayStep::Run(_) | ReplayStep::Interrupted { .. } | ReplayStep::Yield)
    };
    let cpu_time = |steps: &[ReplayStep]| -> Nanos { steps.iter().map(ReplayStep::cpu_time).sum() };
    let sleeps = |step: &ReplayStep| matches!(step, ReplayStep::Sleep(_));
    let awake_from = steps.iter().rposition(sleeps).map_or(0, |sleep| sleep + 1);
    let mut at = awake_from;
    let mut longest: Option<(std::ops::Range<usize>, Nanos)> = None;
    for stretch in steps[awake_from..].chunk_by(|a, b| is_computing(a) == is_computing(b)) {
        let length = cpu_time(stretch);
        if length > longest.as_ref().map_or(Nanos::ZERO, |(_, length)| *length) {
            longest = Some((at..at + stretch.len(), length));
        }
        at += stretch.len();
    }
    if let Some((stretch, _)) = longest {
        let after = cpu_time(&steps[stretch.end..]);
        steps.splice(stretch, [ReplayStep::RunUntil(end.saturating_sub(after))]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::RtPriority;

    /// `a` forks `b`, works for 100 µs, turns SCHED_FIFO 39 for 100 µs more, and wakes nobody; `b` works for
    /// 100 µs.
    fn recording() -> Recording {
        let switch = |time: &str, prev: &str, state: &str, next: &str| {
            format!(" x-1 [000] d... {time}: sched_switch: {prev} prev_state={state} ==> {next}\n")
        };
        let (idle, b) = ("comm=swapper/0 X_pid=0 X_prio=120", "comm=b X_pid=8 X_prio=120");
        let prev = |who: &str| format!("prev_{}", who.replace("X_", "prev_"));
        let next = |who: &str| format!("next_{}", who.replace("X_", "next_"));
        let a = |prio: u32| format!("comm=a X_pid=7 X_prio={prio}");
        let text = [
            switch("1.000000", &prev(idle), "R", &next(&a(120))),
            " a-7 [000] .... 1.000050: sched_process_fork: comm=a pid=7 child_comm=a child_pid=8\n"
                .to_owned(),
            " a-7 [000] d... 1.000051: sched_wakeup_new: comm=b pid=8 prio=120 target_cpu=000\n".to_owned(),
            switch("1.000100", &prev(&a(60)), "R", &next(b)),
            switch("1.000200", &prev(b), "X", &next(&a(60))),
            switch("1.000300", &prev(&a(60)), "S", &next(idle)),
        ];
        Recording::extract(
            &trace::read(text.concat().replace(" x-1 ", " <idle>-0 ").as_bytes()).expect("a trace"),
        )
    }

    fn changed(whom: &str, what: Changed) -> Recording {
        apply(&recording(), &[Override { whom: whom.parse().expect("a task"), what }])
    }

    fn task(recording: &Recording, pid: i32) -> &super::super::RecordedTask {
        recording.tasks.iter().find(|task| task.pid.0 == pid).expect("a task")
    }

    fn sets_prio(recording: &Recording, pid: i32) -> bool {
        task(recording, pid).steps.iter().any(|step| matches!(step, ReplayStep::SetPrio(_)))
    }

    #[test]
    fn a_policy_holds_all_the_time_and_goes_to_the_children() {
        let policy = RtPriority::new(10).map(Policy::Rr).expect("a priority");
        let with = changed("7", Changed::Policy(policy));
        assert!(sets_prio(&recording(), 7) && !sets_prio(&with, 7));
        assert_eq!(
            [task(&with, 7), task(&with, 8)].map(|task| (task.prio, task.round_robin)),
            [(89, true); 2]
        );
        let own = Override { whom: TaskSelector::Pid(8), what: Changed::Policy(Policy::Batch) };
        let both = apply(
            &recording(),
            &[Override { whom: TaskSelector::Pid(7), what: Changed::Policy(policy) }, own],
        );
        assert_eq!((task(&both, 8).prio, task(&both, 8).fair), (120, FairPolicy::Batch));
    }

    #[test]
    fn a_nice_value_leaves_real_time_priorities_alone() {
        let with = changed("7", Changed::Nice(Nice::new(-5).expect("a nice value")));
        assert_eq!((task(&with, 7).prio, task(&with, 8).prio), (115, 115));
        assert!(task(&with, 7).steps.contains(&ReplayStep::SetPrio(60)));
    }

    #[test]
    fn work_is_scaled_of_those_who_are_meant_only() {
        let with = changed("7", Changed::Scale(WorkFactor { millionths: 2_500_000 }));
        let runs = |recording: &Recording, pid| -> u64 {
            let run = |step: &ReplayStep| if let ReplayStep::Run(length) = step { length.0 } else { 0 };
            task(recording, pid).steps.iter().map(run).sum()
        };
        assert_eq!(runs(&with, 7) * 2, runs(&recording(), 7) * 5);
        assert_eq!(runs(&with, 8), runs(&recording(), 8));
    }

    #[test]
    fn who_matters_to_nobody_does_not_begin_and_others_only_lose_their_work() {
        let without = changed("*", Changed::Without);
        assert_eq!(task(&without, 8).begin, Begin::Never);
        let parent = task(&without, 7);
        assert!(parent.begin != Begin::Never && parent.steps.iter().any(|step| step.child().is_some()));
        assert!(!parent.steps.iter().any(|step| matches!(step, ReplayStep::Run(_))));
    }
}
