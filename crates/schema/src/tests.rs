use crate::*;

fn check_refused(text: &str, message_has: &str) {
    let error = RunResult::from_json(text).expect_err("must be refused").to_string();
    assert!(error.contains(message_has), "{error:?} does not say {message_has:?}");
}

fn example_with(from: &str, to: &str) -> String {
    let text = example::run().to_json();
    assert!(text.contains(from), "the example has no {from:?}");
    text.replacen(from, to, 1)
}

#[test]
fn a_result_survives_the_round_trip_through_json() {
    let run = example::run();
    assert_eq!(RunResult::from_json(&run.to_json()).expect("own output is readable"), run);
}

#[test]
fn optional_fields_may_be_absent() {
    let mut run = example::run();
    run.command = None;
    run.experiment = None;
    run.replay.clear();
    run.kernel.changes.clear();
    let text = run.to_json();
    assert!(["command", "experiment", "changes"].iter().all(|field| !text.contains(&format!("\"{field}\""))));
    assert_eq!(RunResult::from_json(&text).expect("readable"), run);
}

#[test]
fn wall_ns_is_the_only_difference_between_identical_runs() {
    let (mut one, mut two) = (example::run(), example::run());
    two.engine.wall_ns = two.engine.wall_ns.map(|ns| ns + 1);
    assert_ne!(one.to_json(), two.to_json());
    one.forget_wall_clock();
    two.forget_wall_clock();
    assert_eq!(one.to_json(), two.to_json());
}

#[test]
fn unknown_fields_are_refused_at_every_depth() {
    check_refused(&example_with("\"cpus\": 2", "\"cpus\": 2, \"cores\": 1"), "unknown field `cores`");
    check_refused(
        &example_with("\"waiters_max\"", "\"waiters\": 1, \"waiters_max\""),
        "unknown field `waiters`",
    );
    check_refused(&example_with("\"act_us\"", "\"actual\": 1, \"act_us\""), "unknown field `actual`");
    check_refused(&example_with("\"kind\": \"make\"", "\"kind\": \"make\", \"x\": 1"), "unknown field `x`");
}

#[test]
fn another_schema_is_refused_with_both_names() {
    check_refused(
        &example_with("schedlab/1", "schedlab/9"),
        "schema is \"schedlab/9\", this version reads \"schedlab/1\"",
    );
}

#[test]
fn errors_say_where() {
    let error = RunResult::from_json("{\n  \"schema\": 1\n}").expect_err("must be refused");
    assert_eq!(error.line(), 2);
    check_refused(
        &example_with("\"time_s\": 1.197000321", "\"time_s\": -1.0"),
        "-1 is not a duration in seconds",
    );
    check_refused(&example_with("\"7\": 1", "\"7us\": 1"), "histogram key \"7us\" is not a number");
}

#[test]
fn a_check_of_a_machine_survives_the_round_trip_and_names_what_is_missed() {
    let check = example::machine_check::machine_check();
    let again = machine_check::MachineCheck::from_json(&check.to_json()).expect("own output is readable");
    assert_eq!(again, check);
    assert_eq!(check.missed(), ["timers, idle CPU: p90", "stalls: lost"]);
    assert_eq!(check.figures(), 5);
}

#[test]
fn a_calibration_survives_the_round_trip_through_json() {
    let calibration = example::calibration::calibration();
    let again = calibration::Calibration::from_json(&calibration.to_json());
    assert_eq!(again.expect("own output is readable"), calibration);
}

#[test]
fn seconds_are_exact_to_the_nanosecond() {
    for ns in [0, 1, 999_999_999, 1_197_000_321, 1 << 52] {
        let text = serde_json::to_string(&Seconds::from_ns(ns)).expect("a number");
        assert_eq!(serde_json::from_str::<Seconds>(&text).expect("a number").as_ns(), ns, "{text}");
    }
}

#[test]
fn policies_are_named_as_in_sched_7() {
    let names = [Policy::Other, Policy::Fifo, Policy::Rr, Policy::Batch, Policy::Idle]
        .map(|policy| serde_json::to_string(&policy).expect("a string"));
    assert_eq!(names.join(" "), r#""SCHED_OTHER" "SCHED_FIFO" "SCHED_RR" "SCHED_BATCH" "SCHED_IDLE""#);
}

#[test]
fn the_kind_of_a_load_is_its_tag_in_json() {
    for load in example::run().loads {
        let json = serde_json::to_value(&load).expect("an object");
        assert_eq!(json["kind"], load.kind());
        assert_eq!(json["load"], load.load());
    }
}
