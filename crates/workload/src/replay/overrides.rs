//! What the user changes of recorded tasks.

use super::recording::{Begin, FairPolicy, Recorded, Recording, TaskIndex};
use super::whom::Whom;
use machine::ToldStep;
use scheduler::{Nanos, Nice, Policy};
use std::fmt;

/// Kernel priority of nice 0; smaller than [`FIRST_FAIR_PRIO`] are real-time ones.
const NICE_0_PRIO: i32 = 120;
const FIRST_FAIR_PRIO: i32 = 100;

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
    pub whom: Whom,
    /// What becomes of them.
    pub what: Changed,
}

/// What becomes of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It has this policy all the time, and so have its descendants that no override of policies names.
    Policy(Policy),
    /// It has this nice value whenever it is fair, and so have its descendants that no override of nice values names.
    Nice(Nice),
    /// Its CPU work is longer or shorter.
    Scale(WorkFactor),
    /// It does nothing of its own; whom it wakes and what it starts, it still does, at no work.
    Without,
}

/// As the user writes it, without the tasks.
impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Changed::Policy(Policy::Fifo(priority)) => write!(f, "policy fifo:{}", priority.get()),
            Changed::Policy(Policy::Rr(priority)) => write!(f, "policy rr:{}", priority.get()),
            Changed::Policy(Policy::Normal) => f.write_str("policy other"),
            Changed::Policy(Policy::Batch) => f.write_str("policy batch"),
            Changed::Policy(Policy::Idle) => f.write_str("policy idle"),
            Changed::Nice(nice) => write!(f, "nice {}", nice.get()),
            Changed::Scale(WorkFactor { millionths }) => write!(f, "work times {}", *millionths as f64 / 1e6),
            Changed::Without => f.write_str("left out"),
        }
    }
}

/// The recording with all changes, each on top of those before it.
pub(super) fn apply(recording: &Recording, overrides: &[Override]) -> Recording {
    let mut changed = recording.clone();
    for Override { whom, what } in overrides {
        for task in meant(&changed, whom, what, overrides) {
            change(&mut changed, task, *what);
        }
    }
    changed
}

/// The tasks of a change: policies and nice values go from parent to child, as on Linux.
fn meant(recording: &Recording, whom: &Whom, what: &Changed, overrides: &[Override]) -> Vec<TaskIndex> {
    let tasks = &recording.tasks;
    let named = (0..).map(TaskIndex).zip(tasks).filter(|(_, task)| whom.is(task));
    let mut all: Vec<TaskIndex> = named.map(|(index, _)| index).collect();
    if matches!(what, Changed::Scale(_) | Changed::Without) {
        return all;
    }
    let same_kind = |other: &&Override| std::mem::discriminant(&other.what) == std::mem::discriminant(what);
    let has_its_own = |child: TaskIndex| {
        overrides.iter().filter(same_kind).any(|other| other.whom.is(&tasks[child.index()]))
    };
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        let children = tasks[parent.index()].steps.iter().filter_map(Recorded::child);
        let heirs: Vec<TaskIndex> = children.filter(|child| !has_its_own(*child)).collect();
        // A damaged trace may let a task be its own ancestor.
        all.extend(heirs.into_iter().filter(|heir| !all.contains(heir)).collect::<Vec<_>>());
        next += 1;
    }
    all
}

fn change(recording: &mut Recording, task: TaskIndex, what: Changed) {
    let task = &mut recording.tasks[task.index()];
    match what {
        Changed::Policy(policy) => {
            task.round_robin = matches!(policy, Policy::Rr(_));
            task.fair = match policy {
                Policy::Batch => FairPolicy::Batch,
                Policy::Idle => FairPolicy::Idle,
                _ => FairPolicy::Normal,
            };
            let fair_before = if task.prio < FIRST_FAIR_PRIO { NICE_0_PRIO } else { task.prio };
            task.prio = policy.rt_priority().map_or(fair_before, |p| 99 - i32::from(p.get()));
            task.steps.retain(|step| {
                !matches!(step, Recorded::SetPrio(_) | Recorded::Told(ToldStep::SetPolicy(_)))
            });
            task.merge_runs();
        }
        Changed::Nice(nice) => {
            let prio = NICE_0_PRIO + i32::from(nice.get());
            let first = std::iter::once(&mut task.prio);
            let later = task.steps.iter_mut().filter_map(|step| match step {
                Recorded::SetPrio(prio) => Some(prio),
                _ => None,
            });
            for fair in first.chain(later).filter(|prio| **prio >= FIRST_FAIR_PRIO) {
                *fair = prio;
            }
            if let Some(told) = &mut task.told {
                told.nice = nice;
            }
            task.steps.retain(|step| !matches!(step, Recorded::Told(ToldStep::SetNice(_))));
        }
        Changed::Scale(factor) => {
            let scale = |length: &mut Nanos| {
                let scaled = u128::from(length.0) * u128::from(factor.millionths) / MILLIONTHS;
                length.0 = u64::try_from(scaled).unwrap_or(u64::MAX);
            };
            scale(&mut task.cpu_time);
            for step in &mut task.steps {
                match step {
                    Recorded::Run(length) | Recorded::Told(ToldStep::KernelCompute(length)) => scale(length),
                    _ => {}
                }
            }
        }
        Changed::Without => {
            let matters = |step: &Recorded| {
                matches!(step, Recorded::Wake { .. } | Recorded::Fork { .. } | Recorded::Told(_))
            };
            if !task.steps.iter().any(matters) {
                task.begin = Begin::Never;
            }
            task.cpu_time = Nanos::ZERO;
            task.steps.retain(|step| {
                !matches!(step, Recorded::Run(_) | Recorded::Told(ToldStep::KernelCompute(_)))
            });
        }
    }
}
