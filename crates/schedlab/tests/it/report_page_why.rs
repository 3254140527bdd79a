//! Explanations in pages: what `why --format json` says, and each where the timeline shows it.

use super::report_page::{Written, schedlab, summed, written};
use serde_json::Value;

const MIX: &str = "../../demo/mix-rtover.dat";

fn json(args: &[&str]) -> Value {
    let output = schedlab(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// When the CPUs of a timeline went to a task, on its clock, and which CPUs.
fn switches_to(page: &Written, timeline: usize, pid: &Value) -> Vec<(u64, u64)> {
    let (head, columns) = (&page.json["timelines"][timeline], &page.columns[timeline]);
    let task = list(&head["tasks"]).iter().position(|task| task["pid"] == *pid).expect("the task") as u64;
    let times = summed(&columns["event.time"]);
    let is_switch = |n: &usize| columns["event.kind"][*n] == 0 && columns["event.task"][*n] == task;
    let start = number(&head["start_ns"]);
    (0..times.len()).filter(is_switch).map(|n| (start + times[n], columns["event.cpu"][n])).collect()
}

/// The explanations of a page are those of the JSON, whose clock is `zero` where the timelines have 0.
fn are_the_same(page: &Written, json: &Value, zero: u64) {
    let found = list(&page.json["why"]["explanations"]);
    let wanted = list(&json["explanations"]);
    assert_eq!(found.len(), wanted.len());
    assert!(!found.is_empty());
    for (found, wanted) in found.iter().zip(wanted) {
        let time = |name: &str| number(&wanted[name]) - zero;
        assert_eq!(number(&found["due_ns"]), time("due_ns"));
        assert_eq!(number(&found["first_ns"]), time("first_ns"));
        let ends = |of: &Value, zero: u64| -> Vec<(u64, u64)> {
            let end =
                |stretch: &Value| (number(&stretch["from_ns"]) - zero, number(&stretch["to_ns"]) - zero);
            list(&of["stretches"]).iter().map(end).collect()
        };
        assert_eq!(ends(found, 0), ends(wanted, zero));
        let sum: u64 = ends(found, 0).iter().map(|(from, to)| to - from).sum();
        assert_eq!(sum, number(&wanted["latency_ns"]), "the stretches add up");
    }
}

#[test]
fn explanations_of_a_run_stand_where_the_timeline_shows_the_task_come_to_a_cpu() {
    let args =
        ["why", "cyclictest -t2 -i1000 -n -D 200ms", "hog -n 4", "--cpus", "2", "--task", "cyclictest"];
    let page = written("why.html", &[&args[..], &["--blame"]].concat());
    are_the_same(&page, &json(&args), 0);
    for one in list(&page.json["why"]["explanations"]) {
        let [due, first] = ["due_ns", "first_ns"].map(|name| number(&one[name]));
        let came = switches_to(&page, number(&one["timeline"]) as usize, &one["pid"]);
        let is_in = |(time, cpu): &&(u64, u64)| (due..=first).contains(time) && *cpu == one["cpu"];
        assert!(came.iter().any(|switch| is_in(&switch)), "{one}");
    }
    // What a reader needs besides: decisions explained, what would have helped, and blame that adds up.
    let why = &page.json["why"];
    let named = list(&why["explanations"][0]["stretches"]).iter().flat_map(|one| list(&one["decisions"]));
    let explained: Vec<&Value> = list(&why["decisions"]).iter().map(|one| &one["name"]).collect();
    assert!(named.into_iter().all(|name| explained.contains(&name)));
    let helps =
        list(&why["explanations"][0]["tables"]).iter().find(|t| t["title"] == "What would have helped");
    assert!(list(&helps.expect("the table")["rows"]).len() > 2);
    let blame = &why["blame"][0];
    assert_eq!(blame["victim"], "cyclictest");
    let sum: u64 = list(&blame["rows"]).iter().map(|row| number(&row["all_ns"])).sum();
    assert_eq!(sum, number(&blame["total_ns"]));
}

#[test]
fn explanations_of_a_recording_end_with_its_switches() {
    let args = ["why", MIX, "--task", "f1", "--worst", "4"];
    let page = written("why-recorded.html", &args);
    let start = number(&json(&["inspect", MIX])["start_ns"]);
    are_the_same(&page, &json(&args), start);
    for one in list(&page.json["why"]["explanations"]) {
        let came = switches_to(&page, 0, &one["pid"]);
        assert!(came.contains(&(number(&one["first_ns"]), number(&one["cpu"]))), "{one}");
        assert!(one["clock"].is_string());
    }
}

#[test]
fn a_stretch_has_no_place_for_what_lies_outside() {
    let args = ["why", "cyclictest -t1 -i1000 -n -D 100ms", "hog -n 2", "--cpus", "1", "--worst", "100"];
    // The stretch begins in the middle of the longest, which ends in it.
    let worst = json(&args)["explanations"][0].clone();
    let (due, first) = (number(&worst["due_ns"]), number(&worst["first_ns"]));
    let [from, to] = [(due + first) / 2, first + 20_000_000];
    let stretch = [format!("{from}ns"), format!("{to}ns")];
    let page = written("why-part.html", &[&args[..], &["--from", &stretch[0], "--to", &stretch[1]]].concat());
    let all = list(&page.json["why"]["explanations"]);
    assert!(all.iter().all(|one| (from..=to).contains(&number(&one["first_ns"]))), "they end there");
    let is_inside = |one: &Value| number(&one["due_ns"]) >= from;
    assert!(all.iter().any(is_inside) && !is_inside(&all[0]));
    assert!(all.iter().all(|one| is_inside(one) == one["timeline"].is_u64()));
}

#[test]
fn a_run_with_why_explains_in_its_page() {
    let args = ["run", "cyclictest -t1 -i1000 -n -D 100ms", "hog -n 2", "--cpus", "1", "--why"];
    let page = written("run-why.html", &args);
    let why = &page.json["why"];
    assert_eq!(list(&why["explanations"]).len(), 5);
    let late_by: u64 = list(&json(&args)["late_by"]).iter().map(|one| number(&one["total_ns"])).sum();
    let blamed: u64 = list(&why["blame"]).iter().map(|one| number(&one["total_ns"])).sum();
    assert_eq!(blamed, late_by);
    assert!(late_by > 0);
    let plain = written("run-plain.html", &args[..args.len() - 1]);
    assert!(plain.json["why"].is_null());
}
