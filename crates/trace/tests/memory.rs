//! What reading a long recording costs in memory: at most 64 bytes an event, 2 KB a task, and never the file
//! itself.
//!
//! Linux tells the most memory that a process has ever had: this reads a recording in a process of its own,
//! then one of twice the length, and sees by how much that has grown.
#![cfg(target_os = "linux")]

#[path = "grown/mod.rs"]
mod grown;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use trace::{Annotations, TextOptions};

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the line is there");
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kilobytes << 10
}

fn written(name: &str, write: impl FnOnce(&mut io::BufWriter<fs::File>)) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    write(&mut io::BufWriter::new(fs::File::create(&path).expect("a file can be made")));
    path
}

/// A recording of `copies` times 1819 events in each format.
fn files(copies: u64) -> Vec<PathBuf> {
    let packed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hackbench-pipe.perf.data.gz"));
    let packed = packed.expect("the fixture");
    let file =
        miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).expect("a sound gzip file");
    let perf = grown::perf_data(&file, copies);
    let trace = trace::read(&perf).expect("a trace");
    let whole = "a file takes it";
    vec![
        written(&format!("{copies}.perf.data"), |out| io::Write::write_all(out, &perf).expect(whole)),
        written(&format!("{copies}.dat"), |out| {
            trace::write_trace_dat(&trace, out).expect(whole);
        }),
        written(&format!("{copies}.pftrace"), |out| {
            trace::write_perfetto(&trace, &Annotations::new(), out).expect(whole);
        }),
        written(&format!("{copies}.txt"), |out| {
            trace::write_ftrace_text(&trace, TextOptions::default(), out).expect(whole);
        }),
    ]
}

/// Names the file that a process of its own is to read: what is measured must not have made the file.
const FILE: &str = "SCHEDLAB_MEMORY_TEST_FILE";

/// Events of the file, and the most memory of a process that does nothing but read it.
fn measure(path: &Path) -> [u64; 2] {
    let this = std::env::current_exe().expect("this binary");
    let output = Command::new(this).env(FILE, path).arg("--nocapture").output().expect("it runs again");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find_map(|line| line.split_once("measured "));
    let (_, figures) = line.unwrap_or_else(|| panic!("no figures in {text}"));
    let mut figures = figures.split(' ').map(|figure| figure.parse().expect("a number"));
    [(); 2].map(|()| figures.next().expect("two figures"))
}

/// Text of so many tasks, one after the other: each is forked, woken, runs, is accounted and ends.
fn many_tasks(tasks: u64) -> PathBuf {
    let mut text = String::from("# tracer: nop\n#\n");
    for n in 0..tasks {
        let (parent, pid, us) = (1000 + n, 1001 + n, 10 * n);
        let line = |by: u64, after_us: u64, what: String| {
            let us = us + after_us;
            format!(" task{by}-{by} [000] d..2. {}.{:06}: {what}\n", us / 1_000_000, us % 1_000_000)
        };
        let task = |pid: u64| format!("comm=task{pid} pid={pid}");
        text += &line(
            parent,
            0,
            format!("sched_process_fork: {} child_comm=task{pid} child_pid={pid}", task(parent)),
        );
        text += &line(parent, 1, format!("sched_wakeup_new: {} prio=120 target_cpu=000", task(pid)));
        let switch = format!(
            "sched_switch: prev_comm=task{parent} prev_pid={parent} prev_prio=120 prev_state=X ==> \
             next_comm=task{pid} next_pid={pid} next_prio=120"
        );
        text += &line(parent, 2, switch);
        text += &line(pid, 3, format!("sched_stat_runtime: {} runtime=1000 [ns]", task(pid)));
        text += &line(pid, 4, format!("sched_process_exit: {} prio=120", task(pid)));
    }
    written(&format!("{tasks}.tasks.txt"), |out| {
        io::Write::write_all(out, text.as_bytes()).expect("a file takes it")
    })
}

/// Names, threads and figures of many short tasks, as of a long build.
#[test]
fn many_tasks_cost_little_each() {
    if std::env::var_os(FILE).is_some() {
        return;
    }
    let (few, many) = (many_tasks(20_000), many_tasks(60_000));
    let ([events, memory], [more_events, more]) = (measure(&few), measure(&many));
    assert_eq!((events, more_events), (100_000, 300_000));
    let growth = more.saturating_sub(memory) / 40_000;
    println!("{growth} bytes a task of five events");
    assert!((5 * 40..=2 << 10).contains(&growth), "{growth} bytes a task");
    for path in [few, many] {
        fs::remove_file(path).expect("it is ours");
    }
}

#[test]
fn memory_grows_by_at_most_64_bytes_an_event_and_not_by_the_file() {
    if let Some(path) = std::env::var_os(FILE) {
        let file = fs::File::open(path).expect("a file of `files`");
        let events = trace::read_seekable(file).expect("a trace").events.len();
        return println!("measured {events} {}", peak());
    }
    for (short, long) in files(60).into_iter().zip(files(120)) {
        let [events, memory] = measure(&short);
        let [twice, more] = measure(&long);
        assert_eq!(twice, 2 * events);
        let growth = more.saturating_sub(memory) as f64 / events as f64;
        println!("{}: {growth:.1} bytes an event, {more} bytes for {twice} events", long.display());
        // Less than an event has would mean that this measures nothing.
        assert!((40.0..=64.0).contains(&growth), "{}: {growth:.1} bytes an event", long.display());
        for path in [short, long] {
            fs::remove_file(path).expect("it is ours");
        }
    }
}
