//! Recorded tasks under SCHED_DEADLINE: no event tells their parameters. A trace of our own does.

use super::recording::{RecordedTask, Recording, ReplayStep, listed};

/// What the recorded kernel's priority of deadline tasks is below.
const FIRST_PRIO: i32 = 0;

/// That a recording has some, and what that changes; `None` if it has none.
pub(super) fn warning(recording: &Recording) -> Option<String> {
    let tasks: Vec<&RecordedTask> = recording.tasks.iter().filter(|task| is_ever(task)).collect();
    let (count, are, them) = match tasks.len() {
        0 => return None,
        1 => (1, "task is", "it"),
        several => (several, "tasks are", "them"),
    };
    Some(format!(
        "{count} {are} under SCHED_DEADLINE, {}: replayed as SCHED_FIFO 99, without deadline and runtime limit, so \
         that nothing throttles {them} and others get the CPU later than recorded",
        listed(&tasks)
    ))
}

/// Whether it begins so, or becomes one, as under `chrt -d`.
fn is_ever(task: &RecordedTask) -> bool {
    let becomes = |step: &ReplayStep| matches!(step, ReplayStep::SetPrio(prio) if *prio < FIRST_PRIO);
    task.deadline.is_none() && (task.prio < FIRST_PRIO || task.steps.iter().any(becomes))
}

#[cfg(test)]
mod tests {
    use super::super::tests::trace;
    use super::*;

    fn warned(script: &str) -> Option<String> {
        warning(&Recording::extract(&trace(script)))
    }

    #[test]
    fn who_is_or_becomes_a_deadline_task_is_told_of() {
        let is = warned("0 0 idle R a/-1\n100 0 a/-1 S idle").expect("a warning");
        assert!(is.starts_with("1 task is under SCHED_DEADLINE, a (97): replayed as SCHED_FIFO 99"), "{is}");
        let becomes = "0   0 idle R a/120
                       100 0 a/120 wakes b/110
                       200 0 a/-1 S b/110
                       300 0 b/110 S idle";
        assert_eq!(warned(becomes), Some(is));
        assert_eq!(warned("0 0 idle R a/0\n100 0 a/0 S idle"), None, "SCHED_FIFO 99");
    }
}
