//! Work and disk writes, recorded on Linux 6.18 with two CPUs, replayed on other numbers of them beside the real times.
//!
//! A script starts three times four processes at once; each computes for 86 ms, then writes 40 times 4 KiB synchronously
//! (virtio disk); then it waits for all. `io-cpu2.dat.gz` was recorded free on both CPUs, `io-cpu1.dat.gz` under `taskset -c 1`.
//! Untraced, it really took 0.56 to 0.59 s on two CPUs and 1.06 to 1.12 s on one (five times each).

use report::schema::{LoadResult, RunResult};
use std::process::Command;

/// When the script is done, ms from the start of the recording.
fn done_ms(fixture: &str, args: &[&str]) -> u64 {
    let path = format!("{}/tests/fixtures/{fixture}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output =
        command.args(["run", &path, "--format", "json"]).args(args).output().expect("this package's");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let result = RunResult::from_json(&String::from_utf8_lossy(&output.stdout))
        .unwrap_or_else(|e| panic!("{e}: {error}"));
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

/// Three times 86 ms of computing, some 6 ms of one job's writes and 3 ms to start it; and 5 ms before the script begins.
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
