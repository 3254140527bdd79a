//! Whose work a recording is: that of the command that the recorder ran, of the kernel, of others.
//!
//! Recorders (trace-cmd, perf, schedlab) fork a child that becomes the command. Where the recorder wrote down
//! which it is (schedlab does), or the trace shows it, the child and all that come from it are the command's
//! tasks. Where not, nobody's are: nothing is guessed from names or loads.
//!
//! Most recorders fork before they begin to record, so that the fork is not in the file. perf's child has a
//! name of its own until it becomes the command. Of trace-cmd the file may hold no more than the exec; but
//! the recorder sleeps until its child ends, and the last of the child's threads wakes it.

use super::recording::{Begin, RecordedTask, Recording, ReplayStep, TaskIndex};
use super::track::Track;
use std::collections::BTreeSet;
use trace::{Pid, Strings, Trace};

/// Names that recorders' own tasks have until the command replaces them.
const RECORDERS: [&str; 4] = ["schedlab", "trace-cmd", "perf", PERFS_CHILD];

/// The name of perf's child until it becomes the command.
const PERFS_CHILD: &str = "perf-exec";

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

/// perf's child, if its names show that it became something else. Recordings of `perf sched record` have no
/// events of exec.
pub(super) fn perfs_child(tasks: &[Track], strings: &Strings) -> Option<Pid> {
    let is_its_name = |comm| &strings[comm] == PERFS_CHILD;
    let becomes =
        |task: &&Track| task.first_comm.is_some_and(is_its_name) && !task.last_comm.is_some_and(is_its_name);
    tasks.iter().find(becomes).map(|task| task.pid)
}

/// Who the recorder says it was; or the child of a recorder that became something else: by exec, or where the
/// trace has no exec, by its name; or who ended a recorder's sleep.
fn command(recording: &Recording) -> Option<TaskIndex> {
    let tasks = &recording.tasks;
    let told = recording.command.and_then(|pid| tasks.iter().position(|task| task.pid == pid));
    let told = told.map(|n| TaskIndex(n as u32));
    let found = told.or_else(|| recorders_child(tasks)).or_else(|| wakes_recorder(tasks))?;
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

/// The one that the trace shows to become a program, but not to be made, and of whose family somebody wakes a
/// recorder before ending; none if there are several.
fn wakes_recorder(tasks: &[RecordedTask]) -> Option<TaskIndex> {
    let is_recorder = |task: &TaskIndex| RECORDERS.contains(&tasks[task.index()].last_comm());
    let ends_its_sleep = |task: &RecordedTask| match task.steps.as_slice() {
        [before @ .., ReplayStep::Exit] => {
            let wakes = before.iter().rev().find_map(|step| match step {
                ReplayStep::Wake { task, .. } => Some(is_recorder(task)),
                ReplayStep::Run(_) | ReplayStep::Interrupted { .. } => None,
                _ => Some(false),
            });
            wakes == Some(true)
        }
        _ => false,
    };
    let mut parents = vec![None; tasks.len()];
    for (parent, task) in (0..).map(TaskIndex).zip(tasks) {
        children(task).for_each(|child| parents[child.index()] = Some(parent));
    }
    // A damaged trace may make a task its own ancestor; such a family has no first.
    let first_of = |task: usize| {
        let ancestors = std::iter::successors(Some(task), |of| parents[*of].map(TaskIndex::index));
        ancestors.take(tasks.len()).find(|of| parents[*of].is_none())
    };
    let becomes = |task: &RecordedTask| task.steps.iter().any(|step| matches!(step, ReplayStep::Exec(_)));
    let wakers = (0..tasks.len()).filter(|n| ends_its_sleep(&tasks[*n]));
    let firsts: BTreeSet<usize> = wakers.filter_map(first_of).collect();
    let mut commands = firsts.into_iter().filter(|n| tasks[*n].begin != Begin::Forked && becomes(&tasks[*n]));
    commands.next().filter(|_| commands.next().is_none()).map(|n| TaskIndex(n as u32))
}

fn children(task: &RecordedTask) -> impl Iterator<Item = TaskIndex> {
    task.steps.iter().filter_map(ReplayStep::child)
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

    /// `pid`, which the trace does not show before, becomes make, and ends at `at`, after it has woken
    /// `woken`.
    fn execs_and_ends(pid: u32, at: u32, woken: &str) -> [String; 4] {
        let (cpu, begins) = (pid % 2, format!("make-{pid} [00{}] d... 1.0000", pid % 2));
        let wakes =
            |event| format!(" {begins}{at}0: {event}: comm={woken} pid=1{pid} prio=120 target_cpu=000");
        [
            format!(" {begins}10: sched_process_exec: filename=/usr/bin/make pid={pid} old_pid={pid}"),
            wakes("sched_waking"),
            wakes("sched_wakeup"),
            format!(
                " {begins}{at}5: sched_switch: prev_comm=make prev_pid={pid} prev_prio=120 prev_state=X ==> \
                 next_comm=swapper/{cpu} next_pid=0 next_prio=120"
            ),
        ]
    }

    fn command_of(lines: impl IntoIterator<Item = String>) -> Option<RecordedCommand> {
        let mut lines: Vec<String> = lines.into_iter().collect();
        lines.sort_by_key(|line| line.find(" 1.0").map(|at| line[at..at + 9].to_owned()));
        roles(&lines.iter().map(String::as_str).collect::<Vec<_>>()).1.command
    }

    #[test]
    fn a_program_that_wakes_the_sleeping_recorder_at_its_end_is_the_command() {
        let make = RecordedCommand { comm: "make".into(), pid: trace::Pid(7) };
        assert_eq!(command_of(execs_and_ends(7, 5, "trace-cmd")), Some(make));
        assert_eq!(command_of(execs_and_ends(7, 5, "bash")), None);
        let two = execs_and_ends(7, 5, "trace-cmd").into_iter().chain(execs_and_ends(8, 6, "trace-cmd"));
        assert_eq!(command_of(two), None, "it may be either");
    }

    #[test]
    fn the_last_thread_of_the_command_may_be_the_one_that_wakes_the_recorder() {
        let thread =
            " make-7 [001] .... 1.000020: sched_process_fork: comm=make pid=7 child_comm=make child_pid=9";
        let comes = " make-7 [001] d... 1.000030: sched_switch: prev_comm=make prev_pid=7 prev_prio=120 \
                     prev_state=X ==> next_comm=make next_pid=9 next_prio=120";
        let [exec, ..] = execs_and_ends(7, 5, "trace-cmd");
        let [_, ends @ ..] = execs_and_ends(9, 5, "trace-cmd");
        let command = command_of([exec, thread.into(), comes.into()].into_iter().chain(ends));
        assert_eq!(command.map(|command| command.pid), Some(trace::Pid(7)));
    }

    #[test]
    fn perfs_child_needs_no_exec_to_be_the_command() {
        let becomes = |first: &str| {
            let comes = WAITS.replace("trace-cmd", first);
            let goes = " make-7 [000] d... 1.000100: sched_switch: prev_comm=make prev_pid=7 prev_prio=120 \
                        prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120";
            roles(&[&comes, goes]).1.command.map(|command| command.pid)
        };
        assert_eq!(becomes("perf-exec"), Some(trace::Pid(7)));
        assert_eq!(becomes("bash"), None);
    }
}
