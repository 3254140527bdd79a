//! Recordings explained as they are.

use lab::schema::why::{Budget, Cause, Explanation, Precedence, WhyResult};
use lab::schema::{ExperimentText, LoadText, LogEvent, MachineText};
use lab::trace::WaitsMeant;
use lab::{
    AskedRecording, Change, Error, Experiment, Files, LoadSpec, Nanos, Programs, Question, RecordedQuestion,
    TraceFormat, Window, groups, machine, why, why_recorded,
};

const DEMO: &[u8] = include_bytes!("../../../../../demo/mix-rtover.dat");

/// Two tasks of which one is woken, without any switch to it.
const NO_END: &str = "\
    <idle>-0 [000] d... 1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> \
    next_comm=a next_pid=7 next_prio=120\n\
    a-7 [000] d... 1.000200: sched_wakeup: comm=b pid=8 prio=120 target_cpu=000\n\
    a-7 [000] d... 1.000300: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
    next_comm=swapper/0 next_pid=0 next_prio=120\n";

fn question(task: &str) -> RecordedQuestion {
    RecordedQuestion {
        tasks: vec![task.parse().expect("a task")],
        waits: WaitsMeant::Wakeups,
        worst: 2,
        at: None,
        window: None,
        blame: true,
    }
}

fn asked(question: &RecordedQuestion) -> Result<WhyResult, Error> {
    let no_end = NO_END.as_bytes().to_vec();
    let files = Files::from([("demo.dat".to_owned(), DEMO.to_vec()), ("no_end.txt".to_owned(), no_end)]);
    let file = if question.tasks[0].word() == "b" { "no_end.txt" } else { "demo.dat" };
    why_recorded(file, question, &files)
}

/// f1 goes before f2 and f2 before f3, by the priorities with which they were recorded.
#[test]
fn the_culprit_of_a_recording_is_named_and_blamed() {
    let result = asked(&question("f3")).expect("it is explained");
    assert_eq!((result.wakeups, result.explanations.len()), (171, 2));
    let [worst, next] = &result.explanations[..] else { panic!("two") };
    assert!(worst.latency >= next.latency);
    let longest = worst.stretches.iter().max_by_key(|stretch| stretch.length()).expect("stretches");
    let Cause::Running { task, precedence, .. } = &longest.cause else { panic!("{longest:?}") };
    assert_eq!((&*task.comm, *precedence), ("f2", Precedence::HigherPriority));
    let [blame] = &result.blame[..] else { panic!("one victim") };
    assert_eq!((&*blame.victim, blame.wakeups, blame.max), ("f3", 171, worst.latency));
    assert_eq!(blame.rows.iter().map(|row| row.all.0).sum::<u64>(), blame.total.0);
    assert!(blame.rows[0].due_to.starts_with("f2 runs"), "{}", blame.rows[0].due_to);
    assert!(result.notes.iter().any(|note| note.contains("no interrupts were recorded")));
}

/// On the recording's clock, or since its first event: the same wait.
#[test]
fn a_wait_is_found_by_its_time() {
    let worst = asked(&question("f3")).expect("explained").explanations.remove(0);
    let middle = Nanos((worst.due_at.0 + worst.first.0) / 2);
    // What `inspect` says: 3.04s from 5235.278371 s.
    let start = 5_235_278_371_000;
    for at in [middle, Nanos(middle.0 - start)] {
        let found = asked(&RecordedQuestion { at: Some(at), ..question("f3") }).expect("found");
        assert_eq!(found.explanations[0], worst, "{at:?}");
    }
}

#[test]
fn a_stretch_is_told_as_a_span_or_on_the_clock() {
    let start = Nanos::from_micros(5_235_278_371);
    let ask = |from: Nanos, to: Nanos| {
        asked(&RecordedQuestion { window: Some(Window { from, to }), ..question("f3") })
    };
    let [from, to] = [Nanos::from_secs(1), Nanos::from_secs(2)];
    let span = ask(from, to).expect("waits");
    assert!(!span.explanations.is_empty());
    assert_eq!(ask(start.saturating_add(from), start.saturating_add(to)).expect("waits"), span);
    let first = ask(Nanos::ZERO, to).expect("waits");
    assert_eq!(ask(Nanos::ZERO, start.saturating_add(to)).expect("waits"), first);
    assert!(ask(start.saturating_add(Nanos::from_secs(5)), Nanos::NEVER).is_err(), "behind its end");
}

#[test]
fn what_is_not_there_is_said() {
    let error = |question: &RecordedQuestion| asked(question).expect_err("not there").to_string();
    assert_eq!(error(&question("f33")), "there is no task f33; did you mean 'f3'?");
    assert_eq!(error(&question("8011")), "there is no task 8011; the nearest pid is 8010");
    assert!(error(&question("0")).starts_with("task 0 is the idle task of every CPU"));
    let nobody = error(&RecordedQuestion { at: Some(Nanos::from_secs(1)), ..question("f3") });
    assert!(nobody.starts_with("no wakeup is on its way at 1s; the nearest is due at "), "{nobody}");
    // 0.18 s before the first event: no span since that, as the recording is not as long.
    let before = error(&RecordedQuestion { at: Some(Nanos::from_millis(5_235_100)), ..question("f3") });
    assert!(before.contains("the nearest is due at 5235"), "{before}");
    assert!(error(&question("b")).starts_with("there is no wakeup that could be explained"));
    let window = |from, to| Some(Window { from: Nanos::from_secs(from), to });
    let behind = error(&RecordedQuestion { window: window(10, Nanos::NEVER), ..question("f3") });
    assert!(behind.contains("behind the end of the trace"), "{behind}");
}

/// Somebody runs of whom no switch tells that it came.
#[test]
fn lost_events_are_told_before_anybody_is_blamed() {
    let switch = |us, [prev, next]: [(&str, u32); 2]| {
        format!(
            "{0}-{1} [000] d... 1.000{us}: sched_switch: prev_comm={0} prev_pid={1} prev_prio=120 prev_state=S ==> \
             next_comm={2} next_pid={3} next_prio=120\n",
            prev.0, prev.1, next.0, next.1
        )
    };
    let [a, b, c] = [("a", 7), ("b", 8), ("c", 9)];
    let runs = NO_END.lines().take(2).collect::<Vec<_>>().join("\n");
    let lost = [runs, "\n".into(), switch(400, [c, b]), switch(500, [b, a]), switch(600, [a, b])].concat();
    let files = Files::from([("lost.txt".to_owned(), lost.into_bytes())]);
    let result = why_recorded("lost.txt", &question("b"), &files).expect("it is explained");
    let told = |note: &String| note.starts_with("data loss: ") && note.contains("events were lost");
    assert!(result.notes.first().is_some_and(told), "{:?}", result.notes);
}

/// Of the demo on a machine.
fn replay(on: &str) -> Experiment {
    let files = Files::from([("demo.dat".to_owned(), DEMO.to_vec())]);
    let mut replay = Experiment::new(machine(on, Some(2), &files).expect("a machine"));
    let recording = LoadSpec::open("demo.dat", &files).expect("a recording");
    replay.loads = vec![recording.recorded_on(&replay.machine)];
    replay.tasks = vec!["f3".parse().expect("a task")];
    replay.kernel.set(Change::parse("hz=250").expect("no time")).expect("a setting");
    replay
}

/// Where nothing costs time, the replay of this recording is 90 % off in latencies: what helps there is told
/// only to who asks for it. On the machine on which it was recorded it is fair.
#[test]
fn a_replay_that_is_far_off_does_not_say_what_would_have_helped() {
    let ask = |replay: &Experiment, tries, grade: &str| {
        let result = why(replay, Question { worst: 1, tries, ..Question::default() }).expect("explained");
        assert!(result.notes.iter().any(|note| note.contains(grade)), "{:?}", result.notes);
        result.explanations[0].remedies.is_some()
    };
    assert!(ask(&replay("vm2"), None, "and latency"));
    let far = replay("ideal");
    assert!(!ask(&far, None, "poor for latency"));
    assert!(ask(&far, Some(1), "poor for latency"));
}

/// In the run it has another one, and so have others, which are named by their recorded ones, too.
#[test]
fn a_task_of_a_replay_has_its_recorded_pid() {
    let recorded = asked(&question("f3")).expect("it is explained").explanations;
    let pid = recorded[0].task.pid;
    let by = |whom: &str| {
        let asked = Experiment { tasks: vec![whom.parse().expect("a task")], ..replay("vm2") };
        why(&asked, Question { worst: 1, ..Question::default() }).map(|found| found.explanations)
    };
    let by_name = by("f3").expect("it is explained");
    assert_eq!(by(&pid.0.to_string()).expect("recorded as this"), by_name);
    assert_eq!(by_name[0].task.pid, pid);
    let culprit = |explanations: &[Explanation]| {
        let causes = explanations.iter().flat_map(|one| &one.stretches).map(|stretch| &stretch.cause);
        let mut runs = causes.filter_map(|cause| match cause {
            Cause::Running { task, .. } if &*task.comm == "f2" => Some(task.pid),
            _ => None,
        });
        runs.next().expect("f2 goes before it")
    };
    assert_eq!(culprit(&by_name), culprit(&recorded));
    let missing = by(&(pid.0 + 10_000).to_string()).expect_err("nobody is called so").to_string();
    assert!(missing.contains("the nearest pid is "), "{missing}");
}

/// f2 (RT 20) goes before f3 (RT 10): a higher priority helps f3. Tasks have the pids of the recording.
#[test]
fn what_would_have_helped_in_a_recording_is_tried_in_its_replay() {
    let files = Files::from([("demo.dat".to_owned(), DEMO.to_vec())]);
    let ask = |on: &str, tries| {
        let mut asked = AskedRecording::open("demo.dat", &question("f3"), &files).expect("explained");
        asked.try_in(&replay(on), tries).expect("it runs");
        asked.why
    };
    let near = ask("vm2", None);
    let (one, next) = (&near.explanations[0], &near.explanations[1]);
    let remedies = one.remedies.as_ref().expect("it is near enough");
    assert!(next.remedies.is_none(), "of one only");
    let there = remedies.replayed.expect("a wait of the replay");
    let [latency, wanted] = [there.latency, one.latency].map(|time| time.0);
    assert!(latency >= wanted / 2 && latency <= 2 * wanted, "{latency} of {wanted}");
    // On the clock of the recording, which lasts 3.04 s.
    assert!(there.due_at.0.abs_diff(one.due_at.0) < 3_050_000_000);
    assert!(remedies.from < there.due_at);
    let helps: Vec<&str> = remedies.tried.iter().filter(|one| one.helps).map(|one| &*one.change).collect();
    assert!(helps.contains(&"f3 (8008) fifo:21"), "{helps:?}");
    assert!(near.notes.iter().any(|note| note.contains("was tried in a replay on machine vm2")));
    let far = ask("ideal", None);
    assert!(far.explanations.iter().all(|one| one.remedies.is_none()));
    assert!(far.notes.iter().any(|note| note.starts_with("what would have helped is not tried")));
    // Who insists is told.
    let insists = ask("vm2", Some(2));
    assert!(insists.explanations.iter().all(|one| one.remedies.is_some()));
}

/// When a group may not run on a CPU, nanoseconds.
struct Stopped {
    cpu: u16,
    from: u64,
    to: u64,
}

/// A run with its group, as a recorder would have it, and when the group might not run.
fn limited(loads: &[&str], cpus: u32, limit: &str) -> (Vec<u8>, Vec<Stopped>) {
    let load = |load: &&str| LoadText { load: (*load).to_owned(), file: None };
    let text = ExperimentText {
        loads: loads.iter().map(load).collect(),
        machine: MachineText { cpus: Some(cpus), ..MachineText::default() },
        groups: vec![groups::group(&format!("web={limit}")).expect("a group")],
        members: vec![groups::member("web=hog").expect("a member")],
        duration_ns: Some(2_000_000_000),
        ..ExperimentText::default()
    };
    let experiment = Experiment { record: true, ..Experiment::open(&text, &Files::new()).expect("sound") };
    let logged = experiment.run().expect("it runs").logged.expect("a log");
    let mut stopped: Vec<Stopped> = Vec::new();
    for record in &logged.log.records {
        let (at, last) = (record.time.0, u64::MAX);
        match record.event {
            LogEvent::ThrottleBegins { of_cpu, .. } => {
                stopped.push(Stopped { cpu: of_cpu.0, from: at, to: last });
            }
            LogEvent::ThrottleEnds { of_cpu, .. } => {
                let open = stopped.iter_mut().find(|one| one.cpu == of_cpu.0 && one.to == last);
                open.expect("it had begun").to = at;
            }
            _ => {}
        }
    }
    let mut trace = Vec::new();
    logged.write_trace(&mut trace, TraceFormat::TraceDat, Programs::LeftOut).expect("memory takes it");
    (trace, stopped)
}

/// The log of the run tells when its group could not run; of its trace, only the limit is known.
#[test]
fn a_limit_that_the_recording_names_is_told_for_as_long_as_it_holds() {
    let busy: (&[&str], u32) = (&["hog -n 2", "periodic -n 1 -p 20ms -r 15ms"], 1);
    let idle: (&[&str], u32) = (&["hog -n 1"], 1);
    let two: (&[&str], u32) = (&["hog -n 3", "periodic -n 2 -p 20ms -r 12ms"], 2);
    let mut throttled = 0;
    for ((loads, cpus), limit) in
        [(busy, "cpu.max:20000/100000"), (idle, "cpu.max:30000/100000"), (two, "cpu.max:60000/100000")]
    {
        let (trace, stopped) = limited(loads, cpus, limit);
        let files = Files::from([("limited.dat".to_owned(), trace)]);
        let asked = RecordedQuestion { waits: WaitsMeant::Runnable, worst: 500, ..question("hog") };
        let result = why_recorded("limited.dat", &asked, &files).expect("explained");
        assert!(result.notes.iter().all(|note| !note.contains("does not name")), "{:?}", result.notes);
        // The first period, of which the recording shows no beginning, and the last are left out.
        for one in
            result.explanations.iter().filter(|one| (200_000_000..1_800_000_000).contains(&one.due_at.0))
        {
            for stretch in &one.stretches {
                let (from, to, on) = (stretch.from.0, stretch.to.0, stretch.cpu.expect("a queue").0);
                let inside = |stop: &Stopped| stop.to.min(to).saturating_sub(stop.from.max(from));
                let really: u64 = stopped.iter().filter(|stop| stop.cpu == on).map(inside).sum();
                let told = matches!(&stretch.cause, Cause::Throttled {
                    budget: Budget::Group { group: Some(group) },
                    ..
                } if &**group == "/web");
                let said = if told { to - from } else { 0 };
                throttled += said;
                // On each CPU it may be one slice early, or late.
                let slices = 6_000_000 * u64::from(cpus);
                assert!(said.abs_diff(really) <= slices, "{loads:?}: {said} of {really}: {stretch:?}");
            }
        }
    }
    assert!(throttled > 3_000_000_000, "{throttled}");
}

/// Nobody is throttled: the group gets less than its limit, however long its tasks wait.
#[test]
fn a_limit_that_is_not_used_up_keeps_nobody_away() {
    let others = "periodic -n 3 -p 10ms -r 3ms";
    let (trace, stopped) = limited(&["hog -n 1", others], 1, "cpu.max:50000/100000");
    assert!(stopped.is_empty(), "it gets a quarter");
    let files = Files::from([("limited.dat".to_owned(), trace)]);
    let asked = RecordedQuestion { waits: WaitsMeant::Runnable, worst: 500, ..question("hog") };
    let result = why_recorded("limited.dat", &asked, &files).expect("explained");
    let stretches = result.explanations.iter().flat_map(|one| &one.stretches);
    assert!(stretches.clone().count() > 50);
    assert!(stretches.into_iter().all(|one| !matches!(one.cause, Cause::Throttled { .. })));
}
