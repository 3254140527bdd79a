//! From the text to the recording.

use super::paths;
use super::told;
use super::words::{read_difference, read_one_line, read_policy, read_time};
use super::{MAGIC, VERSION};
use crate::replay::Caveats;
use crate::replay::recording::{
    Begin, Brought, Counts, Evidence, FairPolicy, Interrupt, Message, Pinned, Placement, RecordedTask,
    Recording, ReplayStep, TaskIndex, Waking,
};
use crate::told::read_fork_kind;
use crate::units;
use machine::{DeviceId, ForkKind, Objects, WakePaths};
use scheduler::{CpuId, MutexId, Nanos};
use std::collections::{BTreeMap, BTreeSet};
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

/// What the facts of a task say about its steps.
#[derive(Clone, Copy, Debug)]
struct Manner {
    period: Option<Nanos>,
    first: Option<Nanos>,
    /// The last expiry waited for.
    last: Option<Nanos>,
    pause: Option<Nanos>,
    /// Parts per million.
    work: u64,
}

const ALL_WORK: u64 = 1_000_000;

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
    idle_polls: bool,
    rtmutex_spins: Option<bool>,
    throttles: bool,
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
            "idle" => self.idle_polls = idle_polls(rest)?,
            "waiters" => self.rtmutex_spins = Some(spins(rest)?),
            "throttles" => self.throttles = throttles(rest)?,
            "paths" | "path" => paths::read_line(&format!("{word} {rest}"), &mut self.paths)?,
            "message" => self.messages.push(told::message(rest, &self.objects)?),
            "channel" | "mutex" | "barrier" | "spinlock" | "device" | "futexes" => {
                told::object(&format!("{word} {rest}"), &mut self.objects)?;
            }
            _ => {
                return Err(format!(
                    "`{word}` is not known here; before the first task stand cpus, span, hz, ticks, command, \
                     idle, waiters, throttles, kernel, warning, note, machine, paths, and the objects of told steps"
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
            steps: Vec::new(),
            cpu_time: Nanos::ZERO,
            arrivals: 0,
            placement: Placement::default(),
            told: None,
        });
        self.manner = Some(Manner { period: None, first: None, last: None, pause: None, work: ALL_WORK });
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
        let missing =
            |what: &str| WorkloadError { line: lines, problem: format!("the file does not say its {what}") };
        let recording = Recording {
            cpus: self.cpus.ok_or_else(|| missing("cpus"))?,
            span: self.span.ok_or_else(|| missing("span"))?,
            hz: self.hz,
            ticks_at: self.ticks_at,
            command: self.command,
            idle_polls: self.idle_polls,
            rtmutex_spins: self.rtmutex_spins,
            throttles: self.throttles,
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

/// Whom the kernel throttles.
fn throttles(rest: &str) -> Result<bool, String> {
    match rest {
        "real-time" => Ok(true),
        _ => Err(format!("`throttles {rest}` is not known; write throttles real-time, or nothing")),
    }
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

/// Takes in a fact of a task; false if the word is none.
fn fact(task: &mut RecordedTask, manner: &mut Manner, word: &str, rest: &str) -> Result<bool, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match word {
        "policy" => {
            let policy = read_policy(&words)?;
            (task.prio, task.round_robin, task.fair) = (policy.prio, policy.round_robin, policy.fair);
        }
        "told" => task.told = Some(told::fact(&words)?),
        "round-robin" => task.round_robin = rest == "yes",
        "cpus" => task.placement.allowed = Some(units::cpu_list(rest)?),
        "pinned-to" => {
            let cpu = number(rest, 0, CpuId::LIMIT as u32 - 1)?;
            task.placement.pinned = Some(Pinned { cpu, evidence: Evidence::File });
        }
        "ran-on" => task.placement.ran_on = units::cpu_list(rest)?,
        "arrivals" => task.arrivals = number(rest, 0, u32::MAX)?.into(),
        "begin" => task.begin = begin(&words)?,
        "period" => manner.period = Some(above_zero(rest)?),
        "first" => manner.first = Some(read_time(rest)?),
        "pause" => manner.pause = Some(read_time(rest)?),
        "work" if !is_piece(&words) => manner.work = factor(rest)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether `work` is the step with these words (a number of a piece of work) and not the factor for all CPU
/// time (a share).
fn is_piece(words: &[&str]) -> bool {
    words.first().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
}

fn begin(words: &[&str]) -> Result<Begin, String> {
    let cpu = |text: &str| number(text, 0, MAX_CPUS - 1);
    match words {
        ["asleep"] => Ok(Begin::Asleep),
        ["never"] => Ok(Begin::Never),
        ["forked"] => Ok(Begin::Forked),
        ["runnable", "cpu", number] => Ok(Begin::Runnable { cpu: cpu(number)? }),
        ["at", at] => Ok(Begin::Appears { at: read_time(at)?, cpu: None }),
        ["at", at, "cpu", number] => Ok(Begin::Appears { at: read_time(at)?, cpu: Some(cpu(number)?) }),
        _ => Err("write begin asleep, never, forked, runnable cpu N, at TIME or at TIME cpu N".to_owned()),
    }
}

/// What brings a piece of work, behind `word` and its number.
fn brought(word: &str, words: &[&str]) -> Result<Brought, String> {
    let interrupt = |at: &str, rest| Ok::<_, String>(Interrupt { at: read_time(at)?, cpu: on_cpu(rest)? });
    Ok(match words {
        [] => Brought::Task,
        ["outside", at, rest @ ..] => Brought::Outside(interrupt(at, rest)?),
        ["tick", at, rest @ ..] => Brought::Tick(interrupt(at, rest)?),
        ["served", at, rest @ ..] => Brought::Served(interrupt(at, rest)?),
        _ => {
            return Err(format!(
                "write {word} N, {word} N outside TIME, {word} N tick TIME or {word} N served TIME"
            ));
        }
    })
}

fn step(word: &str, words: &[&str], manner: &mut Manner) -> Result<ReplayStep, String> {
    Ok(match (word, words) {
        ("run", [length]) => ReplayStep::Run(scaled(read_time(length)?, manner)?),
        ("receive", []) => ReplayStep::Sleep(Waking::Task),
        ("outside", [at, rest @ ..]) => {
            let (rest, slept) = match rest {
                [rest @ .., "slept", span] => (rest, Some(read_time(span)?)),
                rest => (rest, None),
            };
            ReplayStep::Sleep(Waking::Outside { at: read_time(at)?, cpu: on_cpu(rest)?, slept })
        }
        ("tick", [at, rest @ ..]) => {
            ReplayStep::Sleep(Waking::Tick { at: read_time(at)?, cpu: on_cpu(rest)? })
        }
        ("work", [n, by @ ..]) => {
            ReplayStep::Sleep(Waking::Work { number: number(n, 0, u32::MAX)?, by: brought("work", by)? })
        }
        ("rest", [n, by @ ..]) => {
            ReplayStep::Sleep(Waking::Rest { number: number(n, 0, u32::MAX)?, by: brought("rest", by)? })
        }
        ("served", [at, rest @ ..]) => {
            ReplayStep::Sleep(Waking::Served { at: read_time(at)?, cpu: on_cpu(rest)? })
        }
        ("until", [at]) => {
            let at = read_time(at)?;
            manner.last = Some(at);
            ReplayStep::Sleep(Waking::At(at))
        }
        ("next", words) => ReplayStep::Sleep(Waking::At(next(words, manner)?)),
        ("sleep", []) => ReplayStep::Sleep(Waking::After(pause(manner)?)),
        ("sleep", [text]) if text.starts_with(['+', '-']) => {
            ReplayStep::Sleep(Waking::After(moved(pause(manner)?, read_difference(text)?)))
        }
        ("sleep", [length]) => ReplayStep::Sleep(Waking::After(read_time(length)?)),
        ("stop", []) => ReplayStep::Sleep(Waking::Never),
        ("yield", []) => ReplayStep::Yield,
        ("give-back", policy) => ReplayStep::GiveBack(read_policy(policy)?.prio),
        ("set", policy) => ReplayStep::SetPrio(read_policy(policy)?.prio),
        ("pin", []) => ReplayStep::Pin,
        ("bind", [cpu]) => {
            ReplayStep::Bind(cpu.parse().map_err(|_| format!("`{cpu}` is no number of a CPU"))?)
        }
        ("unbind", []) => ReplayStep::Unbind,
        ("interrupted", []) => ReplayStep::Interrupted { by_timer: false },
        ("interrupted", ["by", "timer"]) => ReplayStep::Interrupted { by_timer: true },
        ("exit", []) => ReplayStep::Exit,
        _ => {
            return Err(format!(
                "`{}` is no step; the head of a written file lists them",
                [&[word], words].concat().join(" ")
            ));
        }
    })
}

/// The words before `word`, and whether it is the last.
fn ending<'a, 'b>(words: &'b [&'a str], word: &str) -> (&'b [&'a str], bool) {
    match words {
        [before @ .., last] if *last == word => (before, true),
        words => (words, false),
    }
}

/// `work N`, or nothing.
fn piece(words: &[&str]) -> Result<Option<u32>, String> {
    match words {
        [] => Ok(None),
        ["work", n] => number(n, 0, u32::MAX).map(Some),
        _ => Err(format!("`{}` is not known here; write work N", words.join(" "))),
    }
}

/// `cpu N`, or nothing.
fn on_cpu(words: &[&str]) -> Result<Option<u32>, String> {
    match words {
        [] => Ok(None),
        ["cpu", cpu] => number(cpu, 0, MAX_CPUS - 1).map(Some),
        _ => Err(format!("`{}` is not known here; write cpu N", words.join(" "))),
    }
}

fn scaled(length: Nanos, manner: &Manner) -> Result<Nanos, String> {
    let scaled = u128::from(length.0) * u128::from(manner.work) / u128::from(ALL_WORK);
    u64::try_from(scaled).map(Nanos).map_err(|_| "too long".to_owned())
}

fn pause(manner: &Manner) -> Result<Nanos, String> {
    manner.pause.ok_or_else(|| "the task has no `pause`; give it one, or write sleep TIME".to_owned())
}

/// The expiry that `next` waits for.
fn next(words: &[&str], manner: &mut Manner) -> Result<Nanos, String> {
    let period = manner.period.ok_or("the task has no `period`; give it one, or write until TIME")?;
    let (count, rest) = match words {
        [count, rest @ ..] if count.starts_with('x') => (number(&count[1..], 1, u32::MAX)?, rest),
        rest => (1, rest),
    };
    let difference = match rest {
        [] => 0,
        [difference] => read_difference(difference)?,
        _ => return Err("write next, next xN, next +TIME or next xN +TIME".to_owned()),
    };
    let expected = match manner.last {
        None => manner
            .first
            .unwrap_or(period)
            .saturating_add(Nanos(period.0.saturating_mul(u64::from(count) - 1))),
        Some(last) => last.saturating_add(Nanos(period.0.saturating_mul(count.into()))),
    };
    let at = moved(expected, difference);
    manner.last = Some(at);
    Ok(at)
}

fn moved(time: Nanos, by: i64) -> Nanos {
    Nanos(time.0.saturating_add_signed(by))
}

fn above_zero(text: &str) -> Result<Nanos, String> {
    match read_time(text)? {
        Nanos::ZERO => Err("must be above 0".to_owned()),
        time => Ok(time),
    }
}

/// A share in percent, as parts per million; up to a hundredfold.
fn factor(text: &str) -> Result<u64, String> {
    let percent = text.strip_suffix('%').and_then(|number| units::duration(number, Nanos(10_000)).ok());
    match percent {
        Some(Nanos(ppm)) if ppm <= 100 * ALL_WORK && !text.contains(char::is_alphabetic) => Ok(ppm),
        _ => Err(format!("`{text}` is no share; write one such as 150%, up to 10000%")),
    }
}

pub(super) fn number(text: &str, least: u32, most: u32) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is no number from {least} to {most}")),
    }
}
