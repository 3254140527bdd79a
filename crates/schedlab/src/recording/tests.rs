//! A recording from a tree of plain files that looks like tracefs: whatever machine this runs on, and without
//! root.

use super::host::Host;
use super::idle::IdleWatch;
use super::tracefs::{Instance, Tracefs};
use super::{Extras, Machine, TraceRecorder, lost};
use std::fs;
use std::path::{Path, PathBuf};
use trace::{EventKind, Pid, TaskPolicy};

/// A recording of a real kernel.
const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/mix-rtover.dat");

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("schedlab-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn put(root: &Path, name: &str, content: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
    fs::write(path, content).expect("a temporary file");
}

/// Takes a number's bytes and moves on.
fn number(bytes: &mut &[u8], len: usize) -> usize {
    let (head, rest) = bytes.split_at(len);
    *bytes = rest;
    let mut word = [0; 8];
    word[..len].copy_from_slice(head);
    u64::from_le_bytes(word) as usize
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(len);
    *bytes = rest;
    head
}

/// A tracefs at `root` with the demo's events, its instance at `root/instances/own`.
fn tracefs_of_demo(root: &Path) {
    let file = trace_dat();
    let mut at = &file[b"\x17\x08\x44tracing6\0".len() + 2 + 4 + "header_page\0".len()..];
    let len = number(&mut at, 8);
    put(root, "events/header_page", take(&mut at, len));
    take(&mut at, "header_event\0".len());
    let len = number(&mut at, 8);
    put(root, "events/header_event", take(&mut at, len));
    let formats = |at: &mut &[u8], system: &str| {
        for _ in 0..number(at, 4) {
            let len = number(at, 8);
            let format = take(at, len);
            let text = String::from_utf8_lossy(format);
            let name =
                text.lines().next().and_then(|line| line.strip_prefix("name: ")).expect("a name").to_owned();
            put(root, &format!("events/{system}/{name}/format"), format);
            put(root, &format!("instances/own/events/{system}/{name}/enable"), b"0");
        }
    };
    formats(&mut at, "ftrace");
    for _ in 0..number(&mut at, 4) {
        let end = at.iter().position(|b| *b == 0).expect("a name");
        let system = String::from_utf8_lossy(take(&mut at, end)).into_owned();
        take(&mut at, 1);
        formats(&mut at, &system);
    }
    for name in ["tracing_on", "trace_clock", "buffer_size_kb", "trace", "trace_marker", "events/enable"] {
        put(root, &format!("instances/own/{name}"), b"");
    }
    // The table of CPU data is the last thing before the pages.
    let flyrecord = file.windows(10).position(|w| w == b"flyrecord\0").expect("a table") + 10;
    let mut table = &file[flyrecord..];
    for cpu in 0..2 {
        let (offset, len) = (number(&mut table, 8), number(&mut table, 8));
        put(root, &format!("instances/own/per_cpu/cpu{cpu}/trace_pipe_raw"), &file[offset..offset + len]);
        put(
            root,
            &format!("instances/own/per_cpu/cpu{cpu}/stats"),
            b"entries: 5\noverrun: 3\ndropped events: 1\n",
        );
    }
}

/// A machine below `root`, which says of itself that it ticks 250 times a second and that its idle CPUs poll.
fn machine(root: &Path) -> Machine {
    put(root, "cpu_dma_latency", &0i32.to_ne_bytes());
    put(root, "boot/config-6.1", b"CONFIG_HZ=250\n");
    put(root, "proc/sys/kernel/osrelease", b"6.1\n");
    put(root, "debug/sched/preempt", b"none (voluntary) full\n");
    let host = Host { proc: root.join("proc"), sys: root.join("sys"), boot: root.join("boot") };
    let facts = host.notes_with(Some(&root.join("debug")));
    Machine { host, facts, idle: IdleWatch::new(&root.join("cpu_dma_latency")) }
}

/// The demo in version 6, where everything has its place.
fn trace_dat() -> Vec<u8> {
    let trace = trace::read(&fs::read(DEMO).expect("the recording of the demo")).expect("a trace");
    let mut bytes = Vec::new();
    trace::write_trace_dat(&trace, &mut bytes).expect("memory takes everything");
    bytes
}

#[test]
fn what_the_kernel_has_goes_into_a_file_that_reads_back() {
    let root = folder("record");
    tracefs_of_demo(&root);
    put(&root, "proc/812/task/812/stat", stat(812, "audio (x)", 2).as_bytes());
    put(&root, "proc/812/task/812/status", b"Name:\taudio\nCpus_allowed_list:\t0-1\n");
    let instance = Instance::at(&root.join("instances/own"));
    put(&root, "proc/812/cgroup", b"0::/user.slice\n");
    let mounts = format!("28 25 0:24 / {} rw - cgroup2 cgroup2 rw\n", root.join("cgroup").display());
    put(&root, "proc/self/mountinfo", mounts.as_bytes());
    put(&root, "cgroup/user.slice/cpu.weight", b"50\n");
    put(&root, "cgroup/lab/cpu.max", b"20000 100000\n");
    put(&root, "proc/812/autogroup", b"/autogroup-7 nice 0\n");
    put(&root, "sys/block/vda/size", b"8\n");
    let mut recorder =
        TraceRecorder::on(Tracefs::at(&root), instance, &root, machine(&root), Extras::default())
            .expect("it starts");
    let own = |name: &str| fs::read_to_string(root.join("instances/own").join(name)).expect("a file");
    assert!(own("tracing_on").starts_with('1') && own("events/sched/sched_switch/enable").starts_with('1'));
    assert!(
        own("trace_marker")
            .starts_with("schedlab: task pid=812 tgid=812 policy=rr cpus=0-1 comm=audio (x)\n")
    );
    for note in [
        "schedlab: group tgid=812 autogroup=7 cgroup=/user.slice\n",
        "schedlab: cgroup quota_us=- period_us=- weight=50 shares=- path=/user.slice\n",
        "schedlab: host hz=250\nschedlab: host preempt=voluntary\n",
    ] {
        assert!(own("trace_marker").contains(note), "{}", own("trace_marker"));
    }
    recorder.command(812, "play a song").expect("a marker");
    assert!(own("trace_marker").ends_with("schedlab: command pid=812 play a song\n"));
    // It goes into a group with a limit.
    put(&root, "proc/812/cgroup", b"0::/lab\n");
    recorder.collect().expect("pages");
    let moved = "schedlab: group tgid=812 autogroup=7 cgroup=/lab\n\
        schedlab: cgroup quota_us=20000 period_us=100000 weight=- shares=- path=/lab\n";
    assert!(own("trace_marker").ends_with(moved), "{}", own("trace_marker"));
    recorder.collect().expect("pages");
    assert!(own("trace_marker").ends_with(&format!("song\n{moved}")), "it is said once");
    // It binds itself, as taskset does, and has a child.
    put(&root, "proc/812/task/812/status", b"Name:\taudio\nCpus_allowed_list:\t1\n");
    put(&root, "proc/812/task/812/children", b"813 ");
    put(&root, "proc/813/task/813/stat", stat(813, "codec", 3).as_bytes());
    put(&root, "proc/813/task/813/status", b"Name:\tcodec\nCpus_allowed_list:\t1\n");
    recorder.collect().expect("pages");
    let bound = "schedlab: task pid=812 tgid=812 policy=rr cpus=1 comm=audio (x)\n\
        schedlab: task pid=813 tgid=813 policy=batch cpus=1 comm=codec\n";
    assert!(own("trace_marker").ends_with(&format!("{moved}{bound}")), "{}", own("trace_marker"));
    recorder.command_stopped().expect("a marker");
    assert!(own("trace_marker").ends_with("schedlab: stopped pid=812\n"));
    let so_far = recorder.so_far().expect("figures");
    assert!(so_far.bytes > 0);
    let mut ended = recorder.end().expect("it ends");
    // A tree of plain files cannot be removed as an instance is; the recording is there all the same.
    let left_over = ended.left_over.take().expect("the instance is a folder with files").to_string();
    assert!(left_over.starts_with("cannot remove the trace instance"), "{left_over}");
    assert!(own("tracing_on").starts_with('0') && own("events/enable").starts_with('0'));
    let mut bytes = Vec::new();
    ended.write(&mut bytes).expect("memory takes everything");
    let read = trace::read(&bytes).expect("a trace");
    let original = trace::read(&trace_dat()).expect("a trace");
    let switches = |trace: &trace::Trace| {
        trace.events.iter().filter(|e| matches!(e.kind, EventKind::SchedSwitch(_))).count()
    };
    assert_eq!((read.cpus, switches(&read)), (original.cpus, switches(&original)));
    assert!(read.meta.tool.as_deref().is_some_and(|tool| tool.starts_with("schedlab ")));
    assert_eq!(read.threads.get(&Pid(812)).map(|t| &read.strings[t.comm]), Some("audio (x)"));
    fs::remove_dir_all(root).expect("our own folder");
}

fn stat(pid: u32, comm: &str, policy: u32) -> String {
    let fields: Vec<String> = (4..=52).map(|n| if n == 41 { policy } else { 0 }.to_string()).collect();
    format!("{pid} ({comm}) S {}\n", fields.join(" "))
}

/// A command's own beginnings count, as those of `taskset`; what it does to itself later does not.
#[test]
fn of_notes_on_a_task_the_last_of_its_first_moments_counts() {
    let cpus = |notes: &[(&str, &str)]| {
        let switch = "a-7 [000] d... 0.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
                      next_comm=b next_pid=8 next_prio=97\n";
        let note = |(at, cpus): &(&str, &str)| {
            format!(
                "b-8 [000] .... {at}: tracing_mark_write: schedlab: task pid=8 tgid=5 policy=rr cpus={cpus} \
                 comm=b\n"
            )
        };
        let text = switch.to_owned() + &notes.iter().map(note).collect::<String>();
        trace::read(text.as_bytes()).expect("a trace").facts[&Pid(8)].cpus.clone()
    };
    assert_eq!(cpus(&[("0.010000", "0-3"), ("0.020000", "1")]), "1");
    assert_eq!(cpus(&[("0.010000", "0-3"), ("0.020000", "1"), ("0.900000", "2")]), "1");
    assert_eq!(cpus(&[("0.010000", "0-3"), ("0.900000", "2")]), "0-3");
}

#[test]
fn notes_of_tasks_in_a_trace_are_facts_and_no_markers() {
    let text = "a-7 [000] d... 0.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=97\n\
        b-8 [000] .... 0.000002: tracing_mark_write: schedlab: task pid=8 tgid=5 policy=rr cpus=1,3 comm=b\n\
        b-8 [000] .... 0.000003: tracing_mark_write: its own\n";
    let read = trace::read(text.as_bytes()).expect("a trace");
    assert_eq!(read.events.len(), 2);
    let facts = &read.facts[&Pid(8)];
    assert_eq!((facts.policy, facts.cpus.as_str(), facts.tgid), (TaskPolicy::Rr, "1,3", Pid(5)));
}

#[test]
fn every_way_of_losing_events_counts() {
    assert_eq!(
        lost("entries: 9\noverrun: 3\ncommit overrun: 2\nbytes: 7\ndropped events: 1\nread events: 8\n"),
        6
    );
}

#[test]
fn a_recording_without_a_place_to_wait_does_not_begin() {
    let root = folder("no-spool");
    tracefs_of_demo(&root);
    let (instance, nowhere) = (Instance::at(&root.join("instances/own")), root.join("no"));
    let recorder =
        TraceRecorder::on(Tracefs::at(&root), instance, &nowhere, machine(&root), Extras::default());
    let error = recorder.expect_err("no such folder");
    let text = error.to_string();
    assert!(text.starts_with(&format!("cannot keep pages in {}: ", nowhere.display())), "{text}");
    let on = fs::read_to_string(root.join("instances/own/tracing_on")).expect("a file");
    assert!(on.starts_with('0'), "{on}");
    fs::remove_dir_all(root).expect("our own folder");
}

#[test]
fn without_the_right_the_error_names_it() {
    let error =
        super::RecordError::of("write 0 to", "tracing_on", std::io::ErrorKind::PermissionDenied.into());
    let text = error.to_string();
    assert!(
        text.starts_with("cannot write 0 to tracing_on: permission denied") && text.contains("CAP_SYS_ADMIN"),
        "{text}"
    );
    let root = folder("no-tracefs");
    let error = TraceRecorder::start(Tracefs::at(&root), &root, Extras::default())
        .expect_err("nothing is there")
        .to_string();
    assert!(error.contains("CONFIG_FTRACE"), "{error}");
    fs::remove_dir_all(root).expect("our own folder");
}
