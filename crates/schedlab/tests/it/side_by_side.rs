//! Two made-up traces that differ by known factors: what `inspect` of both has to find.

use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often in a second `worker` is woken and how long it waits, on a CPU of its own. `steady` on another
/// CPU is woken every 10 ms, waits 20 to 26 us and runs 1 ms, always.
struct Load {
    wakeups_per_s: u64,
    waits_us: u64,
    seconds: u64,
}

impl Load {
    fn text(&self) -> String {
        let mut events = Vec::new();
        for n in 0..self.wakeups_per_s * self.seconds {
            let start = n * 1_000_000 / self.wakeups_per_s;
            // 80, 90, 100, 110, 120 % of the wait.
            stay(&mut events, 0, "worker", 7, start, self.waits_us * (8 + n % 5) / 10, 500);
        }
        for n in 0..100 * self.seconds {
            stay(&mut events, 1, "steady", 8, n * 10_000, 20 + n % 7, 1_000);
        }
        events.sort();
        events.into_iter().map(|(_, line)| line).collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, self.text()).expect("a temporary file");
        path
    }
}

/// A task is woken, waits, runs and sleeps again; times in us.
fn stay(events: &mut Vec<(u64, String)>, cpu: u32, comm: &str, pid: u32, woken: u64, wait: u64, run: u64) {
    let idle = format!("swapper/{cpu}");
    let task =
        |side: &str, comm: &str, pid: u32| format!("{side}_comm={comm} {side}_pid={pid} {side}_prio=120");
    let mut event = |us: u64, who: &str, what: String| {
        let mut line = String::new();
        let (seconds, rest) = (10 + us / 1_000_000, us % 1_000_000);
        writeln!(line, " {who} [00{cpu}] d... {seconds}.{rest:06}: {what}").expect("text");
        events.push((us, line));
    };
    let wakeup = format!("sched_wakeup: comm={comm} pid={pid} prio=120 target_cpu=00{cpu}");
    event(woken, "<idle>-0", wakeup);
    let to = format!("sched_switch: {} prev_state=R ==> {}", task("prev", &idle, 0), task("next", comm, pid));
    event(woken + wait, "<idle>-0", to);
    let back =
        format!("sched_switch: {} prev_state=S ==> {}", task("prev", comm, pid), task("next", &idle, 0));
    event(woken + wait + run, &format!("{comm}-{pid}"), back);
}

fn inspect(traces: &[&Path], options: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = command.arg("inspect").args(traces).args(["--format", "json"]).args(options).output();
    let output = output.expect("the binary of this package");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn figure<'a>(result: &'a Value, comm: &str, name: &str) -> &'a Value {
    let figures = result["figures"].as_array().expect("a list");
    let found = figures.iter().find(|figure| figure["comm"] == comm && figure["figure"] == name);
    found.unwrap_or_else(|| panic!("no {name} of {comm} in {result:#}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Four times the wait, twice the wakeups, in a recording of half the length.
#[test]
fn known_factors_are_found_the_largest_first_and_what_is_equal_is_not() {
    let before = Load { wakeups_per_s: 200, waits_us: 100, seconds: 4 }.file("before.txt");
    let after = Load { wakeups_per_s: 400, waits_us: 400, seconds: 2 }.file("after.txt");
    let result = inspect(&[&before, &after], &[]);

    let wait = figure(&result, "worker", "latency_mean");
    assert_eq!((number(&wait["first_value"]), number(&wait["second_value"])), (100e3, 400e3));
    assert!(number(&wait["interval"]["low"]) <= 300e3 && number(&wait["interval"]["high"]) >= 300e3);
    for (name, from, to) in
        [("wakeups", 200.0, 400.0), ("voluntary_switches", 200.0, 400.0), ("cpu_time", 0.1, 0.2)]
    {
        let found = figure(&result, "worker", name);
        let (first, second) = (number(&found["first_value"]), number(&found["second_value"]));
        // The traces end a few milliseconds before the last second does.
        assert!((first / from - 1.0).abs() < 0.005 && (second / to - 1.0).abs() < 0.005, "{found}");
        assert_eq!(found["verdict"], "changed", "{found}");
    }
    let steady =
        result["figures"].as_array().expect("a list").iter().filter(|figure| figure["comm"] == "steady");
    for figure in steady {
        // The windows of the shorter recording are cut a little off: less than a thousandth.
        let (first, difference) = (number(&figure["first_value"]), number(&figure["difference"]));
        assert!(difference.abs() <= 1e-3 * first, "{figure}");
    }
    let of_worker =
        result["figures"].as_array().expect("a list").iter().filter(|one| one["comm"] == "worker");
    let order: Vec<&str> = of_worker.map(|one| one["figure"].as_str().expect("a name")).collect();
    let place = |name| order.iter().position(|one| *one == name);
    assert!(place("latency_p50") < place("wakeups") && place("wakeups") < place("migrations"), "{order:?}");
    let mut commands = result["commands"].as_array().expect("a list").iter();
    let worker = commands.find(|one| one["comm"] == "worker").expect("in both");
    let [first, second] = ["first", "second"].map(|side| &worker[side]);
    assert_eq!((first["tasks"].as_u64(), first["latency_max_ns"].as_u64()), (Some(1), Some(120_000)));
    assert_eq!((second["latencies"].as_u64(), second["latency_max_ns"].as_u64()), (Some(800), Some(480_000)));
}

#[test]
fn a_window_and_a_task_hold_for_both() {
    let one = Load { wakeups_per_s: 200, waits_us: 100, seconds: 4 }.file("long.txt");
    let result = inspect(&[&one, &one], &["--task", "worker", "--from", "1s", "--to", "2s"]);
    assert_eq!(result["commands"].as_array().map(Vec::len), Some(1));
    for side in ["first", "second"] {
        let length = number(&result[side]["duration_ns"]);
        assert!((0.98e9..=1e9).contains(&length), "{length}");
    }
    assert!(
        result["figures"].as_array().expect("a list").iter().all(|figure| figure["verdict"] == "identical")
    );
}

/// Where one trace has both events and the other only one, both are measured from that one.
#[test]
fn latencies_start_at_an_event_that_both_have() {
    let load = Load { wakeups_per_s: 200, waits_us: 100, seconds: 1 };
    let wakeup = load.file("wakeup.txt");
    let waking = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waking.txt");
    std::fs::write(&waking, load.text().replace("sched_wakeup", "sched_waking")).expect("a temporary file");
    let result = inspect(&[&wakeup, &waking], &[]);
    let names = result["figures"].as_array().expect("a list").iter().map(|figure| &figure["figure"]);
    assert!(names.clone().all(|name| *name != "wakeups" && *name != "latency_mean"), "{result:#}");
    assert!(result["notes"][0].as_str().expect("text").starts_with("no event for wakeups is in both"));
    let same = inspect(&[&waking, &waking], &[]);
    assert_eq!(number(&figure(&same, "worker", "latency_mean")["first_value"]), 100e3);
}
