use super::lab::Lab;
use crate::rtapp::RtAppDialect;
use crate::rtapp::log::RtAppThread;
use scheduler::Nanos;

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

fn thread<'a>(threads: &'a [RtAppThread], name: &str) -> &'a RtAppThread {
    threads.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no thread {name} in {threads:?}"))
}

#[test]
fn events_become_steps_in_their_order() {
    let mut lab = Lab::new(r#"{"tasks": {"t": {"loop": 1, "run": 10, "sleep": 20, "yield": "", "run": 5}}}"#);
    lab.run(us(1_000));
    assert_eq!(
        lab.steps_of("t-0"),
        [
            "0 Compute(10000ns)",
            "10 SleepFor(20000ns)",
            "30 Yield",
            "30 Compute(5000ns)",
            "35 Compute(500ns)",
            "35 Exit"
        ]
    );
}

#[test]
fn plain_rt_app_keeps_the_last_value_at_the_first_place() {
    let text = r#"{"tasks": {"t": {"loop": 1, "run": 10, "sleep": 20, "run": 5}}}"#;
    let mut lab = Lab::with(text, RtAppDialect::RtApp);
    lab.run(us(1_000));
    assert_eq!(lab.steps_of("t-0")[..2], ["0 Compute(5000ns)", "5 SleepFor(20000ns)"]);
}

#[test]
fn loops_of_tasks_and_phases_multiply() {
    let mut lab = Lab::new(
        r#"{"tasks": {"t": {"loop": 2, "phases": {"a": {"loop": 3, "run": 1}, "b": {"sleep": 7}}}}}"#,
    );
    let result = lab.run(us(10_000));
    assert_eq!(thread(&result.threads, "t-0").loops, 2 * (3 + 1));
    let sleeps = lab.steps_of("t-0").iter().filter(|s| s.contains("SleepFor")).count();
    assert_eq!(sleeps, 2);
    assert!(lab.has_ended("t-0"));
}

#[test]
fn a_task_without_loop_goes_on_until_the_duration_is_over() {
    let text = |duration: &str| {
        format!(r#"{{"global": {{"duration": {duration}}}, "tasks": {{"t": {{"sleep": 300000}}}}}}"#)
    };
    let mut lab = Lab::new(&text("1"));
    let result = lab.run(Nanos::from_secs(5));
    assert_eq!(thread(&result.threads, "t-0").loops, 3, "the fourth ends after the second");
    assert!(lab.has_ended("t-0") && lab.is_finished());
    let mut endless = Lab::new(&text("-1"));
    endless.run(Nanos::from_secs(5));
    assert!(!endless.has_ended("t-0") && !endless.is_finished());
}

/// The threads that could wake them have ended: rt-app's main thread ends the wait.
#[test]
fn the_duration_ends_waits_that_nobody_else_would() {
    let finished = |members: &str, until: u64| {
        let text = format!(r#"{{"global": {{"duration": 1}}, "tasks": {{{members}}}}}"#);
        let mut lab = Lab::new(&text);
        lab.run(us(until));
        lab.is_finished()
    };
    let sleepers = [
        r#""s": {"suspend": "s"}, "t": {"loop": 2, "sleep": 10, "resume": "s"}"#,
        r#""b": {"barrier": "b"}, "t": {"loop": 2, "sleep": 10, "barrier": "b"}"#,
        r#""b": {"barrier": "b", "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "t": {"loop": 1, "barrier": "b"}"#,
    ];
    for members in sleepers {
        assert!(!finished(members, 999_999) && finished(members, 1_000_000), "{members}");
    }
    let busy = r#""s": {"suspend": "s"}, "t": {"loop": 1, "sleep": 1500000}"#;
    assert!(
        !finished(busy, 1_400_000) && finished(busy, 1_500_001),
        "whoever is at work comes to its end first"
    );
}

#[test]
fn a_loop_that_holds_a_lock_at_the_end_gives_it_back() {
    let mut lab = Lab::new(
        r#"{"global": {"duration": 1},
            "tasks": {"t": {"lock": "m", "sleep": 1100000, "run": 5, "unlock": "m", "run": 6}}}"#,
    );
    let result = lab.run(Nanos::from_secs(5));
    let steps = lab.steps_of("t-0");
    assert_eq!(steps[2], "1100000 Unlock(MutexId(0))", "the run between is left out");
    assert_eq!(steps.len(), 5, "{steps:?}");
    assert_eq!(thread(&result.threads, "t-0").loops, 0, "a loop cut short has no line in the log");
}

#[test]
fn a_lock_of_an_earlier_phase_is_given_back_at_the_end() {
    let mut lab = Lab::new(
        r#"{"global": {"duration": 1}, "tasks": {
            "holder": {"phases": {"a": {"lock": "m"}, "b": {"loop": 4, "sleep": 300000}, "c": {"unlock": "m"}}},
            "other": {"loop": 1, "sleep": 5, "lock": "m", "unlock": "m"}}}"#,
    );
    lab.run(Nanos::from_secs(5));
    assert!(lab.has_ended("holder-0") && lab.has_ended("other-1") && lab.is_finished());
}

#[test]
fn relative_timers_start_anew_when_missed_and_absolute_ones_catch_up() {
    // The tutorial's example in tens of milliseconds: a period of 20, the third run takes 35 instead of 10.
    let text = |mode: &str| {
        format!(
            r#"{{"tasks": {{"t": {{"loop": 5, "run": 10000,
                "timer": {{"ref": "unique", "period": 20000, "mode": "{mode}"}}}}}}}}"#
        )
    };
    let ends = |mode: &str| {
        let mut lab = Lab::new(&text(mode));
        // One entry for each computation: five runs and five loop ends, last first.
        lab.disturbances = vec![us(25_000)];
        lab.disturbances.extend([Nanos::ZERO; 4]);
        let result = lab.run(Nanos::from_secs(1));
        let waits = lab.steps_of("t-0").iter().filter(|s| s.contains("SleepUntil")).count();
        (waits, thread(&result.threads, "t-0").clone())
    };
    let (waits, relative) = ends("relative");
    assert_eq!((waits, relative.late), (4, 1));
    assert!(relative.last_end.0.abs_diff(115_000_000) < 10_000, "{:?}", relative.last_end);
    // The third loop starts late by one log line and misses its timer by the rest of its run.
    assert_eq!((relative.slack.max_ns(), relative.slack.min_ns()), (10_000_000, -15_000_500));
    let (waits, absolute) = ends("absolute");
    assert_eq!((waits, absolute.late), (3, 2), "the fourth is still too late");
    assert_eq!(absolute.last_end, us(100_000), "back on its grid");
    assert_eq!(absolute.c_period, us(100_000));
}

#[test]
fn timers_of_a_name_are_shared_unless_unique() {
    let text = |name: &str| {
        format!(
            r#"{{"tasks": {{"t": {{"instance": 2, "loop": 1,
                "timer": {{"ref": "{name}", "period": 1000}}}}}}}}"#
        )
    };
    let wakeups = |name: &str| {
        let mut lab = Lab::new(&text(name));
        lab.run(us(10_000));
        [lab.steps_of("t-0")[0].clone(), lab.steps_of("t-1")[0].clone()]
    };
    assert_eq!(wakeups("tick"), ["0 SleepUntil(1000000ns)", "0 SleepUntil(2000000ns)"]);
    assert_eq!(wakeups("unique_tick"), ["0 SleepUntil(1000000ns)", "0 SleepUntil(1000000ns)"]);
}

#[test]
fn a_delay_shifts_the_first_loop_and_its_timers() {
    let mut lab = Lab::new(
        r#"{"tasks": {"t": {"delay": 500, "loop": 1, "run": 10,
            "timer": {"ref": "unique", "period": 100}}}}"#,
    );
    let result = lab.run(us(10_000));
    assert_eq!(
        lab.steps_of("t-0")[..3],
        ["0 SleepUntil(500000ns)", "500 Compute(10000ns)", "510 SleepUntil(600000ns)"]
    );
    assert_eq!(thread(&result.threads, "t-0").first_start, us(500));
}

#[test]
fn slack_is_of_the_last_timer_or_of_all() {
    let text = |cumulative: bool| {
        format!(
            r#"{{"global": {{"cumulative_slack": {cumulative}}}, "tasks": {{"t": {{"loop": 1,
                "run": 10, "timer": {{"ref": "unique", "period": 50}},
                "run": 20, "timer": {{"ref": "unique", "period": 50}}}}}}}}"#
        )
    };
    let slack =
        |cumulative| thread(&Lab::new(&text(cumulative)).run(us(1_000)).threads, "t-0").slack.max_ns();
    assert_eq!((slack(false), slack(true)), (30_000, 70_000));
}

#[test]
fn run_is_rounded_down_to_calibration_loops() {
    let mut lab = Lab::new(
        r#"{"global": {"calibration": 300}, "tasks": {"t": {"loop": 1, "run": 1000, "run": 2000001}}}"#,
    );
    let result = lab.run(Nanos::from_secs(5));
    let steps = lab.steps_of("t-0");
    assert_eq!(steps[0], "0 Compute(999900ns)");
    // Two seconds of 3 333 333 loops each, and three loops in the last microsecond.
    assert!(steps[1].ends_with(" Compute(2000000700ns)"), "{}", steps[1]);
    let t = thread(&result.threads, "t-0");
    assert_eq!(t.perf, Some(1_000 / 300 + 2_000_001 / 300));
    assert_eq!(t.c_duration, us(2_001_001));
    assert_eq!(t.run.max_ns(), 2_001_000_600);
}

#[test]
fn runtime_waits_for_the_clock_and_finishes_its_loop() {
    let steps = |preempted: Nanos| {
        let mut lab = Lab::new(r#"{"tasks": {"t": {"loop": 1, "runtime": 100}}}"#);
        lab.disturbances = vec![preempted];
        lab.run(us(1_000));
        lab.steps_of("t-0")[..2].to_vec()
    };
    assert_eq!(steps(Nanos::ZERO), ["0 SpinUntil(100000ns)", "100 Compute(28000ns)"], "4 loops of 32 µs");
    assert_eq!(steps(us(60)), ["0 SpinUntil(100000ns)", "100 Compute(24000ns)"], "time off the CPU counts");
}

#[test]
fn memory_and_device_events_cost_by_their_bytes() {
    let mut lab = Lab::new(
        r#"{"global": {"mem_buffer_size": 4096, "io_device": "/tmp/x"},
            "tasks": {"t": {"loop": 1, "mem": 12000, "iorun": 5000}}}"#,
    );
    lab.run(us(1_000));
    assert_eq!(
        lab.steps_of("t-0")[..3],
        ["0 Compute(100ns)", "0 KernelCompute(457ns)", "0 KernelCompute(234ns)"]
    );
}

#[test]
fn suspend_waits_for_the_next_resume() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "sleeper": {"loop": 2, "suspend", "run": 5},
            "other": {"loop": 2, "suspend": "sleeper", "run": 7},
            "waker": {"loop": 3, "sleep": 100, "resume": "sleeper"}}}"#,
    );
    let result = lab.run(us(10_000));
    assert!(lab.has_ended("sleeper-0") && lab.has_ended("other-1"));
    let runs = |name: &str| -> Vec<String> {
        lab.steps_of(name)
            .into_iter()
            .filter(|s| s.contains("Compute(5000") || s.contains("Compute(7000"))
            .collect()
    };
    assert_eq!(runs("sleeper-0"), ["100 Compute(5000ns)", "200 Compute(5000ns)"]);
    assert_eq!(runs("other-1"), ["100 Compute(7000ns)", "200 Compute(7000ns)"]);
    assert_eq!(thread(&result.threads, "waker-2").loops, 3, "the third resume wakes nobody");
}

#[test]
fn a_signal_takes_the_most_urgent_waiter_first_and_fair_tasks_in_their_order() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "fair": {"instance": 2, "loop": 1, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "low": {"policy": "SCHED_FIFO", "priority": 5, "loop": 1,
                    "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "high": {"policy": "SCHED_RR", "priority": 50, "loop": 1,
                    "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "signaller": {"loop": 4, "sleep": 100, "lock": "m", "signal": "c", "unlock": "m"}}}"#,
    );
    lab.run(us(10_000));
    let woken: Vec<&str> = lab
        .journal
        .iter()
        .filter(|line| line.ends_with("Exit"))
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    assert_eq!(woken, ["high-3", "low-2", "fair-0", "fair-1", "signaller-4"]);
}

#[test]
fn a_signal_between_unlock_and_sleep_is_not_lost() {
    // The signaller waits for the mutex and gets it the moment the waiter lets go.
    let mut lab = Lab::new(
        r#"{"tasks": {
            "waiter": {"loop": 1, "lock": "m", "run": 10, "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "signaller": {"loop": 1, "run": 5, "lock": "m", "signal": "c", "unlock": "m"}}}"#,
    );
    lab.run(us(1_000));
    assert!(lab.has_ended("waiter-0") && lab.has_ended("signaller-1"));
}

#[test]
fn broadcast_wakes_all_and_sync_passes_the_turn() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "w": {"instance": 3, "loop": 1, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m"},
            "b": {"loop": 1, "sleep": 10, "lock": "m", "broad": "c", "unlock": "m"}}}"#,
    );
    lab.run(us(1_000));
    assert!((0..3).all(|n| lab.has_ended(&format!("w-{n}"))));

    let mut turns = Lab::new(
        r#"{"tasks": {
            "a": {"loop": 2, "sync": {"ref": "c", "mutex": "m"}, "run": 3},
            "b": {"loop": 3, "sleep": 10, "lock": "m", "sync": {"ref": "c", "mutex": "m"}, "unlock": "m"}}}"#,
    );
    turns.run(us(1_000));
    assert!(turns.has_ended("a-0"));
    assert_eq!(turns.steps_of("a-0").iter().filter(|s| s.contains("Compute(3000ns)")).count(), 2);
}

#[test]
fn barriers_wait_for_every_thread_that_mentions_them() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "early": {"instance": 2, "loop": 1, "run": 10, "barrier": "b", "run": 3},
            "late": {"loop": 1, "run": 90, "barrier": "b", "run": 3}}}"#,
    );
    lab.run(us(1_000));
    for name in ["early-0", "early-1", "late-2"] {
        assert!(lab.steps_of(name).contains(&"90 Compute(3000ns)".to_owned()), "{name}");
    }
}

#[test]
fn semaphores_count_and_locks_exclude() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "taker": {"loop": 3, "sem_wait": "s", "run": 1},
            "giver": {"loop": 1, "sem_post": "s", "sem_post": "s", "sleep": 50, "sem_post": "s"}}}"#,
    );
    lab.run(us(1_000));
    let runs: Vec<_> =
        lab.steps_of("taker-0").into_iter().filter(|s| s.contains("Compute(1000ns)")).collect();
    assert_eq!(runs, ["0 Compute(1000ns)", "1 Compute(1000ns)", "50 Compute(1000ns)"]);

    let mut lab = Lab::new(
        r#"{"tasks": {"t": {"instance": 2, "loop": 1, "lock": "m", "run": 10, "unlock": "m", "run": 1}}}"#,
    );
    lab.run(us(1_000));
    assert!(lab.steps_of("t-1").contains(&"10 Compute(10000ns)".to_owned()));
}

#[test]
fn forks_get_numbers_names_and_their_own_log() {
    let mut lab = Lab::new(
        r#"{"tasks": {
            "parent": {"loop": 3, "cpus": [1], "sleep": 10, "fork": "child"},
            "child": {"instance": 0, "loop": 1, "run": 5, "suspend": "x"}}}"#,
    );
    let result = lab.run(us(1_000));
    let names: Vec<&str> = result.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["parent-0", "child-1-0000", "child-2-0001", "child-3-0002"]);
    let fork = lab.steps_of("parent-0").into_iter().find(|s| s.contains("Fork")).unwrap_or_default();
    assert!(fork.contains("cpus: Some({1})"), "a thread inherits the affinity of its creator: {fork}");
    assert_eq!(result.threads[3].run.count(), 0, "suspended, its loop is not over");
    assert!(lab.has_ended("parent-0") && !lab.is_finished(), "the children count too");
}

#[test]
fn too_many_forks_end_the_use_case() {
    let mut lab = Lab::new(
        r#"{"tasks": {"bomb": {"fork": "crumb"}, "crumb": {"instance": 0, "loop": 1, "sleep": 1},
                      "bystander": {"sleep": 100}}}"#,
    );
    let result = lab.run(Nanos::from_secs(60));
    assert_eq!(result.fork_limit.as_deref(), Some("crumb"));
    assert_eq!(result.threads.len(), 2 + 1024);
    assert!(lab.has_ended("bystander-1") && lab.has_ended("bomb-0"));
}

#[test]
fn attributes_change_where_a_phase_says_so() {
    let mut lab = Lab::new(
        r#"{"tasks": {"t": {"loop": 2, "cpus": [0, 1], "priority": 3, "phases": {
            "a": {"loop": 2, "run": 1},
            "b": {"policy": "SCHED_FIFO", "cpus": [2], "run": 2},
            "c": {"priority": 20, "run": 3},
            "d": {"policy": "SCHED_OTHER", "run": 4}}}}}"#,
    );
    lab.run(us(1_000));
    let steps: Vec<String> = lab
        .steps_of("t-0")
        .iter()
        .filter_map(|s| s.split_once(' ').map(|(_, step)| step.replace("target: None, ", "")))
        .filter(|s| s != "Compute(500ns)")
        .collect();
    let first_pass = [
        "Compute(1000ns)",
        "Compute(1000ns)",
        "SetAffinity { cpus: {2} }",
        "SetPolicy { policy: Fifo(RtPriority(10)) }",
        "Compute(2000ns)",
        "SetAffinity { cpus: {0-1} }",
        "SetPolicy { policy: Fifo(RtPriority(20)) }",
        "Compute(3000ns)",
        "SetPolicy { policy: Normal }",
        "SetNice { nice: Nice(0) }",
        "Compute(4000ns)",
    ];
    assert_eq!(steps[..11], first_pass);
    assert_eq!(steps[11..22], first_pass, "phase a says nothing, so the nice of d stays");
}

#[test]
fn ftrace_writes_what_rt_app_writes() {
    let mut lab = Lab::new(
        r#"{"global": {"ftrace": "task,loop,event,stats"},
            "tasks": {"t": {"loop": 1, "run": 10, "timer": {"ref": "unique", "period": 100}}}}"#,
    );
    lab.run(us(1_000));
    let marks: Vec<String> = lab
        .steps_of("t-0")
        .iter()
        .filter_map(|s| s.split_once(" Marker(").map(|(_, text)| text.trim_end_matches(')').replace('"', "")))
        .collect();
    assert_eq!(
        marks,
        [
            "rtapp_main: event=clock_ref data=0",
            "rtapp_task: event=start",
            "rtapp_loop: event=start thread_loop=0 phase=0 phase_loop=0",
            "rtapp_event: id=0 type=6 desc=run",
            "rtapp_event: id=1 type=11 desc=timer:unique",
            "rtapp_loop: event=end thread_loop=0 phase=0 phase_loop=0",
            "rtapp_stats: period=100 run=10 wu_lat=0 slack=90 c_period=100 c_run=10",
            "rtapp_task: event=end",
        ]
    );
}

#[test]
fn a_loop_that_does_nothing_still_takes_time() {
    let mut lab = Lab::new(r#"{"tasks": {"t": {"timer": {"ref": "unique", "period": 0}}}}"#);
    let result = lab.run(us(100));
    assert_eq!(thread(&result.threads, "t-0").loops, 201);
}
