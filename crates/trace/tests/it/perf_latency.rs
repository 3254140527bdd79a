//! Our table beside the one that `perf sched latency -p` (6.1) printed of the same file.

use std::path::{Path, PathBuf};

use trace::{DelaysFrom, SchedLatency, TaskDelays, Trace, WakeupEvent};

use crate::common::{assert_sound, fixture};

/// perf's table, written by us: the same figures, rounded as perf rounds them, and the line about broken
/// switches.
fn table(trace: &Trace, latency: &SchedLatency) -> Vec<String> {
    let mut lines: Vec<String> = latency.tasks.iter().map(|task| row(trace, task)).collect();
    lines.push(format!("TOTAL: {:.3} {}", ms(latency.runtime_sum_ns()), latency.switches()));
    if latency.context_switch_bugs > 0 && latency.wakeups > 0 {
        let percent = latency.context_switch_bugs as f64 / latency.wakeups as f64 * 100.0;
        lines.push(format!(
            "INFO: {percent:.3}% context switch bugs ({} out of {})",
            latency.context_switch_bugs, latency.wakeups
        ));
    }
    lines
}

fn row(trace: &Trace, task: &TaskDelays) -> String {
    let comm = task.comm.map_or("", |comm| &trace.strings[comm]);
    format!(
        "{comm}:{} {:.3} {} {:.3} {:.3} {} {}",
        task.pid,
        ms(task.runtime_ns),
        task.switches,
        ms(task.delay_mean_ns()),
        ms(task.delay_max_ns),
        seconds(task.max_start_ns),
        seconds(task.max_end_ns)
    )
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// perf cuts times to µs.
fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns / 1000 % 1_000_000)
}

/// The lines of perf's own table that hold figures, without its columns' words.
fn perfs_lines(text: &str) -> Vec<String> {
    let words = ["ms", "avg:", "max:", "max", "start:", "end:", "s"];
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("INFO:") {
            lines.push(line.to_owned());
        } else if let Some((task, figures)) = line.split_once('|')
            && !line.starts_with("Task")
        {
            let figures = figures.replace("avg:", " ").replace("max:", " ");
            let figures = figures.split([' ', '|']).filter(|word| !word.is_empty() && !words.contains(word));
            lines.push(std::iter::once(task.trim()).chain(figures).collect::<Vec<_>>().join(" "));
        }
    }
    lines
}

fn check(name: &str, trace: &Trace, perfs: &str) {
    assert_sound(trace);
    let (ours, perfs) = (table(trace, &trace::sched_latency(trace, DelaysFrom::Wakeup)), perfs_lines(perfs));
    assert!(perfs.len() > 5, "{name}: perf's table has rows");
    for (ours, perfs) in ours.iter().zip(&perfs) {
        // perf names a thread of which it has no record by its id; we know its name from the events.
        let nameless = perfs.strip_prefix(':').and_then(|row| row.split_once(':'));
        match nameless.filter(|(tid, row)| row.split(' ').next() == Some(tid)) {
            Some((_, row)) => assert_eq!(ours.split_once(':').map(|(_, ours)| ours), Some(row), "{name}"),
            None => assert_eq!(ours, perfs, "{name}"),
        }
    }
    assert_eq!(ours.len(), perfs.len(), "{name}");
}

#[test]
fn the_table_is_perfs_own() {
    for (name, table) in [
        ("hackbench-pipe.perf.data.gz", "hackbench-pipe.perf_sched_latency.txt"),
        ("hackbench-pipe.zstd.perf.data.gz", "hackbench-pipe.perf_sched_latency.txt"),
        ("rtmigrate.perf.data.gz", "rtmigrate.perf_sched_latency.txt"),
    ] {
        let trace = trace::read(&fixture(name)).expect("a trace");
        check(name, &trace, std::str::from_utf8(&fixture(table)).expect("text"));
    }
}

/// Every perf.data under the folder in SCHEDLAB_TRACE_DATA that has a `perf_sched_latency.txt` beside it:
/// `SCHEDLAB_TRACE_DATA=folder cargo test -p schedlab-trace whole_folder -- --ignored`.
#[test]
#[ignore = "needs a folder of recordings in SCHEDLAB_TRACE_DATA"]
fn whole_folder() {
    let folder = std::env::var("SCHEDLAB_TRACE_DATA").expect("SCHEDLAB_TRACE_DATA names a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    assert!(!files.is_empty(), "there is a perf.data with its table under {folder}");
    for file in files {
        let trace = trace::read(&std::fs::read(&file).expect("a file")).expect("a trace");
        let table = file.with_file_name("perf_sched_latency.txt");
        check(&file.display().to_string(), &trace, &std::fs::read_to_string(table).expect("perf's table"));
        println!("{}: {} events agree", file.display(), trace.events.len());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "data")
            && path.with_file_name("perf_sched_latency.txt").is_file()
        {
            files.push(path);
        }
    }
}

/// A recording with both events, and the same without `sched_wakeup`, as perf records it on kernels that have
/// `sched_waking`.
#[test]
fn wakeups_are_as_many_by_either_event() {
    let both = trace::read(&fixture("mix-rr.dat")).expect("a trace");
    let mut waking_only = both.clone();
    let is_wakeup = |event: &trace::Event| event.kind.name() == "sched_wakeup";
    waking_only.events = both.events.iter().filter(|event| !is_wakeup(event)).copied().collect();
    let (with, without) = (trace::summarise(&both), trace::summarise(&waking_only));
    assert_eq!((with.wakeups_from, without.wakeups_from), (WakeupEvent::Wakeup, WakeupEvent::Waking));
    let sum = |summary: &trace::Summary| summary.tasks.iter().map(|task| task.wakeups).sum::<u64>();
    assert!(
        sum(&with) > 400 && sum(&without).abs_diff(sum(&with)) <= 1,
        "{} and {}",
        sum(&with),
        sum(&without)
    );
    let by_waking = trace::summarise_from(&both, WakeupEvent::Waking);
    for (a, b) in by_waking.tasks.iter().zip(&without.tasks) {
        assert_eq!((a.pid, a.wakeups, &a.wake_latency), (b.pid, b.wakeups, &b.wake_latency));
    }
    for (a, b) in with.tasks.iter().zip(&without.tasks) {
        let (a, b) = (&a.wake_latency, &b.wake_latency);
        assert!(a.count().abs_diff(b.count()) * 50 <= a.count(), "{} and {} latencies", a.count(), b.count());
        assert!(a.count() != b.count() || a.mean_ns() <= b.mean_ns(), "a waking begins earlier");
    }
}
