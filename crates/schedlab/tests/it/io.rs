//! Work, disk writes and packets, recorded on Linux 6.18 with two CPUs, replayed on other numbers of them, or
//! with other work, beside the real times.
//!
//! A script starts three times four processes at once; each computes for 86 ms, then writes 40 times 4 KiB
//! synchronously (virtio disk); then it waits for all. `io-cpu2.dat.gz` was recorded free on both CPUs,
//! `io-cpu1.dat.gz` under `taskset -c 1`. Untraced, it really took 0.56 to 0.59 s on two CPUs and 1.06 to
//! 1.12 s on one (five times each). `io-wave.trace.txt.gz` is the first third of a third recording, on both
//! CPUs, with events of interrupts, timers and block requests.
//!
//! `loopback.dat.gz`: a client asks a server, forty times over TCP on the loopback device, both SCHED_FIFO 10
//! and on either CPU; the client counts to 2000, then the server to 60000. Untraced, that took 52.7 to 79.7
//! ms, and with the server counting to a fifth of it 32.3 to 38.8 ms (seven times each, the medians 58.4 and
//! 35.6). `asker.dat.gz`: a process asks a name server on another machine, twelve times, counting to 80000
//! each time before it does. Untraced, 41.5 to 48.0 ms; counting to three tenths of it 30.4 to 34.8 ms
//! (median 33.3).

use schema::{LoadResult, RunResult};
use std::process::Command;

fn replay(fixture: &str, args: &[&str]) -> RunResult {
    let path = format!("{}/tests/fixtures/{fixture}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output =
        command.args(["run", &path, "--format", "json"]).args(args).output().expect("this package's");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|e| panic!("{e}: {error}"))
}

/// When the script is done, ms from the start of the recording.
fn done_ms(fixture: &str, args: &[&str]) -> u64 {
    let result = replay(fixture, args);
    let [LoadResult::Replay(replay)] = result.loads.as_slice() else { panic!("a replay") };
    let finish = replay.finish.as_ref().and_then(|finish| finish.seconds);
    finish.expect("all exit").as_ns() / 1_000_000
}

#[test]
fn a_recording_of_two_cpus_ends_on_one_as_it_really_did() {
    let ms = done_ms("io-cpu2.dat.gz", &["--cpus", "1"]);
    assert!((972..=1188).contains(&ms), "{ms} ms, really 1080");
}

#[test]
fn a_recording_of_one_cpu_ends_freed_on_two_as_it_really_did() {
    let ms = done_ms("io-cpu1.dat.gz", &["--cpus", "2", "--affinity", "io.sh=all"]);
    assert!((522..=638).contains(&ms), "{ms} ms, really 580");
    // As recorded, under taskset, the second CPU is no help.
    let bound = done_ms("io-cpu1.dat.gz", &[]);
    assert!((972..=1188).contains(&bound), "{bound} ms, really 1080");
}

/// Three times 86 ms of computing, some 6 ms of one job's writes and 3 ms to start it; and 5 ms before the
/// script begins.
#[test]
fn on_eight_cpus_the_critical_path_decides() {
    let ms = done_ms("io-cpu2.dat.gz", &["--cpus", "8"]);
    let critical_path = 3 * (86 + 6 + 3) + 5;
    assert!(
        (critical_path * 9 / 10..=critical_path * 11 / 10).contains(&ms),
        "{ms} ms, {critical_path} by hand"
    );
    // Waits for the disk that end at their recorded times let nobody be done sooner.
    let pinned = done_ms("io-cpu2.dat.gz", &["--cpus", "8", "--outside", "absolute"]);
    assert!(pinned > 500, "{pinned} ms");
}

/// A third of the real 1080 ms on one CPU and of the critical path on eight, and 14 ms of the recorder's
/// before.
#[test]
fn a_recording_with_block_events_ends_as_one_without() {
    const BEFORE: u64 = 14;
    let ms = done_ms("io-wave.trace.txt.gz", &["--cpus", "1"]) - BEFORE;
    assert!((324..=396).contains(&ms), "{ms} ms, really 360");
    let ms = done_ms("io-wave.trace.txt.gz", &["--cpus", "8"]) - BEFORE;
    let critical_path = 86 + 6 + 3;
    assert!((critical_path * 9 / 10..=critical_path * 11 / 10).contains(&ms), "{ms} ms");
}

/// In all 7559 lines of the recording, never more than two requests are between `block_rq_issue` and
/// `block_rq_complete`.
#[test]
fn the_disk_has_its_number_and_its_limit() {
    let notes = replay("io-wave.trace.txt.gz", &[]).notes;
    let said = |text: &str| notes.iter().any(|note| note.contains(text));
    assert!(said("device 254,0 serves at most 2 requests at once"), "{notes:?}");
    assert!(said("of which the trace shows the request"), "{notes:?}");
    assert!(!said("that the trace does not name"), "{notes:?}");
    // Without those events no device has a name.
    let notes = replay("io-cpu2.dat.gz", &[]).notes;
    assert!(notes.iter().any(|note| note.contains("that the trace does not name")), "{notes:?}");
}

#[test]
fn a_faster_server_answers_its_client_sooner() {
    let ms = done_ms("loopback.dat.gz", &[]);
    assert!((54..=60).contains(&ms), "{ms} ms, recorded in 57.1");
    let ms = done_ms("loopback.dat.gz", &["--scale", "server=0.2"]);
    assert!((32..=39).contains(&ms), "{ms} ms, really 35.6");
}

#[test]
fn an_answer_from_another_machine_comes_so_long_after_the_question() {
    let ms = done_ms("asker.dat.gz", &["--scale", "asker=0.3"]);
    assert!((30..=36).contains(&ms), "{ms} ms, really 33.3");
    let pinned = done_ms("asker.dat.gz", &["--scale", "asker=0.3", "--outside", "absolute"]);
    assert!(pinned > 43, "{pinned} ms, recorded in 44.6");
}

/// `io-busy.trace.txt.gz`: four processes that each write 16 times, recorded beside a build. On one CPU a
/// thread of the kernel that finishes writes gets them in another order than it did, and in the midst of some
/// it has to wait for the disk.
#[test]
fn writes_on_a_busy_machine_come_to_an_end_on_any_number_of_cpus() {
    for cpus in ["1", "2", "3", "8"] {
        let result = replay("io-busy.trace.txt.gz", &["--cpus", cpus]);
        let [LoadResult::Replay(done)] = result.loads.as_slice() else { panic!("a replay") };
        assert_eq!((done.bursts, done.seconds.is_some()), (done.bursts_completed, true), "{cpus} CPUs");
        assert!(!result.notes.iter().any(|note| note.contains("deadlock")), "{:?}", result.notes);
    }
}

/// The file of a user who has taken out a wakeup.
#[test]
fn a_replay_that_cannot_go_on_ends_at_once_and_says_who_waits_for_whom() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("edited.workload");
    let text = "schedlab-workload 1\ncpus 1\nspan 1s\n\
                task 7 reader\n  begin runnable cpu 0\n    run 1ms\n    receive\n    exit\n\
                task 8 writer\n  begin runnable cpu 0\n    run 1ms\n    receive\n    wake 7\n    exit\n";
    std::fs::write(&file, text).expect("written");
    let run = || Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = run().arg("run").arg(&file).args(["--format", "json"]).output().expect("this package's");
    let result = RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).expect("JSON");
    assert!(result.engine.simulated_ns < 10_000_000, "{} ns", result.engine.simulated_ns);
    let said = "sleep for good; reader (7) waits for writer (8), which waits for a wakeup that no task is \
                left to make";
    assert!(result.notes.iter().any(|note| note.ends_with(said)), "{:?}", result.notes);
    let [LoadResult::Replay(replay)] = result.loads.as_slice() else { panic!("a replay") };
    assert_eq!((replay.bursts, replay.bursts_completed, replay.seconds), (2, 2, None));
}
