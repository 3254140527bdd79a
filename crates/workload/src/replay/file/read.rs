//! From the text to the recording.

use super::paths;
use super::task::{Manner, ending, fact, piece, scaled, step};
use super::told;
use super::words::{self, number, read_one_line, read_policy, read_time};
use super::{MAGIC, VERSION};
use crate::groups::Group;
use crate::replay::counts::Counts;
use crate::replay::groups::ReplayGroups;
use crate::replay::recording::{
    Begin, FairPolicy, Message, Placement, RecordedTask, Recording, ReplayStep, TaskIndex, Waking,
};
use crate::replay::{Caveats, Throttling};
use crate::told::read_fork_kind;
use crate::units;
use machine::{DeviceId, ForkKind, Objects, WakePaths};
use scheduler::{MutexId, Nanos};
use schema::is_in_group;
use std::collections::{BTreeMap, BTreeSet};
use suggest::suggest;
use thiserror::Error;
use trace::{MAX_CPUS, Pid};

/// What is wrong with a workload file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {problem}")]
pub struct WorkloadError {
    /// Where, from 1.
    pub line: usize,
    /// What, and what to do.
    pub problem: String,
}

/// A recording and what else its file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadWorkload {
    /// The programs of the tasks.
    pub recording: Recording,
    /// The recording kernel's `uname`.
    pub kernel: Option<String>,
    /// The file of the recorded machine. Its lines have the numbers that they have in the workload file, so
    /// others are empty.
    pub machine: Option<String>,
    /// What must be known of the recording of which the file was made.
    pub caveats: Caveats,
}

impl Recording {
    /// Reads a workload file.
    ///
    /// # Errors
    /// The first line that is not understood, or that says what cannot be.
    pub fn from_text(text: &str) -> Result<ReadWorkload, WorkloadError> {
        let mut reader = Reader::default();
        let mut lines = 0;
        for (n, line) in text.lines().enumerate() {
            lines = n + 1;
            let at = |problem| WorkloadError { line: n + 1, problem };
            if n == 0 {
                magic(line).map_err(at)?;
                continue;
            }
            let line = line.trim_start();
            if !line.is_empty() && !line.starts_with('#') {
                reader.line(n + 1, line).map_err(at)?;
            }
        }
        reader.finish(lines)
    }
}

fn magic(line: &str) -> Result<(), String> {
    match line.trim_end().split_once(' ') {
        Some((MAGIC, VERSION)) => Ok(()),
        Some((MAGIC, other)) => Err(format!("version {other} is not known; this program reads {VERSION}")),
        _ => Err(format!("not a workload file; it begins with `{MAGIC} {VERSION}`")),
    }
}

/// A mention of a task, to be looked up when all are known.
struct Mention {
    line: usize,
    task: usize,
    step: usize,
    key: String,
}

#[derive(Default)]
struct Reader {
    cpus: Option<u32>,
    span: Option<Nanos>,
    hz: Option<u32>,
    ticks_at: Vec<Nanos>,
    command: Option<Pid>,
    kernel: Option<String>,
    machine: Option<String>,
    caveats: Caveats,
    groups: ReplayGroups,
    idle_polls: bool,
    rtmutex_spins: Option<bool>,
    throttling: Throttling,
    paths: WakePaths,
    tasks: Vec<RecordedTask>,
    objects: Objects,
    messages: Vec<Message>,
    keys: BTreeMap<String, TaskIndex>,
    mentions: Vec<Mention>,
    /// Tasks whose fork was found.
    forked: BTreeSet<TaskIndex>,
    manner: Option<Manner>,
}

impl Reader {
    fn line(&mut self, at: usize, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "task" {
            return self.task(rest);
        }
        let Some(manner) = self.manner.as_mut() else {
            if word == "machine" {
                self.machine(at, rest);
                return Ok(());
            }
            return self.global(word, rest.trim());
        };
        let index = self.tasks.len() - 1;
        let Some(task) = self.tasks.last_mut() else { return Ok(()) };
        if word == "group" {
            let group = Group::new(rest.trim())?;
            is_there(group.path(), &self.groups.described)?;
            return match self.groups.of.insert(TaskIndex(index as u32), group.path().into()) {
                None => Ok(()),
                Some(first) => Err(format!(
                    "the task is in group {first} already, and in one only; leave one of the lines out"
                )),
            };
        }
        if fact(task, manner, word, rest.trim())? {
            if !task.steps.is_empty() {
                return Err(format!("`{word}` is a fact of the task; facts stand before the steps"));
            }
            return Ok(());
        }
        let mention =
            |key: &str| Mention { line: at, task: index, step: task.steps.len(), key: key.to_owned() };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let unknown = TaskIndex(u32::MAX);
        let step = match (word, &words[..]) {
            ("wake", [key, rest @ ..]) => {
                self.mentions.push(mention(key));
                let (rest, same_call) = ending(rest, "too");
                let (rest, interrupts) = ending(rest, "interrupts");
                ReplayStep::Wake { task: unknown, interrupts, work: piece(rest)?, same_call }
            }
            ("fork", [key, kind @ ..]) if kind.len() <= 1 => {
                self.mentions.push(mention(key));
                let kind = kind.first().map_or(Some(ForkKind::Thread), |kind| read_fork_kind(kind));
                let kind = kind.ok_or("write fork TASK, fork TASK process or fork TASK vfork")?;
                ReplayStep::Fork { child: unknown, kind }
            }
            ("submit", [service, "to", device, "wakes", key, rest @ ..]) => {
                self.mentions.push(mention(key));
                let device = DeviceId(number(device, 0, u32::MAX)?);
                if device.0 as usize >= self.objects.devices.len() {
                    return Err(format!("there is no device {} above the first task", device.0));
                }
                let service = read_time(service)?;
                ReplayStep::Submit { task: unknown, device, service, work: piece(rest)? }
            }
            ("lend", [key, policy @ .., "round", round]) => {
                self.mentions.push(mention(key));
                let prio = read_policy(policy)?.prio;
                ReplayStep::Lend { to: unknown, prio, round: number(round, 0, u32::MAX)? }
            }
            ("lock", [mutex]) => {
                ReplayStep::Lock { mutex: known_mutex(mutex, &self.objects)?, waited: false }
            }
            ("lock", [mutex, "waited"]) => {
                ReplayStep::Lock { mutex: known_mutex(mutex, &self.objects)?, waited: true }
            }
            ("unlock", [mutex]) => {
                ReplayStep::Unlock { mutex: known_mutex(mutex, &self.objects)?, wakes: false }
            }
            ("unlock", [mutex, "wakes"]) => {
                ReplayStep::Unlock { mutex: known_mutex(mutex, &self.objects)?, wakes: true }
            }
            ("exec", _) => ReplayStep::Exec(read_one_line(rest).into()),
            ("marker", _) => ReplayStep::Marker(read_one_line(rest).into()),
            ("do", _) => told::step(rest.trim_end(), &self.objects, |length| scaled(length, manner))?,
            _ => step(word, &words, manner)?,
        };
        if let ReplayStep::Run(length) = &step {
            task.cpu_time = task.cpu_time.saturating_add(*length);
        }
        task.steps.push(step);
        Ok(())
    }

    /// Takes in a line of the machine's file, at this line of the workload file.
    fn machine(&mut self, at: usize, line: &str) {
        let text = self.machine.get_or_insert_default();
        let missing = at - 1 - text.matches('\n').count();
        text.extend(std::iter::repeat_n('\n', missing));
        text.push_str(line);
        text.push('\n');
    }

    fn global(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "cpus" => self.cpus = Some(number(rest, 1, MAX_CPUS)?),
            "span" => self.span = Some(read_time(rest)?),
            "ticks" => self.ticks_at = rest.split_whitespace().map(read_time).collect::<Result<_, _>>()?,
            "hz" => self.hz = Some(number(rest, *units::HZ.start(), *units::HZ.end())?),
            "command" => self.command = Some(Pid(number(rest, 1, i32::MAX as u32)? as i32)),
            "kernel" => self.kernel = Some(read_one_line(rest)),
            "warning" => self.caveats.warnings.push(read_one_line(rest)),
            "note" => self.caveats.notes.push(read_one_line(rest)),
            "group" => self.groups.described.push(words::group(rest)?),
            "isolcpus" => self.groups.isolcpus = units::cpu_list(rest)?,
            "nohz_full" => self.groups.nohz_full = units::cpu_list(rest)?,
            "idle" => self.idle_polls = idle_polls(rest)?,
            "waiters" => self.rtmutex_spins = Some(spins(rest)?),
            "throttles" => self.throttling = throttling(rest)?,
            "paths" | "path" => paths::read_line(&format!("{word} {rest}"), &mut self.paths)?,
            "message" => self.messages.push(told::message(rest, &self.objects)?),
            "channel" | "mutex" | "barrier" | "spinlock" | "device" | "futexes" => {
                told::object(&format!("{word} {rest}"), &mut self.objects)?;
            }
            _ => {
                return Err(format!(
                    "`{word}` is not known here; before the first task stand cpus, span, hz, ticks, command, \
                     idle, waiters, throttles, group, isolcpus, nohz_full, kernel, warning, note, machine, paths, and the objects of told steps"
                ));
            }
        }
        Ok(())
    }

    fn task(&mut self, rest: &str) -> Result<(), String> {
        let (key, comm) = rest.split_once(' ').unwrap_or((rest, ""));
        let (pid, incarnation) = key.split_once('.').unwrap_or((key, "0"));
        let parsed = pid.parse().ok().filter(|pid| *pid > 0).zip(incarnation.parse().ok());
        let Some((pid, incarnation)) = parsed else {
            return Err(format!("`{key}` is no task id; write a number, such as 812"));
        };
        if self.keys.insert(key.to_owned(), TaskIndex(self.tasks.len() as u32)).is_some() {
            return Err(format!("there is a task {key} already"));
        }
        self.tasks.push(RecordedTask {
            pid: Pid(pid),
            incarnation,
            comm: read_one_line(comm).into(),
            begin: Begin::Asleep,
            prio: 120,
            round_robin: false,
            fair: FairPolicy::Normal,
            deadline: None,
            steps: Vec::new(),
            cpu_time: Nanos::ZERO,
            exited: None,
            arrivals: 0,
            placement: Placement::default(),
            told: None,
        });
        self.manner = Some(Manner::default());
        Ok(())
    }

    fn finish(mut self, lines: usize) -> Result<ReadWorkload, WorkloadError> {
        let pieces = pieces(&self.tasks);
        for mention in &self.mentions {
            let Some(found) = self.keys.get(&mention.key) else {
                let problem = format!("there is no task {}", mention.key);
                return Err(WorkloadError { line: mention.line, problem });
            };
            let forked = &mut self.forked;
            let child = &self.tasks[found.index()];
            let (begin, key) = (child.begin, &mention.key);
            match &mut self.tasks[mention.task].steps[mention.step] {
                ReplayStep::Fork { .. } if begin != Begin::Forked => {
                    let problem = format!("task {key} is forked here, but does not `begin forked`");
                    return Err(WorkloadError { line: mention.line, problem });
                }
                ReplayStep::Fork { .. } if !forked.insert(*found) => {
                    let problem = format!("task {key} is forked a second time; a task begins once");
                    return Err(WorkloadError { line: mention.line, problem });
                }
                ReplayStep::Wake { task, .. }
                | ReplayStep::Lend { to: task, .. }
                | ReplayStep::Submit { task, .. }
                | ReplayStep::Fork { child: task, .. } => *task = *found,
                _ => {}
            }
            if let Some(piece) = brings(&self.tasks[mention.task].steps[mention.step])
                && !pieces.contains(&piece)
            {
                let problem = format!("task {} has no `work {}`", mention.key, piece.1);
                return Err(WorkloadError { line: mention.line, problem });
            }
        }
        let missing = |what: &str, example: &str| {
            let problem =
                format!("the file does not say its {what}; write `{what} {example}` above the first task");
            WorkloadError { line: lines, problem }
        };
        let recording = Recording {
            groups: self.groups,
            cpus: self.cpus.ok_or_else(|| missing("cpus", "2"))?,
            span: self.span.ok_or_else(|| missing("span", "10s"))?,
            hz: self.hz,
            ticks_at: self.ticks_at,
            command: self.command,
            idle_polls: self.idle_polls,
            rtmutex_spins: self.rtmutex_spins,
            throttling: self.throttling,
            paths: self.paths,
            tasks: self.tasks,
            objects: self.objects,
            messages: self.messages,
            counts: Counts::default(),
        };
        let Self { kernel, machine, caveats, .. } = self;
        Ok(ReadWorkload { recording, kernel, machine, caveats })
    }
}

/// All pieces of work.
fn pieces(tasks: &[RecordedTask]) -> BTreeSet<(TaskIndex, u32)> {
    let of = |(n, task): (u32, &RecordedTask)| -> Vec<(TaskIndex, u32)> {
        let piece = |step: &ReplayStep| match step {
            ReplayStep::Sleep(Waking::Work { number, .. } | Waking::Rest { number, .. }) => {
                Some((TaskIndex(n), *number))
            }
            _ => None,
        };
        task.steps.iter().filter_map(piece).collect()
    };
    (0u32..).zip(tasks).flat_map(of).collect()
}

/// The piece of work that a step brings to the task that it wakes.
fn brings(step: &ReplayStep) -> Option<(TaskIndex, u32)> {
    match step {
        ReplayStep::Wake { task, work, .. } | ReplayStep::Submit { task, work, .. } => Some(*task).zip(*work),
        _ => None,
    }
}

fn known_mutex(text: &str, objects: &Objects) -> Result<MutexId, String> {
    let mutex = MutexId(number(text, 0, u32::MAX)?);
    let exists = mutex.index() < objects.mutexes.len();
    exists.then_some(mutex).ok_or_else(|| format!("there is no mutex {} above the first task", mutex.0))
}

/// A group is there if it is described, or one below it is. Where none is described, all are as the kernel
/// makes them.
fn is_there(path: &str, described: &[Group]) -> Result<(), String> {
    if described.is_empty() || described.iter().any(|group| is_in_group(group.path(), path)) {
        return Ok(());
    }
    let near = suggest(path, described.iter().map(|group| group.path().to_owned()));
    let advice = near
        .map_or_else(|| format!("write `group {path}` there, too"), |near| format!("did you mean `{near}`?"));
    Err(format!("there is no group `{path}` above the first task; {advice}"))
}

/// Whom the kernel throttles.
fn throttling(rest: &str) -> Result<Throttling, String> {
    let unknown = || {
        format!("`throttles {rest}` is not known; write throttles real-time, throttles groups, or nothing")
    };
    Throttling::of_word(rest).ok_or_else(unknown)
}

/// Whether who waits for a mutex with inheritance spins.
fn spins(rest: &str) -> Result<bool, String> {
    match rest {
        "spin" => Ok(true),
        "sleep" => Ok(false),
        _ => Err(format!("`waiters {rest}` is not known; write waiters spin or waiters sleep")),
    }
}

/// Whether idle CPUs look for work instead of halting.
fn idle_polls(rest: &str) -> Result<bool, String> {
    match rest {
        "polls" => Ok(true),
        "halts" => Ok(false),
        _ => Err(format!("`idle {rest}` is not known; write idle polls or idle halts")),
    }
}
