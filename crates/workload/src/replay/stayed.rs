//! A recorded command whose tasks all stayed on one CPU may be bound to it (`record -- taskset -c 1 ...`),
//! and may be not: where nobody was made to wait beside an idle CPU, nothing in a trace tells. What is not
//! known is said.

use super::reading::KnownAffinity;
use super::recording::{RecordedTask, Recording};
use super::roles::{Role, Roles};
use scheduler::CpuMask;

/// Fewer tasks stay together by chance.
const FEWEST: usize = 3;

/// A sentence if the command's children ran on one CPU only, without a known affinity. `known` is what the
/// user says, by task.
pub(super) fn note(recording: &Recording, known: &[Option<&KnownAffinity>]) -> Option<String> {
    let Roles { of_tasks, command } = Roles::of(recording);
    let command = command.filter(|_| recording.cpus > 1 && !recording.is_told())?;
    let family = recording.tasks.iter().zip(&of_tasks).zip(known);
    let family: Vec<_> = family.filter(|((_, role), _)| **role == Role::Command).collect();
    let is_open = |task: &RecordedTask, known: Option<&KnownAffinity>| {
        known.is_none() && task.placement.allowed.is_none() && task.placement.pinned.is_none()
    };
    if family.len() < FEWEST || !family.iter().all(|((task, _), known)| is_open(task, **known)) {
        return None;
    }
    // The command itself may have come from elsewhere before it was bound.
    let children = family.iter().map(|((task, _), _)| task).filter(|task| task.pid != command.pid);
    let ran_on = children.fold(CpuMask::EMPTY, |all, task| all.or(&task.placement.ran_on));
    let cpu = ran_on.iter().next().filter(|_| ran_on.weight() == 1)?;
    let (comm, pid, cpu, count) = (&command.comm, command.pid, cpu.0, family.len() - 1);
    Some(format!(
        "{comm} had {count} descendants, which all ran on CPU {cpu} only: a trace does not show affinities, and they are taken to be \
         free; --affinity {pid}={cpu} binds the command and all of them, --affinity {pid}=all says that they are free"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;
    use crate::replay::Replay;

    /// The recorder's child becomes sh on CPU 0, comes to CPU 1, and forks two children, of which the second
    /// runs on this CPU.
    fn replay(second: u32) -> Replay {
        let lines = [
            " <idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
             prev_state=R ==> next_comm=trace-cmd next_pid=7 next_prio=120".to_owned(),
            " sh-7 [000] .... 1.000100: sched_process_exec: filename=/bin/sh pid=7 old_pid=7".to_owned(),
            " sh-7 [000] d... 1.000200: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=R+ \
             ==> next_comm=swapper/0 next_pid=0 next_prio=120".to_owned(),
            " <idle>-0 [001] d... 1.000300: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
             prev_state=R ==> next_comm=sh next_pid=7 next_prio=120".to_owned(),
            " sh-7 [001] .... 1.000400: sched_process_fork: comm=sh pid=7 child_comm=sh \
             child_pid=8".to_owned(),
            " sh-7 [001] .... 1.000500: sched_process_fork: comm=sh pid=7 child_comm=sh \
             child_pid=9".to_owned(),
            " sh-7 [001] d... 1.000600: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> \
             next_comm=sh next_pid=8 next_prio=120".to_owned(),
            " sh-8 [001] d... 1.000700: sched_switch: prev_comm=sh prev_pid=8 prev_prio=120 prev_state=S ==> \
             next_comm=swapper/1 next_pid=0 next_prio=120".to_owned(),
            format!(" <idle>-0 [00{second}] d... 1.000800: sched_switch: prev_comm=swapper/{second} \
                     prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=9 next_prio=120"),
            format!(" sh-9 [00{second}] d... 1.000900: sched_switch: prev_comm=sh prev_pid=9 prev_prio=120 \
                     prev_state=S ==> next_comm=swapper/{second} next_pid=0 next_prio=120"),
        ];
        Replay::new(trace::read(format!("{}\n", lines.join("\n")).as_bytes()).expect("a trace"))
    }

    fn note_of(replay: &Replay) -> Option<String> {
        replay.notes().into_iter().find(|note| note.contains("only: a trace does not show affinities"))
    }

    #[test]
    fn a_command_whose_children_stayed_on_one_cpu_may_be_bound() {
        let note = note_of(&replay(1)).expect("a note");
        assert!(note.starts_with("sh had 2 descendants, which all ran on CPU 1 only"), "{note}");
        assert!(note.contains("--affinity 7=1 binds") && note.contains("--affinity 7=all"), "{note}");
        assert_eq!(note_of(&replay(0)), None, "they spread");
    }

    #[test]
    fn whoever_says_what_it_is_hears_nothing_of_it() {
        let whom = "7".parse().expect("a task");
        let known = replay(1).with_affinities(vec![KnownAffinity { whom, cpus: CpuMask::ALL }]);
        assert_eq!(note_of(&known), None);
    }
}
