//! `--report`: the data in a page is what the log of the run says, and pages are as small as promised.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output().expect("the binary of this package")
}

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A page that a command writes, and what it packs.
pub(crate) struct Written {
    pub html: String,
    pub json: Value,
    pub columns: Vec<BTreeMap<String, Vec<u64>>>,
}

pub(crate) fn written(name: &str, args: &[&str]) -> Written {
    let file = path(name);
    let output = schedlab(&[args, &["--report", &file.to_string_lossy()]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let html = fs::read_to_string(&file).expect("the page");
    let data = html.split("id=\"data\">").nth(1).and_then(|rest| rest.split('<').next()).expect("the data");
    let packed = STANDARD.decode(data).expect("base64");
    let mut all = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut all).expect("gzip");
    let length = u32::from_le_bytes(all[..4].try_into().expect("four bytes")) as usize;
    let json: Value = serde_json::from_slice(&all[4..4 + length]).expect("JSON");
    let mut bytes = all[4 + length..].iter();
    let mut number = || {
        let mut shift = 0;
        let mut number = 0;
        loop {
            let byte = *bytes.next().expect("as many as are promised");
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    };
    let mut columns = Vec::new();
    for timeline in json["timelines"].as_array().expect("timelines") {
        let column = |column: &Value| {
            let name = column["name"].as_str().expect("a name").to_owned();
            (name, column["count"].as_u64().expect("a count"))
        };
        let heads: Vec<(String, u64)> =
            timeline["columns"].as_array().expect("columns").iter().map(column).collect();
        columns.push(
            heads.into_iter().map(|(name, count)| (name, (0..count).map(|_| number()).collect())).collect(),
        );
    }
    Written { html, json, columns }
}

/// Each step added to those before it.
pub(crate) fn summed(steps: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let add = |step: &u64| {
        sum += step;
        sum
    };
    steps.iter().map(add).collect()
}

/// The events of the log that a page shows: time, CPU, name, task and what else.
fn of_log(lines: &str) -> Vec<String> {
    let mut events = Vec::new();
    for line in lines.lines().skip(1) {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let event = &record["event"];
        let kind = event["kind"].as_str().expect("a kind");
        let (task, detail) = match kind {
            "sched_switch" => {
                (&event["next"]["pid"], event["prev_state"].as_str().expect("a state").to_owned())
            }
            "sched_waking" => (&event["task"]["pid"], record["in_interrupt"].to_string()),
            "sched_wakeup" | "sched_wakeup_new" => (&event["task"]["pid"], event["target_cpu"].to_string()),
            "sched_migrate_task" => {
                (&event["task"]["pid"], format!("{} to {}", event["orig_cpu"], event["dest_cpu"]))
            }
            _ => continue,
        };
        // In which state an idle task leaves says nothing.
        let detail =
            if kind == "sched_switch" && event["prev"]["pid"] == 0 { "X".to_owned() } else { detail };
        events.push(format!("{} {} {kind} {task} {detail}", record["time_ns"], record["cpu"]));
    }
    events
}

/// The same, from a page.
fn of_page(page: &Written) -> Vec<String> {
    let (timeline, columns) = (&page.json["timelines"][0], &page.columns[0]);
    let cpus = timeline["cpus"].as_u64().expect("a number");
    let pid = |task: u64| &timeline["tasks"][task as usize]["pid"];
    let times = summed(&columns["event.time"]);
    let event = |n: usize| {
        let [kind, cpu, task, detail] =
            ["kind", "cpu", "task", "detail"].map(|name| columns[&format!("event.{name}")][n]);
        let (name, detail) = match kind {
            // Preempted or yielded: both go on waiting.
            0 => ("sched_switch", ["X", "", "", "R", "S", "D"][detail as usize].to_owned()),
            1 => ("sched_waking", (detail == 1).to_string()),
            2 => ("sched_wakeup", detail.to_string()),
            3 => ("sched_wakeup_new", detail.to_string()),
            _ => ("sched_migrate_task", format!("{} to {}", detail / cpus, detail % cpus)),
        };
        format!("{} {cpu} {name} {} {detail}", times[n], pid(task))
    };
    (0..times.len()).map(event).collect()
}

#[test]
fn the_timeline_of_a_page_is_what_the_log_says() {
    let log = path("page.jsonl");
    let log_name = log.to_string_lossy();
    let loads = ["cyclictest -t2 -p80 -i1000 -n -D 200ms", "hackbench -g1 -l20"];
    let args = [&["run"], &loads[..], &["--cpus", "3", "--trace", &log_name]].concat();
    let page = written("page.html", &args);
    let lines = fs::read_to_string(&log).expect("the log");
    let simulated = page.json["timelines"][0]["length_ns"].as_u64().expect("a length");
    // What happens behind the end is no part of the run.
    let is_inside =
        |event: &String| event.split(' ').next().and_then(|time| time.parse().ok()) <= Some(simulated);
    let expected: Vec<String> =
        of_log(&lines).into_iter().filter(is_inside).map(|event| event.replace("R+", "R")).collect();
    let found = of_page(&page);
    assert!(found.len() > 5_000, "{} events", found.len());
    assert_eq!(found.len(), expected.len());
    let differs = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert_eq!(differs, None);
    // And what was beside them.
    let count =
        |kind: &str| lines.lines().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count();
    let of_columns = |name: &str| page.columns[0][name].len();
    let near = |found: usize, expected: usize| found <= expected && expected - found < 20;
    assert!(near(of_columns("lock.until"), count("lock_wait")) && count("lock_wait") > 10);
    assert!(near(of_columns("decision.time"), count("decision")) && count("decision") > 1_000);
    let ends = count("irq_handler_exit") + count("softirq_exit");
    assert!(near(of_columns("interrupt.until"), ends) && ends > 100);
}

#[test]
fn a_page_has_the_same_bytes_each_time() {
    let args = ["run", "cyclictest -t1 -i1000 -n", "hog -n 2", "--cpus", "2", "--for", "50ms"];
    let one = written("same.html", &args).html;
    assert_eq!(one, written("same.html", &args).html);
}

#[test]
fn a_page_of_ten_seconds_on_eight_cpus_is_smaller_than_5_mb() {
    let args =
        ["run", "cyclictest -t8 -p80 -i1000 -n -D 10", "hog -n 8", "hackbench -g2 -l200", "--cpus", "8"];
    let page = written("ten.html", &args);
    assert!(page.html.len() < 5_000_000, "{} bytes", page.html.len());
    assert_eq!(page.json["timelines"][0]["left_out"], serde_json::json!([]), "all of it");
    assert!(page.columns[0]["event.time"].len() > 200_000);
}

#[test]
fn a_comparison_has_a_timeline_of_each_configuration() {
    let args = ["compare", "cyclictest -t1 -i1000 -n", "hog -n 2", "--cpus", "2", "--for", "50ms"];
    let page = written("compare.html", &[&args[..], &["--repeat", "2", "--with", "cpus=1"]].concat());
    let names: Vec<&Value> =
        page.json["timelines"].as_array().expect("timelines").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["base", "cpus=1"]);
    assert_eq!(page.json["timelines"][1]["cpus"], 1);
    assert_eq!(page.json["variants"][0]["name"], "cpus=1");
}

#[test]
fn a_recording_has_a_timeline_from_its_first_event() {
    let page =
        written("inspect.html", &["inspect", "../../demo/mix-rtover.dat", "--from", "1s", "--to", "1.5s"]);
    let timeline = &page.json["timelines"][0];
    let start = timeline["start_ns"].as_u64().expect("a time");
    assert!((1_000_000_000..1_010_000_000).contains(&start), "{start}");
    let names: Vec<&str> = timeline["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .flat_map(|task| task["names"].as_array().expect("names"))
        .filter_map(Value::as_str)
        .collect();
    assert!(names.contains(&"hog1") && names.contains(&"f1"), "{names:?}");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error_before_the_run() {
    let endless = ["run", "hog -n 1", "--for", "1000h", "--report"];
    for (place, wanted) in [
        ("/no/such/folder/page.html", "there is no folder"),
        ("-", "give a file"),
        ("/no/such/folder/page.txt", "ends in .html"),
    ] {
        let output = schedlab(&[&endless[..], &[place]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
}

/// As the group's cpu.stat counts them. Its tasks are shown throttled while they wait in such a queue.
#[test]
fn stretches_in_which_a_group_may_not_run_are_shown() {
    let limited = ["--group", "web=cpu.max:20000/100000", "--in", "web=periodic*"];
    let loads =
        ["run", "periodic -n 3 -p 10ms -r 4ms", "hog -n 2", "--cpus", "2", "--for", "1s", "--kernel", "6.12"];
    let page = written("limited.html", &[&loads[..], &limited].concat());
    let output = schedlab(&[&loads[..], &limited, &["--format", "json"]].concat());
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let stat = &result["groups"][0]["stat"];
    assert_eq!(page.json["timelines"][0]["groups"], serde_json::json!(["web"]));
    let columns = &page.columns[0];
    let throttles = || 0..columns["throttle.group"].len();
    let sum: u64 = throttles()
        .filter(|n| columns["throttle.group"][*n] == 1)
        .map(|n| columns["throttle.length"][n])
        .sum();
    let ended = stat["throttled_ns"].as_u64().expect("a time");
    // The kernel counts by the clock of the queue, which stands a little; what is not over at the end it has
    // not counted yet: less than a period on each CPU.
    assert!(sum + 100_000 >= ended && sum < ended + 200_000_000, "{sum} of {ended}");
    assert!(ended > 500_000_000, "{ended}");
    let names =
        |n: usize| &page.json["timelines"][0]["tasks"][columns["throttle.task"][n] as usize]["names"][0];
    let is_limited = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("periodic"));
    let of_tasks: Vec<&Value> = throttles().filter(|n| columns["throttle.task"][*n] > 0).map(names).collect();
    assert!(of_tasks.len() > 20 && of_tasks.iter().all(|name| is_limited(name)), "{of_tasks:?}");
    let without = written("unlimited.html", &loads);
    assert!(without.columns[0]["throttle.until"].is_empty());
}

/// 950 ms of each second for real-time tasks, 2 of each 10 ms for the deadline task.
#[test]
fn budgets_of_real_time_and_of_deadline_tasks_are_shown() {
    let one_cpu = ["--cpus", "1", "--for", "2s", "--kernel", "6.1"];
    let queues = written("rt.html", &[&["run", "hog -n 2 -p 50", "hog -n 1"][..], &one_cpu].concat());
    let lengths = |page: &Written, is_queue: bool| -> Vec<u64> {
        let columns = &page.columns[0];
        let all = columns["throttle.cpu"].iter().zip(&columns["throttle.length"]);
        all.filter(|(cpu, _)| (**cpu > 0) == is_queue).map(|(_, length)| *length).collect()
    };
    let near = |length: &u64, wanted: u64| length.abs_diff(wanted) < 2_000_000;
    let of_queue = lengths(&queues, true);
    assert!(of_queue.len() == 2 && of_queue.iter().all(|one| near(one, 50_000_000)), "{of_queue:?}");
    assert_eq!(queues.columns[0]["throttle.group"].iter().max(), Some(&0), "no group's");
    let of_tasks = lengths(&queues, false);
    assert!(of_tasks.len() == 4 && of_tasks.iter().all(|one| near(one, 50_000_000)), "{of_tasks:?}");
    let own = written("dl.html", &[&["run", "hog --deadline 2ms/10ms/10ms"][..], &one_cpu].concat());
    assert!(lengths(&own, true).is_empty());
    let of_task = lengths(&own, false);
    assert!(of_task.len() >= 199 && of_task.iter().all(|one| near(one, 8_000_000)), "{of_task:?}");
}
