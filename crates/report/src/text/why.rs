//! Why tasks were late: each wakeup as a table of stretches that add up.

use super::Rows;
use super::head::labelled;
use super::paragraph::{cut, fit, wrap};
use super::table::{Align, Table};
use super::{why_choices, why_recorded, why_remedies};
use crate::naming::{interrupts, locks};
use crate::numbers::{duration_ns, many, moment};
use crate::why::due_to;
use schema::why::{
    Blame, BlameRow, Budget, Cause, Due, Explanation, HeldMutex, IrqsOffPath, LateBy, Precedence, WhyResult,
    WhyStretch, WhyTask,
};
use schema::{CpuId, Nanos, Prio};
use std::collections::{BTreeMap, BTreeSet};

/// So wide is the column that says why.
const WHY: u16 = 46;
/// So many stretches of an explanation are shown where not all are wanted.
const FOLDED: usize = 24;

/// Head, each explanation, notes.
#[must_use]
pub fn why(result: &WhyResult, rows: Rows) -> String {
    let mut sections = vec![head(result)];
    let numbered = (1..).zip(&result.explanations);
    sections.extend(numbered.map(|(number, one)| fit(&explanation(number, one, rows))));
    sections.push(decisions(&result.explanations));
    sections.extend(result.blame.iter().map(|blame| fit(&of_blame(blame, rows))));
    sections.push(result.notes.iter().map(|note| wrap(note, "note: ", "  ")).collect());
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn head(result: &WhyResult) -> String {
    let mut out = format!("schedlab {}\n", result.version);
    if let Some(experiment) = &result.experiment {
        for load in &experiment.loads {
            out += &labelled("load", &load.load);
        }
    }
    if let Some(recording) = &result.recording {
        out += &labelled("trace", recording);
    }
    let told = match result.explanations.len() as u64 {
        told if told == result.wakeups => "all of them explained".to_owned(),
        told => format!("{told} of them explained"),
    };
    // Where others are meant, too, they are as a rule among the worst.
    let is_no_wakeup = |one: &Explanation| matches!(one.due, Due::Preempted { .. } | Due::Throttled { .. });
    let what = if result.explanations.iter().any(is_no_wakeup) { "waits" } else { "wakeups" };
    out += &labelled(what, &format!("{}, {told}", result.wakeups));
    if let Some(command) = &result.command {
        out += &labelled("command", command);
    }
    out
}

fn explanation(number: usize, one: &Explanation, rows: Rows) -> String {
    let Explanation { task, due, due_at, cpu, latency, .. } = one;
    let at = if one.recorded.is_some() { why_recorded::clock(*due_at) } else { moment(due_at.0) };
    let what = format!(
        "{number}. {} executed {} after {}, at {at}, on CPU {cpu}",
        who(task),
        exact(*latency),
        of_due(due),
    );
    let mut table = Table::new(&[
        ("after", Align::Right),
        ("takes", Align::Right),
        ("cpu", Align::Right),
        ("why", Align::Left),
    ]);
    table.limit(3, WHY);
    let shown = match rows {
        Rows::Folded if one.stretches.len() > FOLDED => longest(&one.stretches),
        _ => (0..one.stretches.len()).collect(),
    };
    for place in &shown {
        table.row(row(*due_at, &one.stretches[*place]));
    }
    let left_out = (0..one.stretches.len()).filter(|place| !shown.contains(place));
    for [takes, why] in by_culprit(left_out.map(|place| &one.stretches[place])) {
        table.row([String::new(), takes, String::new(), why]);
    }
    table.row([String::new(), exact(*latency), String::new(), "in all".to_owned()]);
    for stretch in &one.afterwards {
        table.row(row(*due_at, stretch));
    }
    let remedies = one.remedies.as_ref().map_or(String::new(), |tried| why_remedies::table(tried, rows));
    let recorded = one.recorded.as_ref().map_or(String::new(), |told| why_recorded::told(told));
    let choices = why_choices::choices(one, rows);
    format!("{}{}{choices}{recorded}{remedies}", wrap(&what, "", "   "), table.render())
}

/// So many stretches of one culprit are shown where there are many: a tick cuts what a task runs into a
/// thousand of them a second.
const OF_ONE_CULPRIT: usize = 6;

/// Places of those that take longest.
fn longest(stretches: &[WhyStretch]) -> BTreeSet<usize> {
    let mut places: Vec<usize> = (0..stretches.len()).collect();
    places.sort_by_key(|place| std::cmp::Reverse(stretches[*place].length()));
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    let among_few = |place: &usize| {
        let of_this = shown.entry(due_to(&stretches[*place].cause)).or_default();
        *of_this += 1;
        *of_this <= OF_ONE_CULPRIT
    };
    places.into_iter().filter(among_few).take(FOLDED).collect()
}

/// So many culprits are named of the stretches that are not shown one by one.
const CULPRITS: usize = 8;

/// What stretches take together, a row for each culprit: the one that takes most first.
fn by_culprit<'s>(stretches: impl Iterator<Item = &'s WhyStretch>) -> Vec<[String; 2]> {
    #[derive(Default, Clone, Copy)]
    struct Sum {
        times: u64,
        takes: u64,
    }
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for stretch in stretches {
        let sum = sums.entry(due_to(&stretch.cause)).or_default();
        *sum = Sum { times: sum.times + 1, takes: sum.takes + stretch.length().0 };
    }
    let mut sums: Vec<(String, Sum)> = sums.into_iter().collect();
    // Stable: of equal ones the first by name.
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.takes));
    let rarer = sums.split_off(CULPRITS.min(sums.len()));
    let row = |times: u64, takes: u64, what: &str| {
        let stretches = many(times, "shorter stretch");
        [exact(Nanos(takes)), format!("({stretches}: {what})")]
    };
    let mut rows: Vec<[String; 2]> = sums.iter().map(|(what, sum)| row(sum.times, sum.takes, what)).collect();
    if !rarer.is_empty() {
        let in_all = |of: fn(&Sum) -> u64| rarer.iter().map(|(_, sum)| of(sum)).sum();
        let others = many(rarer.len() as u64, "other cause");
        rows.push(row(in_all(|sum| sum.times), in_all(|sum| sum.takes), &others));
    }
    rows
}

/// Why a stretch is: its cause, since when, if it began before, and what takes part in it. Times are in the
/// words of a table or of a page.
pub(crate) fn told(
    stretch: &WhyStretch,
    duration: impl Fn(u64) -> String,
    to_the_ns: impl Fn(Nanos) -> String,
) -> String {
    let mut why = cause(&stretch.cause);
    match stretch.cause {
        Cause::Running { since, .. } if since < stretch.from => {
            why += &format!(", for {} already", duration(stretch.from.0 - since.0));
        }
        _ => {}
    }
    let mut beside: BTreeMap<CpuId, Beside<'_>> = BTreeMap::new();
    for share in &stretch.shares {
        match &share.cause {
            Cause::Sibling { cpu, task } => {
                let beside = beside.entry(*cpu).or_default();
                beside.length.0 += share.length.0;
                beside.tasks.push((share.length, task));
            }
            other => {
                why += &format!("; {} less without this: {}", to_the_ns(share.length), cause(other));
            }
        }
    }
    for (cpu, Beside { length, mut tasks }) in beside {
        // Stable: of equal ones the first.
        tasks.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        let others = match tasks.len() - 1 {
            0 => String::new(),
            others => format!(" and {}", many(others as u64, "other task")),
        };
        let (length, first) = (to_the_ns(length), who(tasks[0].1));
        why += &format!("; {length} less without {first}{others} on CPU {cpu}, in the same core");
    }
    why
}

/// What a stretch has lost to the tasks of one other hardware thread.
#[derive(Default)]
struct Beside<'s> {
    length: Nanos,
    tasks: Vec<(Nanos, &'s WhyTask)>,
}

fn row(due_at: Nanos, stretch: &WhyStretch) -> [String; 4] {
    let mut why = told(stretch, duration_ns, exact);
    if !stretch.decisions.is_empty() {
        let names: Vec<&str> = stretch.decisions.iter().map(|decision| decision.reason).collect();
        why += &format!(" ({})", names.join(", "));
    }
    let after = exact(Nanos(stretch.from.0 - due_at.0));
    [after, exact(stretch.length()), stretch.cpu.map_or(String::new(), |cpu| cpu.to_string()), why]
}

/// What the decisions mean that the explanations name.
fn decisions(explanations: &[Explanation]) -> String {
    let stretches = explanations.iter().flat_map(|one| &one.stretches);
    let all: BTreeSet<(&str, &str)> =
        stretches.flat_map(|stretch| &stretch.decisions).map(|one| (one.reason, one.meaning)).collect();
    all.into_iter().map(|(reason, meaning)| wrap(meaning, &format!("{reason}: "), "  ")).collect()
}

/// So many causes of a task are shown where not all are wanted.
const CAUSES: usize = 16;

/// What all latencies of the tasks of a name are due to; the causes that take least in one row.
fn of_blame(blame: &Blame, rows: Rows) -> String {
    let Blame { victim, tasks, wakeups, total, p99, max, .. } = blame;
    let head = format!(
        "{victim}: {}, {}, {} late in all, p99 {}, at most {}",
        many(*tasks, "task"),
        many(*wakeups, "wakeup"),
        duration_ns(total.0),
        duration_ns(p99.0),
        duration_ns(max.0),
    );
    let columns = [
        ("of all", Align::Right),
        ("time", Align::Right),
        ("in p99", Align::Right),
        ("above", Align::Right),
        ("times", Align::Right),
        ("due to", Align::Left),
    ];
    let mut table = Table::new(&columns);
    table.limit(5, 38);
    let shown = if rows == Rows::All { blame.rows.len() } else { CAUSES.min(blame.rows.len()) };
    let mut row = |times: u64, all: u64, in_p99: u64, tail: u64, why: String| {
        let share = 100.0 * all as f64 / total.0.max(1) as f64;
        let cells = [format!("{share:.1}%"), duration_ns(all), duration_ns(in_p99), duration_ns(tail)];
        table.row(cells.into_iter().chain([times.to_string(), why]));
    };
    for one in &blame.rows[..shown] {
        row(one.times, one.all.0, one.p99.0, one.tail.0, one.due_to.clone());
    }
    let rest = &blame.rows[shown..];
    if !rest.is_empty() {
        let sum = |of: fn(&BlameRow) -> u64| rest.iter().map(of).sum();
        let why = format!("({} rarer causes)", rest.len());
        row(sum(|r| r.times), sum(|r| r.all.0), sum(|r| r.p99.0), sum(|r| r.tail.0), why);
    }
    format!("{}{}", wrap(&head, "", "  "), table.render())
}

/// The same of a result of a run.
pub(super) fn late_by(all: &[LateBy], rows: Rows) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
    all.iter().for_each(|one| *totals.entry(&one.victim).or_default() += one.total_ns);
    let columns = [
        ("late", Align::Left),
        ("share", Align::Right),
        ("time", Align::Right),
        ("a wakeup", Align::Right),
        ("times", Align::Right),
        ("due to", Align::Left),
    ];
    let mut table = Table::new(&columns);
    table.limit(5, 32);
    let shown = if rows == Rows::All { all.len() } else { FOLDED.min(all.len()) };
    for one in &all[..shown] {
        let share = 100.0 * one.total_ns as f64 / totals[one.victim.as_str()].max(1) as f64;
        table.row([
            cut(&one.victim, 15),
            format!("{share:.1}%"),
            duration_ns(one.total_ns),
            duration_ns(one.per_wakeup_ns()),
            one.times.to_string(),
            one.due_to.clone(),
        ]);
    }
    let rest = all.len() - shown;
    let more = if rest == 0 { String::new() } else { format!("({rest} rarer ones)\n") };
    format!("{}{more}", table.render())
}

/// To the nanosecond, in microseconds.
pub(super) fn exact(time: Nanos) -> String {
    let (us, ns) = (time.0 / 1_000, time.0 % 1_000);
    if us == 0 { format!("{ns}ns") } else { format!("{us}.{ns:03}us") }
}

/// A task with its pid and what decides when it runs.
pub(crate) fn who(task: &WhyTask) -> String {
    format!("{} ({}, {})", task.comm, task.pid, prio(task.prio))
}

fn prio(prio: Prio) -> String {
    match prio.0 {
        ..0 => "deadline".to_owned(),
        prio @ 0..100 => format!("RT {}", 99 - prio),
        prio @ 100..140 => format!("nice {}", prio - 120),
        _ => "idle".to_owned(),
    }
}

/// What should have woken a task.
pub(crate) fn of_due(due: &Due) -> String {
    match due {
        Due::Timer {} => "its timer was due".to_owned(),
        Due::Interrupt { irq } => format!("{} came for it", interrupts::in_words(*irq)),
        Due::Task { by } => format!("{} set about waking it", who(by)),
        Due::Mutex { mutex } => format!("it began to wait for mutex {mutex}"),
        Due::Handler { handler } => why_recorded::interrupted(handler.as_ref()),
        Due::Preempted { by } => format!("{} came in its place", who(by)),
        Due::Throttled { budget } => format!("it was throttled ({})", used_up(budget)),
        Due::Start { parent } => format!("{} set about making it", who(parent)),
        Due::Unknown {} => "its wakeup".to_owned(),
    }
}

/// A cause in words.
pub(crate) fn cause(cause: &Cause) -> String {
    match cause {
        Cause::TimerLate {} => "its timer expires later than asked for".to_owned(),
        Cause::InterruptsOff { path, during } => {
            let path = match path {
                IrqsOffPath::Noise => "by the machine's noise",
                IrqsOffPath::Schedule => "while the CPU switches",
                IrqsOffPath::Kernel => "in a path of the kernel",
            };
            let during = during.as_ref().map_or(String::new(), |task| format!(", on top of {}", who(task)));
            format!("interrupts are off {path}{during}")
        }
        Cause::Interrupt { irq: Some(irq) } => format!("interrupt: {}", interrupts::in_words(*irq)),
        Cause::Interrupt { irq: None } => "an interrupt".to_owned(),
        Cause::Softirq {} => "soft interrupt".to_owned(),
        Cause::WakePath {} => "the path that wakes it".to_owned(),
        Cause::WakerWaits { waker } => format!("its waker {} waits for the CPU", who(waker)),
        Cause::LockWait { lock, holder, on_behalf_of, waiters } => {
            let whom = on_behalf_of.as_ref().map_or(String::new(), |task| format!(" with {}", who(task)));
            let queue = match waiters {
                0 => String::new(),
                1 => ", behind 1 waiter".to_owned(),
                waiters => format!(", behind {waiters} waiters"),
            };
            format!("spins for {}, held by CPU {holder}{whom}{queue}", locks::in_words(*lock))
        }
        Cause::InFlight { from } => format!("CPU {from} has asked this one, which has yet to notice"),
        Cause::HandOver { from, to } => format!("moves from CPU {from} to CPU {to}"),
        Cause::Running { task, precedence, .. } => {
            let why = match precedence {
                Precedence::Class => "of a class that goes before",
                Precedence::EarlierDeadline => "with an earlier deadline",
                Precedence::HigherPriority => "of higher priority",
                Precedence::SamePriority => "of the same priority, which came first",
                Precedence::Fair => "which the fair class lets run first",
                Precedence::AskedLazily => {
                    "which was asked lazily: it makes room at its next tick at the latest"
                }
                Precedence::NotPreempted => "which cannot be preempted yet",
                Precedence::NotRecorded => "whose deadline was not recorded",
            };
            format!("{} runs, {why}", who(task))
        }
        Cause::Mutex { chain, behind } => {
            let links: Vec<String> = chain.iter().map(of_mutex).collect();
            let behind = behind.as_ref().map_or(String::new(), |task| format!(", behind {}", who(task)));
            format!("{}{behind}", links.join(", which wants "))
        }
        Cause::Throttled { budget, until } => {
            let until = until.map_or(String::new(), |until| format!(", until {}", moment(until.0)));
            format!("throttled: {}{until}", used_up(budget))
        }
        Cause::IdleExit { state: None } => "the CPU wakes up from idle".to_owned(),
        Cause::IdleExit { state: Some(state) } => format!("the CPU wakes up from idle state {state}"),
        Cause::Idle {} => "the CPU idles; nobody has asked it yet".to_owned(),
        Cause::Switch {} => "the CPU switches".to_owned(),
        Cause::CacheRefill { from: Some(from) } => {
            format!("then its first work takes longer: what the caches have lost since CPU {from}")
        }
        Cause::CacheRefill { from: None } => "then its first work takes longer: cold caches".to_owned(),
        Cause::Sibling { cpu, task } => format!("{} runs on CPU {cpu}, of the same core", who(task)),
        Cause::Handler { handler } => why_recorded::handler(handler),
        Cause::NotRecorded {} => "not recorded".to_owned(),
    }
}

fn used_up(budget: &Budget) -> String {
    match budget {
        Budget::RealTime {} => "the real-time tasks of the CPU have used up their time".to_owned(),
        Budget::Deadline {} => "it has used up its run time".to_owned(),
        Budget::RtGroup { group } => {
            format!("the real-time tasks of group {group} have used up their cpu.rt_runtime_us on the CPU")
        }
        Budget::Group { group: Some(group) } => format!("group {group} has used up its cpu.max"),
        Budget::Group { group: None } => "its group has used up its cpu.max".to_owned(),
    }
}

fn of_mutex(held: &HeldMutex) -> String {
    let boosted = if held.boosted { ", boosted" } else { "" };
    match &held.owner {
        Some(owner) => format!("mutex {} of {}{boosted}", held.mutex, who(owner)),
        None => format!("mutex {}, which is being handed over", held.mutex),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Pid;

    /// Many long stretches of one culprit, as many short ones of another between them, and two of a third: of
    /// each the longest are shown.
    #[test]
    fn shorter_stretches_are_summed_up_by_culprit() {
        let hog = |pid| WhyTask { pid: Pid(pid), comm: "hog".into(), prio: Prio(120) };
        let runs = |pid, since| Cause::Running { task: hog(pid), since, precedence: Precedence::Fair };
        let mut at = 0;
        let mut stretch = |length: u64, cause: fn(Nanos) -> Cause| {
            let from = Nanos(at);
            at += length;
            let (to, cpu, cause) = (Nanos(at), Some(CpuId(0)), cause(from));
            WhyStretch::new(from, to, cpu, cause)
        };
        let mut stretches: Vec<WhyStretch> = Vec::new();
        for _ in 0..FOLDED {
            stretches.push(stretch(1_000_000, |_| Cause::IdleExit { state: None }));
            stretches.push(stretch(10, |_| Cause::Switch {}));
        }
        let short = [stretch(300, |_| Cause::Softirq {}), stretch(200, |_| Cause::Softirq {})];
        stretches.extend(short);
        let shown = longest(&stretches);
        let of_each = [0..OF_ONE_CULPRIT, 0..OF_ONE_CULPRIT, FOLDED..FOLDED + 1];
        let [long, short, third] = of_each;
        let places = long.map(|n| 2 * n).chain(short.map(|n| 2 * n + 1));
        let expected = places.chain(third.flat_map(|n| [2 * n, 2 * n + 1]));
        assert_eq!(shown, expected.collect());
        let left_out = (0..stretches.len()).filter(|place| !shown.contains(place));
        let rows = by_culprit(left_out.map(|place| &stretches[place]));
        let told = |takes: &str, why: &str| [takes.to_owned(), why.to_owned()];
        let expected = [
            told("18000.000us", "(18 shorter stretches: idle exit)"),
            told("180ns", "(18 shorter stretches: switch)"),
        ];
        assert_eq!(rows, expected);
        // Whichever of the tasks of a name it is, and since whenever.
        let of_two: Vec<WhyStretch> =
            (0..2).map(|n| WhyStretch::new(Nanos(n), Nanos(n + 1), None, runs(n as i32, Nanos(n)))).collect();
        let rows = by_culprit(of_two.iter());
        assert_eq!(rows, [told("2ns", "(2 shorter stretches: hog runs (fair))")]);
        // One stretch of each of eleven causes: the three of which least comes stand together.
        let many_causes: Vec<WhyStretch> = (1..=11_u64)
            .map(|n| {
                let waker = WhyTask { comm: format!("w{n}").into(), ..hog(1) };
                WhyStretch::new(Nanos(0), Nanos(n), None, Cause::WakerWaits { waker })
            })
            .collect();
        let rows = by_culprit(many_causes.iter());
        assert_eq!(rows.len(), CULPRITS + 1);
        assert_eq!(rows[0], told("11ns", "(1 shorter stretch: waker w11 waits)"));
        assert_eq!(rows[CULPRITS], told("6ns", "(3 shorter stretches: 3 other causes)"));
    }
}
