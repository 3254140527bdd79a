//! rt-app files: what is read, what is refused, and what is said about it.

use machine::Setup;
use scheduler::{GroupId, Nanos};
use schema::LoadResult;
use workload::load::{Length, Load, LoadError};
use workload::rtapp::{Fault, NoteKind, RtApp, RtAppDialect, RtAppError, parse};

fn read(text: &str) -> Result<RtApp, RtAppError> {
    parse(text, "file.json", RtAppDialect::Workgen)
}

fn accept(text: &str) -> RtApp {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The message, and the text that its range marks.
fn refuse(text: &str) -> (String, String) {
    refuse_as(text, RtAppDialect::Workgen)
}

fn refuse_as(text: &str, dialect: RtAppDialect) -> (String, String) {
    match parse(text, "file.json", dialect) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => (error.to_string(), text[error.place().span.clone()].to_owned()),
    }
}

fn note(app: &RtApp, kind: NoteKind) -> Option<(u64, Vec<&str>)> {
    let note = app.notes().iter().find(|note| note.kind == kind)?;
    Some((note.count, note.names.iter().map(String::as_str).collect()))
}

/// Names of the threads that a build on so many CPUs makes.
fn threads(app: &RtApp, cpus: usize) -> Vec<String> {
    match app.build(&mut Setup::new(cpus)).map(|built| built.result("file.json")) {
        Ok(LoadResult::Rtapp(result)) => result.threads.into_iter().map(|thread| thread.name).collect(),
        other => panic!("{other:?}"),
    }
}

/// A file with one task of these members.
fn task(members: &str) -> String {
    format!(r#"{{"tasks": {{"t": {{{members}}}}}}}"#)
}

#[test]
fn the_example_files_are_read_and_built() {
    let pipeline = accept(include_str!("rtapp/pipeline.json"));
    assert_eq!((pipeline.threads(), pipeline.duration()), (6, Some(Nanos::from_secs(2))));
    assert!(pipeline.build(&mut Setup::new(4)).is_ok());
    assert_eq!(note(&pipeline, NoteKind::BesidePhases), Some((1, vec!["suspend"])));
    assert_eq!(note(&pipeline, NoteKind::RepeatsKept), Some((2, vec!["run"])));
    assert_eq!(note(&pipeline, NoteKind::NoUseHere), Some((3, vec!["logdir", "log_basename", "gnuplot"])));

    let modes = accept(include_str!("rtapp/modes.json"));
    assert_eq!((modes.threads(), modes.duration()), (3 + 1 + 1, None));
    assert_eq!(threads(&modes, 4), ["worker-0", "worker-1", "worker-2", "feeder-3", "boss-4"]);
    assert_eq!(modes.notes(), []);

    for dialect in [RtAppDialect::Workgen, RtAppDialect::RtApp] {
        let minimal = parse(include_str!("rtapp/minimal.json"), "minimal.json", dialect);
        assert!(minimal.is_ok_and(|app| app.notes().is_empty()));
    }
}

/// What json-c 0.16 with rt-app 1.0 accepts and refuses, tried with both.
#[test]
fn the_accepted_dialect() {
    let plain = |text: &str| parse(text, "file.json", RtAppDialect::RtApp);
    for accepted in [
        task(r#""run": 1"#),
        task("'run': 1"),
        task(r#""run": 1,"#),
        task(r#""cpus": [0, 1,], "run": 1"#),
        task("\"run\": /* one */ 1 // µs\n"),
        task(r#""run": 007"#),
        task(r#""run\u0030": 1"#),
        task(r#""run": 1, "run": 2"#),
        task(r#""suspend": "", "run": 1"#),
        task(r#""suspend": "'", "run": 1"#),
        task("\"suspend\": \"a\tb\nc\", \"run\": 1"),
        format!("/* head */ {} // tail", task(r#""run": 1"#)),
        format!("{}}} and more", task(r#""run": 1"#)),
        r#"{"global": {"gnuplot": True, "lock_pages": FALSE}, "tasks": {"t": {"run": 1}}}"#.to_owned(),
        r#"{"resources": {"m": {"type": "mutex"}}, "tasks": {"t": {"run": 1}}}"#.to_owned(),
        r#"{"resources": 3, "tasks": {"t": {"run": 1}}}"#.to_owned(),
    ] {
        assert!(plain(&accepted).is_ok(), "{accepted}: {:?}", plain(&accepted).err().map(|e| e.to_string()));
        assert!(read(&accepted).is_ok(), "{accepted}");
    }
    for refused in [
        "",
        "// nothing",
        "[]",
        "{",
        r#"{"tasks": {"t": {"run": 1}}"#,
        r#"{tasks: {"t": {"run": 1}}}"#,
        r##"# comment
           {"tasks": {"t": {"run": 1}}}"##,
        &task(r#""run": 0x10"#),
        &task(r#""run": +1"#),
        &task(r#""run": .5"#),
        &task(r#""run": 1 "sleep": 1"#),
        &task(r#""run": 1,, "sleep": 1"#),
        &task(r#""run": 1.0"#),
        &task(r#""run": 1e3"#),
        &task(r#""run": "1""#),
        &task(r#""run": 12abc"#),
        &task("\"run': 1"),
        &task(r#""run": 1;"#),
        &task(r#""suspend": "\x", "run": 1"#),
        &task("/* open"),
    ] {
        assert!(plain(refused).is_err(), "{refused}");
        assert!(read(refused).is_err(), "{refused}");
    }
}

#[test]
fn only_workgen_takes_keys_without_value() {
    let app = accept(&task(r#""suspend", "run": 1, "resume": "t", "yield""#));
    assert_eq!(app.notes(), [], "it waits for its own resume, by the name of the task");
    let (message, marked) = refuse_as(&task(r#""suspend", "run": 1"#), RtAppDialect::RtApp);
    assert!(
        message.starts_with("file.json:1:18: `suspend` has no value; write `suspend: value`"),
        "{message}"
    );
    assert_eq!(marked, "\"suspend\"");
    let (message, _) = refuse(&task(r#""run", "sleep": 1"#));
    assert!(message.contains("`run` has no value"), "{message}");
}

#[test]
fn repeated_keys_are_told_once() {
    let text = task(r#""run": 1, "sleep": 1, "run": 2, "run": 3, "loop": 2, "loop": 5"#);
    let workgen = accept(&text);
    assert_eq!(note(&workgen, NoteKind::RepeatsKept), Some((3, vec!["run", "loop"])));
    assert_eq!(note(&workgen, NoteKind::PropertyTwice), Some((1, vec!["loop"])));
    let text_of_note = workgen.notes()[0].to_string();
    assert!(text_of_note.contains("plain rt-app would keep only the last"), "{text_of_note}");
    let plain = parse(&text, "file.json", RtAppDialect::RtApp).expect("accepted");
    assert_eq!(note(&plain, NoteKind::RepeatsDropped), Some((3, vec!["run", "loop"])));
    assert_eq!(plain.notes().len(), 1);
}

#[test]
fn tasks_of_one_name_are_two_tasks_for_workgen() {
    let text = r#"{"tasks": {"t": {"run": 1}, "t": {"run": 2}}}"#;
    assert_eq!(threads(&accept(text), 1), ["t-0", "t1-1"]);
    assert_eq!(parse(text, "f", RtAppDialect::RtApp).map(|app| app.threads()), Ok(1));
}

#[test]
fn deadline_parameters_that_no_kernel_takes_are_refused() {
    for (text, why) in [
        (task(r#""policy": "SCHED_DEADLINE", "run": 1"#), "a deadline task needs a deadline above zero"),
        (
            task(r#""policy": "SCHED_DEADLINE", "dl-runtime": 6000, "dl-period": 5000, "run": 1"#),
            "run time 6000000 ns, deadline 5000000 ns and period 5000000 ns have to be in this order",
        ),
        (
            task(r#""phases": {"p": {"policy": "SCHED_DEADLINE", "dl-runtime": 5, "run": 1}}"#),
            "a period of 5000 ns is outside the kernel's limits",
        ),
        (
            r#"{"global": {"default_policy": "SCHED_DEADLINE"}, "tasks": {"t": {"run": 1}}}"#.to_owned(),
            "a deadline task needs a deadline above zero",
        ),
    ] {
        let (message, _) = refuse(&text);
        assert!(message.contains("SCHED_DEADLINE: ") && message.contains(why), "{message}");
        assert!(message.contains("write dl-runtime, dl-deadline and dl-period"), "{message}");
    }
}

#[test]
fn deadline_parameters_are_those_of_the_thread() {
    let policy = |members: &str| {
        let mut setup = Setup::new(1);
        accept(&task(members)).build(&mut setup).expect("one CPU");
        machine::policy_text(setup.into_tasks().remove(0).spec.policy)
    };
    let all =
        r#""policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-deadline": 4000, "dl-period": 5000, "run": 1"#;
    assert_eq!(policy(all), "deadline:1000000:4000000:5000000");
    let implicit = r#""policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-period": 5000, "run": 1"#;
    assert_eq!(policy(implicit), "deadline:1000000:5000000:5000000");
}

#[test]
fn the_format_before_events_is_refused() {
    for members in [r#""exec": 1000, "period": 5000"#, r#""lock_order": [0, 1], "run": 1"#] {
        let (message, _) = refuse(&task(members));
        assert!(
            message.contains("belongs to the old format of rt-app; write what the task does"),
            "{message}"
        );
    }
}

#[test]
fn bad_types_and_numbers_say_what_is_wanted() {
    for (text, message, marked) in [
        (task(r#""run": "x""#), "`run` wants an integer, not a string; write an integer", r#""x""#),
        (task(r#""run": -5"#), "`run` is -5, but must be 0 to 2147483647 µs", "-5"),
        (task(r#""sleep": 3000000000"#), "`sleep` is 3000000000, but must be 0", "3000000000"),
        (
            task(r#""run": 99999999999999999999"#),
            "not a number that is no integer of 64 bits",
            "99999999999999999999",
        ),
        (task(r#""lock": 1"#), "`lock` wants a string, not an integer", "1"),
        (task(r#""timer": 5"#), "`timer` wants an object", "5"),
        (task(r#""run": 1, "loop": 0"#), "`loop` is 0, but must be 1 to 2147483647, or -1 for ever", "0"),
        (task(r#""run": 1, "loop": -2"#), "`loop` is -2", "-2"),
        (task(r#""run": 1, "instance": -1"#), "`instance` is -1", "-1"),
        (task(r#""run": 1, "delay": -1"#), "`delay` is -1, but must be 0 to 2147483647 µs", "-1"),
        (task(r#""run": 1, "phases": []"#), "`phases` wants an object, not an array", "[]"),
        (task(r#""run": 1, "cpus": 3"#), "`cpus` wants an array of CPU numbers such as [0, 2]", "3"),
        (task(r#""run": 1, "cpus": ["0"]"#), "`cpus` wants CPU numbers, not a string", "\"0\""),
        (task(r#""run": 1, "cpus": [-1]"#), "`cpus` is -1, but must be 0", "-1"),
        (task(r#""run": 1, "cpus": []"#), "`cpus` is empty; name at least one CPU", "[]"),
        (r#"{"tasks": {"t": 1}}"#.into(), "`t` wants an object", "1"),
        (r#"{"tasks": []}"#.into(), "`tasks` wants an object", "[]"),
        (r#"{"global": 1, "tasks": {"t": {"run": 1}}}"#.into(), "`global` wants an object", "1"),
        (r#"{"global": {"duration": -2}, "tasks": {"t": {"run": 1}}}"#.into(), "`duration` is -2", "-2"),
        (
            r#"{"global": {"gnuplot": 1}, "tasks": {"t": {"run": 1}}}"#.into(),
            "`gnuplot` wants true or false",
            "1",
        ),
        (
            r#"{"global": {"calibration": []}, "tasks": {"t": {"run": 1}}}"#.into(),
            "`calibration` wants",
            "[]",
        ),
        (
            r#"{"global": {"mem_buffer_size": 0}, "tasks": {"t": {"run": 1}}}"#.into(),
            "`mem_buffer_size` is 0",
            "0",
        ),
    ] {
        let (got, got_marked) = refuse(&text);
        assert!(got.contains(message), "{got}\nwanted: {message}");
        assert_eq!(got_marked, marked, "{text}");
    }
}

#[test]
fn priorities_have_the_range_of_their_policy() {
    let with = |policy: &str, priority: i32| {
        task(&format!(r#""policy": "{policy}", "priority": {priority}, "run": 1"#))
    };
    for (policy, priority) in
        [("SCHED_OTHER", -20), ("SCHED_OTHER", 19), ("SCHED_BATCH", 0), ("SCHED_FIFO", 1), ("SCHED_RR", 99)]
    {
        accept(&with(policy, priority));
    }
    for (policy, priority) in
        [("SCHED_OTHER", -21), ("SCHED_BATCH", 20), ("SCHED_FIFO", 0), ("SCHED_RR", 100)]
    {
        let (message, marked) = refuse(&with(policy, priority));
        assert!(message.contains(&format!("`priority` is {priority}, but must be")), "{message}");
        assert_eq!(marked, priority.to_string());
    }
    let idle = accept(&with("SCHED_IDLE", 7));
    assert_eq!(note(&idle, NoteKind::IdlePriority), Some((1, vec!["priority"])));
    // In a phase that gives only a priority, the policy of the phase before it counts.
    let phases = |priority: i32| {
        task(&format!(
            r#""phases": {{"a": {{"policy": "SCHED_FIFO", "run": 1}},
                "b": {{"priority": {priority}, "run": 1}}}}"#
        ))
    };
    accept(&phases(50));
    let (message, _) = refuse(&phases(-5));
    assert!(message.contains("must be 1 to 99 (a real-time priority)"), "{message}");
}

#[test]
fn unknown_words_name_the_known_ones() {
    for (text, message) in [
        (task(r#""policy": "SCHED_NORMAL", "run": 1"#), "use one of SCHED_OTHER, SCHED_BATCH, SCHED_IDLE"),
        (task(r#""timer": {"ref": "a", "period": 1, "mode": "abs"}"#), "use one of relative, absolute"),
        (
            r#"{"resources": {"m": {"type": "mutx"}}, "tasks": {"t": {"run": 1}}}"#.into(),
            "use one of mutex, wait",
        ),
        (
            r#"{"global": {"ftrace": "sched"}, "tasks": {"t": {"run": 1}}}"#.into(),
            "use one of none, main, task",
        ),
        (
            r#"{"global": {"calibration": "GPU0"}, "tasks": {"t": {"run": 1}}}"#.into(),
            "use one of CPU0, CPU1",
        ),
    ] {
        let (got, _) = refuse(&text);
        assert!(got.contains(message), "{got}");
    }
}

/// rt-app's doc/examples/custom-slice.json: `dl-runtime` of a fair task is EEVDF's slice.
#[test]
fn the_runtime_of_a_fair_task_is_a_slice_and_other_parameters_of_deadline_tasks_have_no_effect() {
    let app =
        accept(&task(r#""policy": "SCHED_OTHER", "priority": -19, "dl-runtime": 100000, "run": 20000"#));
    assert_eq!(note(&app, NoteKind::FairSlice), Some((1, vec!["dl-runtime"])));
    assert!(app.notes()[0].to_string().contains("kernels honour it from 6.12 on"), "{}", app.notes()[0]);
    let app = accept(&task(r#""policy": "SCHED_FIFO", "dl-runtime": 5, "dl_period": 9, "run": 1"#));
    assert_eq!(note(&app, NoteKind::DeadlineUnused), Some((2, vec!["dl-runtime", "dl_period"])));
    let phase = r#""policy": "SCHED_RR", "phases": {"a": {"dl-runtime": 5, "run": 1},
                   "b": {"policy": "SCHED_BATCH", "dl-runtime": 500, "run": 1}}"#;
    let app = accept(&task(phase));
    let counts = [NoteKind::DeadlineUnused, NoteKind::FairSlice].map(|kind| note(&app, kind).map(|n| n.0));
    assert_eq!(counts, [Some(1), Some(1)]);
}

/// eevdf-class 0.6: 0.1 to 100 ms, or none.
#[test]
fn a_slice_that_no_kernel_takes_is_refused() {
    let slice = |us: u32| task(&format!(r#""dl-runtime": {us}, "run": 1"#));
    for us in [99, 100_001] {
        let (error, _) = refuse(&slice(us));
        assert!(error.contains("must be 100 to 100000 µs"), "{error}");
    }
    for us in [0, 100, 100_000] {
        accept(&slice(us));
    }
}

#[test]
fn clamps_that_no_kernel_takes_are_refused() {
    for (member, message) in [
        (r#""util_min": 513, "util_max": 512"#, "`util_min` is above `util_max`"),
        (r#""util_max": 2000"#, "`util_max` is 2000, but must be -1 to 1024"),
    ] {
        for text in [
            task(&format!(r#"{member}, "run": 1"#)),
            task(&format!(r#""phases": {{"p": {{{member}, "run": 1}}}}"#)),
        ] {
            let (got, _) = refuse(&text);
            assert!(got.contains(message), "{got}");
        }
    }
    let app = accept(&task(r#""taskgroup": "", "util_min": 0, "util_max": 1024, "run": 1"#));
    assert_eq!(note(&app, NoteKind::NoUseHere), Some((1, vec!["taskgroup"])));
    assert!(parse(&task(r#""util_max": -1, "run": 1"#), "f", RtAppDialect::Workgen).is_ok());
}

/// The threads of a task, with those that they fork, begin in its group; `/` is the root.
#[test]
fn a_taskgroup_is_a_group_of_the_machine() {
    let app = accept(
        r#"{"tasks": {"a": {"taskgroup": "/x/y", "instance": 2, "run": 1},
                      "b": {"taskgroup": "/", "phases": {"p": {"taskgroup": "/", "run": 1}}},
                      "c": {"taskgroup": "x", "run": 1},
                      "d": {"run": 1}}}"#,
    );
    let mut setup = Setup::new(1);
    app.build(&mut setup).expect("it fits");
    let paths: Vec<&str> = setup.groups().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(paths, ["x", "x/y"]);
    let groups: Vec<_> = setup.into_tasks().into_iter().map(|task| task.spec.group).collect();
    let [y, x, root] = [GroupId(2), GroupId(1), GroupId::ROOT].map(Some);
    assert_eq!(groups, [y, y, root, x, None]);
}

#[test]
fn a_group_that_cannot_be_and_a_phase_in_another_one_are_refused() {
    let (error, marked) = refuse(&task(r#""taskgroup": "/a//b", "run": 1"#));
    assert!(error.contains("`a//b` is no path of a group") && marked.contains("/a//b"), "{error}");
    let moves = r#""taskgroup": "/a", "phases": {"p": {"taskgroup": "/b", "run": 1}}"#;
    let (error, marked) = refuse(&task(moves));
    assert!(error.contains("`taskgroup` asks for another control group than its task"), "{error}");
    assert_eq!(marked, r#""taskgroup""#);
}

/// To rt-app a memory binding is an event, so that such a phase is not empty.
#[test]
fn a_phase_may_only_bind_memory_and_a_log_folder_may_be_null() {
    let app = accept(&task(r#""loop": 2, "phases": {"bind": {"membind_nodes": [0]}, "work": {"run": 10}}"#));
    assert_eq!(note(&app, NoteKind::NotModelled), Some((1, vec!["membind_nodes"])));
    let app = accept(r#"{"global": {"logdir": null}, "tasks": {"t": {"run": 1}}}"#);
    assert_eq!(note(&app, NoteKind::NoUseHere), Some((1, vec!["logdir"])));
    refuse(r#"{"global": {"logdir": 5}, "tasks": {"t": {"run": 1}}}"#);
}

#[test]
fn keys_that_look_misspelt_are_refused_and_others_are_noted() {
    let (message, marked) = refuse(&task(r#""run": 1, "slep": 5"#));
    assert!(message.ends_with("unknown event or property `slep`; did you mean `sleep`?"), "{message}");
    assert_eq!(marked, "\"slep\"");
    let app = accept(
        r#"{"comment": 1, "global": {"frag": 1, "spacing": 2},
            "tasks": {"t": {"note": "x", "run": 1, "nodes_membind": [0], "period": 7,
                            "timer": {"ref": "a", "period": 1, "colour": 2}}}}"#,
    );
    assert_eq!(
        note(&app, NoteKind::Unknown),
        Some((5, vec!["comment", "frag", "spacing", "note", "colour"]))
    );
    assert_eq!(note(&app, NoteKind::NotModelled), Some((1, vec!["nodes_membind"])));
    assert_eq!(note(&app, NoteKind::DeadlineUnused), Some((1, vec!["period"])));
}

#[test]
fn files_and_tasks_must_do_something() {
    for (text, message) in [
        ("{}".to_owned(), "the file defines no task"),
        (r#"{"tasks": {}}"#.to_owned(), "the file defines no task"),
        (task(""), "`t` has no event"),
        (task(r#""loop": 5"#), "`t` has no event"),
        (task(r#""phases": {}"#), "`t` has no event"),
        (task(r#""phases": {"p": {"loop": 3}}"#), "`p` has no event"),
        (task(r#""instance": 1000000, "run": 1"#), "asks for 1000000 threads, more than 32768"),
    ] {
        let (got, _) = refuse(&text);
        assert!(got.contains(message), "{got}");
    }
}

#[test]
fn events_need_their_members_and_their_targets() {
    for (event, message) in [
        (r#""timer": {"period": 5}"#, r#"`timer` has no "ref"; write "timer": {"ref": …}"#),
        (r#""timer": {"ref": "a"}"#, r#"`timer` has no "period""#),
        (r#""wait": {"mutex": "m"}"#, r#"`wait` has no "ref""#),
        (r#""sync": {"ref": "c"}"#, r#"`sync` has no "mutex""#),
        (r#""fork": "nobody""#, r#"`fork` names the task "nobody", which the file does not define"#),
    ] {
        let (got, _) = refuse(&task(event));
        assert!(got.contains(message), "{got}");
    }
    let barrier = r#"{"tasks": {"a": {"fork": "b"}, "b": {"instance": 0, "barrier": "x", "run": 1}}}"#;
    let (got, marked) = refuse(barrier);
    assert!(got.contains(r#"task "b" is forked and waits at the barrier "x""#), "{got}");
    assert_eq!(marked, r#""barrier": "x""#);
}

#[test]
fn locks_are_followed_through_loops_and_phases() {
    for (members, message, marked) in [
        (r#""lock": "m", "run": 1"#, r#"would wait for itself: it holds "m" already"#, r#""lock": "m""#),
        (
            r#""loop": 1, "lock": "m", "run": 1"#,
            r#"ends while it holds "m"; add "unlock": "m""#,
            r#""run": 1"#,
        ),
        (r#""run": 1, "unlock": "m""#, r#"does not hold "m" here"#, r#""unlock": "m""#),
        (
            r#""wait": {"ref": "c", "mutex": "m"}"#,
            r#"does not hold "m" here; put "lock": "m" before"#,
            r#""wait": {"ref": "c", "mutex": "m"}"#,
        ),
        (r#""lock": "t", "suspend", "unlock": "t""#, "suspend and resume lock the mutex", r#""suspend""#),
        (
            r#""phases": {"a": {"loop": 2, "lock": "m"}, "b": {"unlock": "m"}}"#,
            "would wait for itself",
            r#""lock": "m""#,
        ),
    ] {
        let (got, got_marked) = refuse(&task(members));
        assert!(got.contains(message), "{got}");
        assert_eq!(got_marked, marked);
    }
    accept(&task(r#""phases": {"a": {"lock": "m"}, "b": {"loop": 3, "run": 1}, "c": {"unlock": "m"}}"#));
    accept(&task(r#""lock": "a", "lock": "b", "unlock": "a", "unlock": "b""#));
    accept(&task(r#""phases": {"a": {"loop": -1, "run": 1}, "never": {"unlock": "m"}}"#));
}

#[test]
fn what_a_user_should_know_is_noted() {
    let app = accept(
        r#"{"global": {"io_device": "/tmp/file"}, "tasks": {
            "a": {"suspend": "lost", "iorun": 5},
            "b": {"sem_wait": "s"},
            "c": {"sync": {"ref": "c", "mutex": "m"}}}} tail"#,
    );
    assert_eq!(note(&app, NoteKind::NeverWoken), Some((2, vec!["lost", "s"])));
    assert_eq!(note(&app, NoteKind::SyncLocks), Some((1, vec!["m"])));
    assert_eq!(note(&app, NoteKind::Trailing), Some((1, vec![])));
    assert_eq!(note(&app, NoteKind::DeviceAsCopy), Some((1, vec!["iorun"])));
}

#[test]
fn cpus_must_exist_on_the_machine() {
    let text = task(r#""cpus": [1, 4], "run": 1"#);
    let app = accept(&text);
    assert!(app.build(&mut Setup::new(8)).is_ok());
    let Err(LoadError::RtApp(error)) = app.build(&mut Setup::new(4)) else { panic!("CPU 4 of 4") };
    assert_eq!(error.fault(), &Fault::NoSuchCpu { cpu: 4, count: 4 });
    assert_eq!(&text[error.place().span.clone()], "4");
    assert!(
        error
            .to_string()
            .ends_with("CPU 4 does not exist: this machine has 4; use CPUs 0 to 3, or a machine with more")
    );
    let far = accept(&task(r#""phases": {"p": {"cpus": [100000], "run": 1}}"#));
    assert!(far.build(&mut Setup::new(4)).is_err());
}

#[test]
fn the_length_is_the_duration_or_the_work() {
    let length = |duration: i32, members: &str| {
        accept(&format!(
            r#"{{"global": {{"duration": {duration}}}, "tasks": {{"t": {{{members}}},
                "child": {{"instance": 0, "run": 1}}}}}}"#
        ))
        .length()
    };
    assert_eq!(length(3, r#""run": 1"#), Length::Time(Nanos::from_secs(3)));
    assert_eq!(length(-1, r#""run": 1"#), Length::Endless);
    assert_eq!(length(0, r#""run": 1, "loop": 5"#), Length::Work);
    assert_eq!(length(-1, r#""loop": 1, "phases": {"p": {"loop": -1, "run": 1}}"#), Length::Endless);
}

#[test]
fn errors_carry_line_and_column_behind_what_was_added() {
    let text = "{\n  \"tasks\": {\n    \"é\": { \"suspend\", \"run\": -1 }\n  }\n}\n";
    let error = read(text).expect_err("negative");
    assert_eq!((error.place().line, error.place().column), (3, 30));
    assert_eq!(&text[error.place().span.clone()], "-1");
    let syntax = read("{\n  \"tasks\": {\n    \"t\": { \"run\" 5 }\n  }\n}\n").expect_err("no colon");
    assert_eq!(syntax.place().line, 3);
    assert!(syntax.to_string().contains("not JSON that rt-app reads"), "{syntax}");
}

#[test]
fn mutated_files_never_panic() {
    let texts = [include_str!("rtapp/pipeline.json"), include_str!("rtapp/modes.json")];
    for text in texts {
        let bytes = text.as_bytes();
        for at in 0..bytes.len() {
            for with in [b"".as_slice(), b"\"", b"{", b"}", b"-", b"9", b",", b"*/", b"\xff"] {
                let mut mutated = bytes[..at].to_vec();
                mutated.extend_from_slice(with);
                mutated.extend_from_slice(&bytes[at + 1..]);
                let mutated = String::from_utf8_lossy(&mutated);
                if let Ok(app) = read(&mutated) {
                    let _ = app.build(&mut Setup::new(2)).map(|load| load.result("file.json"));
                }
            }
        }
    }
}
