//! Our waits beside the rows that `perf sched timehist -Mw` (6.1) printed of the same file: a row for each
//! stay on a CPU, with the time from the task's last departure and that from its wakeup.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Cpu, EventKind, Pid, RecordedWaits, Trace, WaitsMeant};

use crate::common::fixture;

/// A row, in microseconds, cut off as perf cuts them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Row {
    left_us: u64,
    cpu: u32,
    pid: i32,
    wait_us: u64,
    delay_us: u64,
}

/// The rows of perf's text, those of the idle tasks left out.
fn perfs_rows(text: &str) -> Vec<Row> {
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, cpu, rest @ ..] = words.as_slice() else { return None };
    let cpu = cpu.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    let (name, figures) = rest.windows(4).find_map(|four| {
        let [name, figures @ ..] = four else { return None };
        let figures: Option<Vec<u64>> = figures.iter().map(|word| thousandths(word)).collect();
        Some((*name, figures?))
    })?;
    let (_, ids) = name.strip_suffix(']')?.rsplit_once('[')?;
    let pid = ids.split('/').next()?.parse().ok()?;
    let (seconds, us) = time.split_once('.')?;
    let left_us = seconds.parse::<u64>().ok()? * 1_000_000 + us.parse::<u64>().ok()?;
    Some(Row { left_us, cpu, pid, wait_us: figures[0], delay_us: figures[1] })
}

/// `0.037` as 37.
fn thousandths(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.')?;
    (part.len() == 3).then_some(())?;
    Some(whole.parse::<u64>().ok()? * 1000 + part.parse::<u64>().ok()?)
}

/// The same rows of our waits; beside them those stays whose beginning no switch tells, of which perf has
/// rows of another stay's figures.
struct Ours {
    rows: BTreeMap<(u64, u32, i32), Row>,
    unseen: BTreeSet<(u64, u32, i32)>,
}

fn our_rows(trace: &Trace) -> Ours {
    let waits = RecordedWaits::of(trace);
    let by_first: BTreeMap<(Pid, u64), (u64, u64)> = waits
        .numbers(WaitsMeant::Away, |_, _| true)
        .into_iter()
        .map(|number| {
            let one = waits.explain(number);
            let sum: u64 = one.stretches.iter().map(|stretch| stretch.length().0).sum();
            assert_eq!(sum, one.latency.0, "{one:?}");
            let recorded = one.recorded.expect("it is of a recording");
            ((one.task.pid, one.first.0), (recorded.wait.map_or(0, |wait| wait.0), recorded.delay.0))
        })
        .collect();
    let mut came: BTreeMap<Cpu, (Pid, u64)> = BTreeMap::new();
    let mut ours = Ours { rows: BTreeMap::new(), unseen: BTreeSet::new() };
    for event in &trace.events {
        let EventKind::SchedSwitch(switch) = &event.kind else { continue };
        let (pid, left_us) = (switch.prev.pid, event.time_ns / 1000);
        let key = (left_us, event.cpu.0, pid.0);
        match came.insert(event.cpu, (switch.next.pid, event.time_ns)) {
            Some((there, since)) if there == pid => {
                let (wait, delay) = by_first.get(&(pid, since)).copied().unwrap_or_default();
                let row =
                    Row { left_us, cpu: key.1, pid: key.2, wait_us: wait / 1000, delay_us: delay / 1000 };
                ours.rows.insert(key, row);
            }
            _ => {
                ours.unseen.insert(key);
            }
        }
    }
    ours
}

/// How many rows are equal, and those that are not.
#[derive(PartialEq, Eq, Debug, Default)]
struct Agreement {
    equal: usize,
    /// Of stays whose beginning no switch tells: perf takes the switch before for it.
    unseen: usize,
    /// Of tasks that have ended, whose ids perf has lost by then.
    nameless: usize,
    unequal: Vec<(Row, Option<Row>)>,
}

fn agreement(recording: &str) -> Agreement {
    let trace = trace::read(&fixture(&format!("{recording}.perf.data.gz"))).expect("a trace");
    let text = fixture(&format!("{recording}.perf_sched_timehist.txt.gz"));
    let ours = our_rows(&trace);
    let mut agreement = Agreement::default();
    for row in perfs_rows(std::str::from_utf8(&text).expect("text")) {
        let key = (row.left_us, row.cpu, row.pid);
        match ours.rows.get(&key) {
            Some(our) if *our == row => agreement.equal += 1,
            None if ours.unseen.contains(&key) => agreement.unseen += 1,
            None if row.pid == -1 => agreement.nameless += 1,
            our => agreement.unequal.push((row, our.copied())),
        }
    }
    agreement
}

/// Every row of which perf knows the beginning and the task, of all seven recordings that it was asked of.
/// Its other rows are of two kinds: of a stay of which it has not seen the beginning, and of a task whose ids
/// it has lost.
#[test]
fn waits_and_delays_are_those_of_perf_sched_timehist() {
    for (recording, equal, unseen, nameless) in [
        ("hackbench-pipe", 475, 8, 0),
        ("rtmigrate", 362, 100, 3),
        ("cyc-smp-storm", 9282, 13, 2),
        ("make4", 2844, 21, 0),
        ("pgsql-16", 6818, 19, 16),
        ("rtlab-plain", 6582, 831, 5),
        ("wl-2cpu-make10", 2369, 11, 209),
    ] {
        let expected = Agreement { equal, unseen, nameless, unequal: Vec::new() };
        assert_eq!(agreement(recording), expected, "{recording}");
    }
}
