//! Whose work a recording is: that of the command that the recorder ran, of the kernel, of others.
//!
//! Recorders (trace-cmd, perf, schedlab) fork a child that becomes the command. Where the recorder wrote down
//! which it is (schedlab does), or the trace shows it, the child and all that come from it are the command's
//! tasks. Where not, nobody's are: nothing is guessed from names or loads.

use super::recording::{Recorded, RecordedTask, Recording, TaskIndex};
use std::collections::BTreeSet;
use trace::{Pid, Trace};

/// Names that recorders' own tasks have until the command replaces them.
const RECORDERS: [&str; 4] = ["schedlab", "trace-cmd", "perf", "perf-exec"];

/// A command that does nothing but hold the recording open is not what was recorded.
const HOLDS_OPEN: &str = "sleep";

/// The kernel's thread that makes its others.
const KTHREADD: i32 = 2;

/// Names of kernel threads that come and go.
const KWORKER: &str = "kworker/";

/// To whom a task belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// The recorded command is its ancestor, or itself.
    Command,
    /// It is a thread of the kernel.
    Kernel,
    /// It is anything else.
    #[default]
    Other,
}

/// The command that was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedCommand {
    /// Its name.
    pub comm: Box<str>,
    /// Its recorded id.
    pub pid: trace::Pid,
}

/// The roles of all tasks of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Roles {
    /// In the order of [`Recording::tasks`].
    pub of_tasks: Vec<Role>,
    /// The command, if it shows.
    pub command: Option<RecordedCommand>,
}

/// The ids of the recorded command and of all that comes from it, where the trace shows them. An id that was
/// given out again counts if any of its tasks is one.
#[must_use]
pub fn command_pids(trace: &Trace) -> BTreeSet<Pid> {
    let recording = Recording::extract(trace);
    let roles = Roles::of(&recording).of_tasks;
    let of_command = recording.tasks.iter().zip(roles).filter(|(_, role)| *role == Role::Command);
    of_command.map(|(task, _)| task.pid).collect()
}

impl Roles {
    pub fn of(recording: &Recording) -> Roles {
        let tasks = &recording.tasks;
        let mut roles = Roles { of_tasks: vec![Role::Other; tasks.len()], command: None };
        let kthreadd = tasks.iter().filter(|task| task.pid.0 == KTHREADD);
        let made_by_kernel = kthreadd.flat_map(children);
        let named = tasks.iter().zip(0..).filter(|(task, _)| task.comm.starts_with(KWORKER));
        for kernel in named.map(|(_, n)| TaskIndex(n)).chain(made_by_kernel) {
            roles.of_tasks[kernel.index()] = Role::Kernel;
        }
        let Some(command) = command(recording) else { return roles };
        let mut family = vec![command];
        while let Some(task) = family.pop() {
            // A task id may come back, a task does not: but a damaged trace may say anything.
            if roles.of_tasks[task.index()] != Role::Command {
                roles.of_tasks[task.index()] = Role::Command;
                family.extend(children(&tasks[task.index()]));
            }
        }
        let task = &tasks[command.index()];
        roles.command = Some(RecordedCommand { comm: task.last_comm().into(), pid: task.pid });
        roles
    }
}

/// Who the recorder says it was; or the child of a recorder that became something else: by exec, or where the
/// trace has no exec, by its name.
fn command(recording: &Recording) -> Option<TaskIndex> {
    let tasks = &recording.tasks;
    let told = recording.command.and_then(|pid| tasks.iter().position(|task| task.pid == pid));
    let found = told.map(|n| TaskIndex(n as u32)).or_else(|| recorders_child(tasks))?;
    let task = &tasks[found.index()];
    (task.last_comm() != HOLDS_OPEN || children(task).next().is_some()).then_some(found)
}

fn recorders_child(tasks: &[RecordedTask]) -> Option<TaskIndex> {
    let is_recorder = |comm: &str| RECORDERS.contains(&comm);
    let becomes = |task: &RecordedTask| !is_recorder(task.last_comm());
    let by_exec = |task: &RecordedTask| is_recorder(&task.comm) && becomes(task);
    let forked = |task: &RecordedTask| children(task).find(|child| becomes(&tasks[child.index()]));
    let exec = tasks.iter().position(by_exec).map(|n| TaskIndex(n as u32));
    exec.or_else(|| tasks.iter().filter(|task| is_recorder(&task.comm)).find_map(forked))
}

fn children(task: &RecordedTask) -> impl Iterator<Item = TaskIndex> {
    task.steps.iter().filter_map(Recorded::child)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(lines: &[&str]) -> (Recording, Roles) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let recording = Recording::extract(&trace::read(text.as_bytes()).expect("a trace"));
        let roles = Roles::of(&recording);
        (recording, roles)
    }

    const WAITS: &str = " <idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 \
                         prev_prio=120 prev_state=R ==> next_comm=trace-cmd next_pid=7 next_prio=120";
    const FORKS: &str =
        " make-7 [000] .... 1.000200: sched_process_fork: comm=make pid=7 child_comm=make child_pid=8";
    const THREAD: &str = " kthreadd-2 [001] .... 1.000300: sched_process_fork: comm=kthreadd pid=2 \
                          child_comm=kthreadd child_pid=9";

    #[test]
    fn the_recorders_child_and_its_children_are_the_command() {
        let exec = " make-7 [000] .... 1.000100: sched_process_exec: filename=/usr/bin/make pid=7 old_pid=7";
        let (recording, roles) = roles(&[WAITS, exec, FORKS, THREAD]);
        let role = |pid| {
            let found = recording.tasks.iter().position(|task| task.pid.0 == pid);
            found.map(|n| roles.of_tasks[n])
        };
        assert_eq!(roles.command, Some(RecordedCommand { comm: "make".into(), pid: trace::Pid(7) }));
        assert_eq!([role(7), role(8)], [Some(Role::Command); 2]);
        assert_eq!([role(2), role(9)], [Some(Role::Other), Some(Role::Kernel)]);
    }

    #[test]
    fn what_the_recorder_wrote_down_needs_no_inference() {
        let told =
            " bash-7 [000] .... 1.000050: tracing_mark_write: schedlab: command pid=7 make -j4".to_owned();
        let (recording, roles) = roles(&[&WAITS.replace("trace-cmd", "make"), &told, FORKS]);
        assert_eq!(roles.command, Some(RecordedCommand { comm: "make".into(), pid: trace::Pid(7) }));
        let again = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
            .expect("our own file")
            .recording;
        assert_eq!(Roles::of(&again), roles);
    }

    #[test]
    fn a_recording_that_sleep_holds_open_and_one_by_somebody_else_have_no_command() {
        let sleep = " sleep-7 [000] .... 1.000100: sched_process_exec: filename=/bin/sleep pid=7 old_pid=7";
        assert_eq!(roles(&[WAITS, sleep]).1.command, None);
        let exec = " make-7 [000] .... 1.000100: sched_process_exec: filename=/usr/bin/make pid=7 old_pid=7";
        assert_eq!(roles(&[&WAITS.replace("trace-cmd", "bash"), exec, FORKS]).1.command, None);
    }
}
