//! The lines of a task: its facts, and those of its steps that name no other task.

use super::told;
use super::words::{number, read_difference, read_policy, read_time};
use crate::replay::recording::{
    Begin, Brought, Evidence, Interrupt, Pinned, RecordedTask, ReplayStep, Waking,
};
use crate::units;
use scheduler::{CpuId, Nanos};
use suggest::suggest;
use trace::MAX_CPUS;

/// What the facts of a task say about its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    period: Option<Nanos>,
    first: Option<Nanos>,
    /// The last expiry waited for.
    last: Option<Nanos>,
    pause: Option<Nanos>,
    /// Parts per million.
    work: u64,
}

const ALL_WORK: u64 = 1_000_000;

impl Default for Manner {
    fn default() -> Manner {
        Manner { period: None, first: None, last: None, pause: None, work: ALL_WORK }
    }
}

/// Takes in a fact of a task; false if the word is none.
pub(super) fn fact(
    task: &mut RecordedTask,
    manner: &mut Manner,
    word: &str,
    rest: &str,
) -> Result<bool, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match word {
        "policy" => {
            let policy = read_policy(&words)?;
            (task.prio, task.round_robin, task.fair) = (policy.prio, policy.round_robin, policy.fair);
            task.deadline = policy.deadline;
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
        "exited" => task.exited = Some(read_time(rest)?),
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

/// With what a fact or a step of a task begins.
const WORDS: [&str; 31] = [
    "policy",
    "cpus",
    "group",
    "work",
    "period",
    "first",
    "pause",
    "begin",
    "run",
    "receive",
    "outside",
    "tick",
    "rest",
    "served",
    "until",
    "next",
    "sleep",
    "stop",
    "yield",
    "give-back",
    "set",
    "pin",
    "bind",
    "unbind",
    "interrupted",
    "exit",
    "wake",
    "fork",
    "submit",
    "lock",
    "unlock",
];

/// A step that names no other task.
pub(super) fn step(word: &str, words: &[&str], manner: &mut Manner) -> Result<ReplayStep, String> {
    Ok(match (word, words) {
        ("run", [length]) => ReplayStep::Run(scaled(read_time(length)?, manner)?),
        ("run", ["until", at]) => ReplayStep::RunUntil(read_time(at)?),
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
            let meant = match word {
                "nice" | "fifo" | "rr" | "batch" | "idle" => Some(format!("policy {word}")),
                _ => suggest(word, WORDS).filter(|near| *near != word).map(str::to_owned),
            };
            let hint = meant.map_or_else(
                || "the head of a written file lists them".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            return Err(format!("`{}` is no step; {hint}", [&[word], words].concat().join(" ")));
        }
    })
}

/// The words before `word`, and whether it is the last.
pub(super) fn ending<'a, 'b>(words: &'b [&'a str], word: &str) -> (&'b [&'a str], bool) {
    match words {
        [before @ .., last] if *last == word => (before, true),
        words => (words, false),
    }
}

/// `work N`, or nothing.
pub(super) fn piece(words: &[&str]) -> Result<Option<u32>, String> {
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

/// The CPU time that is left of this one by the factor of the task.
pub(super) fn scaled(length: Nanos, manner: &Manner) -> Result<Nanos, String> {
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
