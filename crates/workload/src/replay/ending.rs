//! What decides when the recorded command is done: its work, the clock, or the end of the recording. Of the
//! last two no replay tells when it would be done elsewhere, however close it comes to the recording.

use super::accounted::Accounted;
use super::caveats::seconds;
use super::lives::TraceTask;
use super::overrides::{Changed, Override};
use super::recording::{RecordedTask, Recording, listed};
use super::roles::{Role, Roles};
use scheduler::Nanos;
use std::collections::BTreeMap;
use trace::{Context, Cpu, Event, EventKind, Pid, PrevState, Trace};

/// Why the recorded command was done when it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ending {
    /// Its work was done, as far as that shows.
    #[default]
    Work,
    /// The time was up: its tasks stop together after unequal work.
    Clock,
    /// Either: its tasks stop together after equal work, as both the clock and the work may make them.
    ClockOrWork,
    /// It was not: the recording or the recorder ended before.
    Open,
}

/// What the end of a recording's command shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ended {
    pub by: Ending,
    pub by_clock: Option<ByClock>,
    pub note: Option<String>,
}

/// Tasks that the clock seems to have ended, or may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ByClock {
    tasks: Vec<TraceTask>,
    is_equal: bool,
    pub warning: String,
}

fn id(task: &RecordedTask) -> TraceTask {
    (task.pid, task.incarnation)
}

impl ByClock {
    /// Whether it is said of all of them that the clock ends them in the replay, too (until-end), or that
    /// their work does (until-done).
    pub fn is_told(&self, recording: &Recording, overrides: &[Override], what: Changed) -> bool {
        let is_told = |task: &RecordedTask| overrides.iter().any(|o| o.what == what && o.whom.is(task));
        let mut tasks = recording.tasks.iter().filter(|task| self.tasks.contains(&id(task)));
        tasks.all(is_told)
    }
}

/// Those who ran for less than this say nothing about how tasks end.
const LEAST_WORK_NS: u64 = 50_000_000;
/// A task that sleeps more rarely than this works by itself.
const RARE_SLEEPS_NS: u64 = 10_000_000;
/// Tasks that end within this share of the time until the end, end together.
const TOGETHER: u64 = 100;
/// Equal work that ends together ends in turns: the ends are as far apart as the CPU times are, and more.
/// Where CPU times differ by so many times the distance of the ends, the work did not end them.
const APART: u64 = 10;
/// Nor are CPU times different that differ by less than this share.
const DIFFERENT: u64 = 100;
/// Tasks for which the time is up do not work on when the first of them has ended: to see it takes each up to
/// 0.3 ms in the native recordings of mix_lab (6.18), and 1.4 ms in those of emulated guests (6.1).
const LAST_WORK_NS: u64 = 2_000_000;

impl Ended {
    /// Of a trace after its repair.
    pub fn of(trace: &Trace, recording: &Recording, accounted: &Accounted) -> Ended {
        let roles = Roles::of(recording);
        if let Some(command) = &roles.command {
            let own = recording.tasks.iter().find(|task| task.pid == command.pid);
            let stopped = trace.host.command.as_ref().is_some_and(|command| command.stopped);
            if stopped || own.is_some_and(|own| accounted.exit(id(own)).is_none()) {
                let what = if stopped { "the recorder stopped it" } else { "the recording ended" };
                let note = format!(
                    "{} had not finished when {what}: when it would be done does not show",
                    command.comm
                );
                return Ended { by: Ending::Open, note: Some(note), by_clock: None };
            }
        }
        let counts = |role: Role| match roles.command {
            Some(_) => role == Role::Command,
            None => role != Role::Kernel,
        };
        let counted = recording.tasks.iter().zip(&roles.of_tasks).filter(|(_, role)| counts(**role));
        let exits: Vec<(&RecordedTask, Nanos)> =
            counted.filter_map(|(task, _)| Some((task, accounted.exit(id(task))?))).collect();
        let Some((last, end)) = exits.iter().max_by_key(|(_, exit)| *exit) else { return Ended::default() };
        if let Some(by_clock) = together(trace, &exits, *end, accounted) {
            let by = if by_clock.is_equal { Ending::ClockOrWork } else { Ending::Clock };
            return Ended { by, by_clock: Some(by_clock), note: None };
        }
        Ended { by: Ending::Work, by_clock: None, note: sleeps(trace, recording, id(last), *end) }
    }
}

/// That tasks which hardly sleep, and did most of the work, end at the same time although they worked
/// differently long: the clock ended them, or they shared out their work as they went. After equal work, that
/// none of them works on once the first has ended: the clock may have ended them, and their work as well.
fn together(
    trace: &Trace,
    exits: &[(&RecordedTask, Nanos)],
    end: Nanos,
    accounted: &Accounted,
) -> Option<ByClock> {
    let work = |task: &RecordedTask| accounted.cpu_time(id(task)).ns();
    let is_worker = |(task, exit): &&(&RecordedTask, Nanos)| {
        let sleeps = accounted.task(id(task)).map_or(0, |summary| summary.voluntary_switches);
        let ends_with_all = end.saturating_sub(*exit).0 <= end.0 / TOGETHER;
        ends_with_all && work(task) >= LEAST_WORK_NS && sleeps <= work(task) / RARE_SLEEPS_NS
    };
    let workers: Vec<&(&RecordedTask, Nanos)> = exits.iter().filter(is_worker).collect();
    let works = || workers.iter().map(|(task, _)| work(task));
    let (least, most) = (works().min()?, works().max()?);
    let all: u64 = exits.iter().map(|(task, _)| work(task)).sum();
    let (first, last) =
        (workers.iter().map(|(_, exit)| *exit).min()?, workers.iter().map(|(_, exit)| *exit).max()?);
    let ends_apart = last.saturating_sub(first).0;
    let is_unequal = most - least > least / DIFFERENT && most - least > ends_apart.saturating_mul(APART);
    let tasks: Vec<&RecordedTask> = workers.iter().map(|(task, _)| *task).collect();
    let is_equal = !is_unequal && tasks.len() > 1 && {
        let ns = |exit: Nanos| trace.start_ns().saturating_add(exit.0);
        let exits: BTreeMap<Pid, u64> = workers.iter().map(|(task, exit)| (task.pid, ns(*exit))).collect();
        longest_after(trace, &exits, ns(first)) <= LAST_WORK_NS
    };
    if !(is_unequal || is_equal) || works().sum::<u64>() < all / 2 {
        return None;
    }
    let seconds = |ns: u64| seconds(ns, 2);
    let who = format!("{} tasks that hardly sleep, {}, end together", tasks.len(), listed(&tasks));
    let untold = "a replay repeats each one's own work, so it does not tell when they would be done on other \
                  CPUs or with more work";
    let warning = if is_unequal {
        format!(
            "{who} after unequal work ({} to {}): they seem to run until a certain time (if so, say until-end \
             of them), or to share out their work as they go (if their work ends them, say until-done); {untold}",
            seconds(least),
            seconds(most)
        )
    } else {
        format!(
            "{who} after equal work ({} each): they may run until a certain time (if so, say until-end of \
             them), or have as much to do (if so, say until-done); if the clock ends them, {untold}",
            seconds(most)
        )
    };
    Some(ByClock { tasks: tasks.iter().map(|task| id(task)).collect(), is_equal: !is_unequal, warning })
}

/// The longest that any of these tasks runs after this time, up to its exit.
fn longest_after(trace: &Trace, exits: &BTreeMap<Pid, u64>, from_ns: u64) -> u64 {
    let mut running: BTreeMap<Cpu, (Pid, u64)> = BTreeMap::new();
    let mut ran: BTreeMap<Pid, u64> = BTreeMap::new();
    for event in &trace.events {
        let EventKind::SchedSwitch(switch) = &event.kind else { continue };
        let came = running.insert(event.cpu, (switch.next.pid, event.time_ns));
        let Some((pid, since_ns)) = came.filter(|(pid, _)| *pid == switch.prev.pid) else { continue };
        if let Some(exit_ns) = exits.get(&pid) {
            *ran.entry(pid).or_default() += event.time_ns.min(*exit_ns).saturating_sub(since_ns.max(from_ns));
        }
    }
    ran.into_values().max().unwrap_or(0)
}

/// Sleeps are worth a sentence from this part of the time until the end on: a quarter.
const MUCH: u64 = 4;

/// Where going back from the end has come to.
enum Before {
    /// The last wakeup of the task.
    Running,
    /// The beginning of its sleep, which something outside ended at this time.
    Awake { at_ns: u64 },
}

/// That much of the time until the end is sleeps which timers or others outside ended, going back from the
/// last exit from each task to whoever woke it.
fn sleeps(trace: &Trace, recording: &Recording, (last, _): TraceTask, end: Nanos) -> Option<String> {
    let by_waking = trace.events.iter().any(|event| matches!(event.kind, EventKind::SchedWaking(_)));
    let end_ns = trace.start_ns().saturating_add(end.0);
    let mut slept: BTreeMap<Pid, u64> = BTreeMap::new();
    let (mut task, mut before) = (last, Before::Running);
    for event in trace.events.iter().rev().skip_while(|event| event.time_ns > end_ns) {
        match (&before, &event.kind) {
            (Before::Running, EventKind::SchedProcessFork(fork)) if fork.child_pid == task => {
                task = fork.parent_pid;
            }
            (Before::Running, EventKind::SchedWaking(wakeup)) if wakeup.task.pid == task => {
                before = woken_by(event, &mut task);
            }
            (Before::Running, EventKind::SchedWakeup(wakeup)) if wakeup.task.pid == task && !by_waking => {
                before = woken_by(event, &mut task);
            }
            (Before::Awake { at_ns }, EventKind::SchedSwitch(switch)) if switch.prev.pid == task => {
                // In state D it waited for a device, which a replay knows.
                if switch.prev_state == PrevState::from_letters(b"S") {
                    *slept.entry(task).or_default() += at_ns.saturating_sub(event.time_ns);
                }
                before = Before::Running;
            }
            _ => {}
        }
    }
    let all: u64 = slept.values().sum();
    let (longest, most) = slept.iter().max_by_key(|(_, slept)| **slept)?;
    let comm =
        |pid: Pid| recording.tasks.iter().rev().find(|task| task.pid == pid).map(RecordedTask::last_comm);
    let seconds = |ns: u64| seconds(ns, 2);
    (all.saturating_mul(MUCH) >= end.0).then(|| {
        format!(
            "of the {} until {} was done, {} are sleeps that a timer or something outside ended, most of them \
             those of {} ({}): more CPUs or less work do not shorten these",
            seconds(end.0),
            comm(last).unwrap_or("the last task"),
            seconds(all),
            comm(*longest).unwrap_or("a task"),
            seconds(*most)
        )
    })
}

/// Goes on with the waker, or with the sleep where it was no task.
fn woken_by(event: &Event, task: &mut Pid) -> Before {
    let is_task = matches!(event.context, Context::Task | Context::Unknown);
    if is_task && event.pid != Pid::IDLE && event.pid != *task {
        *task = event.pid;
        return Before::Running;
    }
    Before::Awake { at_ns: event.time_ns }
}

#[cfg(test)]
mod tests {
    use crate::load::Load;
    use crate::replay::tests::trace;
    use crate::replay::{Changed, Ending, Override, Replay};

    /// What decides, and what is said of it.
    fn ended(script: &str) -> (Ending, String) {
        let replay = Replay::new(trace(script));
        (replay.ending, [replay.warnings(), replay.notes()].concat().join("\n"))
    }

    /// Two hogs on a CPU each; the second begins 100 ms after the first. They end at these times, in µs.
    fn hogs(first: u64, second: u64) -> String {
        let mut ends = [(first, "0 hogx X"), (second, "1 hogy X")];
        ends.sort_unstable();
        let [(one, who), (other, whom)] = ends;
        format!("0 0 idle R hogx\n100000 1 idle R hogy\n{one} {who} idle\n{other} {whom} idle")
    }

    #[test]
    fn unequal_work_that_ends_at_one_moment_ends_by_the_clock() {
        let (by, said) = ended(&hogs(1_000_000, 1_000_500));
        assert_eq!(by, Ending::Clock, "1.0 and 0.9 s of work within 0.5 ms: {said}");
        assert!(said.contains("end together after unequal work (0.90 s to 1.00 s)"), "{said}");
    }

    /// Two hogs that began together, each on a CPU: so do a clock and equal work end them.
    #[test]
    fn equal_work_that_ends_at_one_moment_may_end_by_the_clock() {
        let both = |second: u64| hogs(1_000_000, second).replace("100000 1 idle", "0 1 idle");
        let (by, said) = ended(&both(1_000_500));
        assert_eq!(by, Ending::ClockOrWork, "{said}");
        assert!(said.contains("end together after equal work (1.00 s each): they may run until"), "{said}");
        assert_eq!(ended(&both(1_003_000)).0, Ending::Work, "one works on for 3 ms");
        assert_eq!(ended("0 0 idle R hogx\n1000000 0 hogx X idle").0, Ending::Work, "one shows nothing");
    }

    /// mix_lab runs for four seconds by the clock: two equal tasks and one that sleeps, and five equal ones.
    /// Of its tasks that sleep for times of their own, one does most of the work: it shows nothing.
    #[test]
    fn recordings_of_equal_tasks_that_the_clock_ends_are_not_taken_to_end_by_their_work() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation");
        let ending = |file: &str| {
            let bytes = std::fs::read(format!("{folder}/{file}")).expect("a recording");
            Replay::new(trace::read(bytes.as_slice()).expect("a trace")).ending
        };
        assert_eq!(ending("native-6.18/mix-sleeper/mix-sleeper.dat"), Ending::ClockOrWork);
        assert_eq!(ending("guest-6.1/mix-smp1/balance/trace.dat"), Ending::ClockOrWork);
        assert_eq!(ending("native-6.18/mix-rr/mix-rr.dat"), Ending::Work);
    }

    /// Who says of all of them that the clock is to end them needs not be told so.
    #[test]
    fn the_clock_is_not_guessed_where_it_is_said() {
        let warnings = |whom: &[&str]| {
            let said =
                |whom: &&str| Override { whom: whom.parse().expect("a task"), what: Changed::UntilEnd };
            let overrides: Vec<Override> = whom.iter().map(said).collect();
            let replay = Replay::new(trace(&hogs(1_000_000, 1_000_500))).with_overrides(&overrides);
            replay.warnings().iter().filter(|warning| warning.contains("until a certain time")).count()
        };
        assert_eq!([warnings(&[]), warnings(&["hogx"])], [1, 1]);
        assert_eq!([warnings(&["hog*"]), warnings(&["hogy", "hogx"])], [0, 0]);
    }

    /// To say that they shared out their work makes their end an answer, and changes no task.
    #[test]
    fn work_ends_whom_it_is_said_of() {
        let recorded = Replay::new(trace(&hogs(1_000_000, 1_000_500)));
        let told = |whom: &str| {
            let said = Override { whom: whom.parse().expect("a task"), what: Changed::UntilDone };
            recorded.clone().with_overrides(&[said])
        };
        let (one, both) = (told("hogx"), told("hog*"));
        assert_eq!((one.ending, one.warnings().len()), (Ending::Clock, recorded.warnings().len()));
        assert_eq!((both.ending, both.warnings().len()), (Ending::Work, recorded.warnings().len() - 1));
        assert!(!both.is_changed() && both.plays_as(&recorded));
    }

    #[test]
    fn work_that_is_done_ends_when_it_is_done() {
        assert_eq!(ended(&hogs(1_000_000, 1_100_000)).0, Ending::Work, "each after its own second");
        assert_eq!(ended(&hogs(1_000_000, 1_010_000)).0, Ending::Work, "together, but in turns");
    }

    /// A shell whose child sleeps for most of the time.
    const SLEEPS: &str = "\
        0 0 idle R sh
        10 0 sh forks nap
        20 0 sh S nap
        30 0 nap S idle
        900000 0 irq@idle wakes nap
        900010 0 idle R nap
        900020 0 nap wakes sh
        900030 0 nap X sh
        1000000 0 sh X idle";

    #[test]
    fn sleeps_on_the_way_to_the_end_are_told() {
        let (by, said) = ended(SLEEPS);
        assert_eq!(by, Ending::Work);
        assert!(said.contains("of the 1.00 s until sh was done, 0.90 s are sleeps"), "{said}");
        assert!(said.contains("most of them those of nap (0.90 s)"), "{said}");
        let short = SLEEPS.replace("9000", "2000");
        assert!(!ended(&short).1.contains("are sleeps"), "a fifth");
    }

    #[test]
    fn a_command_that_outlives_the_recording_has_no_end() {
        let text = |rest: &str| {
            let head = "# tracer: nop\n# entries-in-buffer/entries-written: 9/9   #P:1\n";
            let switch = |at: &str, from: (&str, u32), state: &str, to: (&str, u32)| {
                let (comm, pid) = from;
                format!(
                    "{comm}-{pid} [000] d..2. {at}: sched_switch: prev_comm={comm} prev_pid={pid} prev_prio=120 \
                     prev_state={state} ==> next_comm={} next_pid={} next_prio=120\n",
                    to.0, to.1
                )
            };
            let mark = "idle-0 [000] ..... 0.000001: tracing_mark_write: schedlab: command pid=7 sh\n";
            let begin = switch("0.000002", ("idle", 0), "R", ("sh", 7));
            let fork =
                "sh-7 [000] ..... 0.000003: sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=8\n";
            let child = switch("0.100000", ("sh", 7), "S", ("sh", 8))
                + &switch("0.200000", ("sh", 8), "X", ("sh", 7));
            Replay::new(
                trace::read(format!("{head}{mark}{begin}{fork}{child}{rest}").as_bytes()).expect("a trace"),
            )
        };
        let end = "sh-7 [000] d..2. 0.300000: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=X ==> \
                   next_comm=idle next_pid=0 next_prio=120\n";
        assert_eq!(text(end).ending, Ending::Work);
        let open = text("");
        assert_eq!(open.ending, Ending::Open, "its child has ended");
        assert!(
            open.notes().iter().any(|note| note.starts_with("sh had not finished when the recording ended"))
        );
        let stopped =
            text(&format!("idle-0 [000] ..... 0.290000: tracing_mark_write: schedlab: stopped pid=7\n{end}"));
        assert_eq!(stopped.ending, Ending::Open);
        assert!(stopped.notes().iter().any(|note| note.contains("when the recorder stopped it")));
    }
}
