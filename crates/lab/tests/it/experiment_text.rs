//! Experiments as text: whatever can be said is read back as the same, and runs the same.

use lab::schema::{
    ExperimentText, FileText, GroupText, KernelChange, LoadText, MachineText, MemberText, RecordedGroups,
    RecordedLocks, RtAppDialect, Stretch, WakeupCosts,
};
use lab::{
    Error, Experiment, Files, KernelConfig, LoadSpec, Nanos, RunResult, TaskOptions, deadlines, load_text,
    machine, machine_text,
};

const TRACE: &[u8] = include_bytes!("../../../trace/tests/fixtures/mix-rr.dat");
const RT_APP: &str = r#"{ "tasks": { "t": { "loop": 3, "run": 1000, "sleep": 9000, "run": 500 } } }"#;

/// A recording, the workload file that is made of it, an rt-app file and a machine.
fn files() -> Files {
    let laptop = machine_text("laptop", &Files::new()).expect("a machine of the program");
    let mut files = Files::from([
        ("mix.dat".to_owned(), TRACE.to_vec()),
        ("app.json".to_owned(), RT_APP.into()),
        ("my.toml".to_owned(), laptop.replace("\"laptop\"", "\"mine\"").into()),
    ]);
    let load = LoadSpec::open("mix.dat", &files).expect("a trace");
    let workload = load.workload_text(&files).expect("no file is needed").expect("a recording");
    files.insert("mix.workload".to_owned(), workload.into());
    files
}

fn of_loads(loads: &[&str], file: &FileText, files: &Files) -> ExperimentText {
    let loads = loads.iter().map(|load| load_text(load, file, files)).collect();
    let duration_ns = Some(Nanos::from_millis(30).0);
    ExperimentText { loads, duration_ns, ..ExperimentText::default() }
}

fn run(experiment: &Experiment) -> RunResult {
    experiment.run().expect("it runs").result
}

/// Opens it, writes it down, reads that through JSON and opens it once more: the same text, the same result.
/// Gives the text as it was written down.
fn round_trip(text: &ExperimentText, files: &Files) -> ExperimentText {
    let first = Experiment::open(text, files).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let result = run(&first);
    let json = result.to_json();
    let written = RunResult::from_json(&json).expect("our own JSON").experiment.expect("it can be written");
    let again = Experiment::open(&written, files).unwrap_or_else(|error| panic!("{written:?}: {error}"));
    assert_eq!(again.text().as_ref(), Some(&written));
    assert!(run(&again).to_json() == json, "another result of {written:?}");
    written
}

#[test]
fn every_standard_load_runs_again() {
    let files = Files::new();
    for entry in lab::workload::load::entries() {
        let text = of_loads(&[entry.name], &FileText::default(), &files);
        let written = round_trip(&text, &files);
        assert_eq!(written.loads, [LoadText { load: entry.name.to_owned(), file: None }]);
        assert_eq!(
            (written.seed, written.duration_ns, written.kernel.as_deref()),
            (1, Some(30_000_000), Some(lab::DEFAULT_PROFILE))
        );
    }
}

#[test]
fn every_kind_of_file_runs_again_and_only_with_the_same_content() {
    for name in ["mix.dat", "mix.workload", "app.json"] {
        let mut files = files();
        let text = of_loads(&[name, "hog"], &FileText::default(), &files);
        let written = round_trip(&text, &files);
        let file = written.loads[0].file.as_ref().expect("a file");
        assert_eq!(file.xxh128.as_ref().map(String::len), Some(32), "{name}");
        let mut bytes = files.remove(name).expect("it is there");
        let error = |files: &Files| Experiment::open(&written, files).expect_err("not the same").to_string();
        assert_eq!(error(&files), format!("{name}: no such file"));
        bytes.extend_from_slice(b"\n");
        files.insert(name.to_owned(), bytes);
        assert!(
            matches!(Experiment::open(&written, &files), Err(Error::Changed { .. })),
            "{}",
            error(&files)
        );
        assert!(error(&files).starts_with(&format!("{name} has changed: ")), "{}", error(&files));
        let any =
            ExperimentText { loads: vec![load_text(name, &FileText::default(), &files)], ..text.clone() };
        assert!(Experiment::open(&any, &files).is_ok(), "a text without a hash takes any content");
    }
}

/// A name that is a file's and a command's means what it meant.
#[test]
fn a_load_is_no_file_because_somebody_made_one_of_its_name() {
    let files = Files::from([("hog -n 2".to_owned(), b"no load".to_vec())]);
    let command = of_loads(&["hog -n 2"], &FileText::default(), &Files::new());
    assert!(Experiment::open(&command, &files).is_ok());
    assert!(Experiment::open(&of_loads(&["hog -n 2"], &FileText::default(), &files), &files).is_err());
}

/// Written by hand, a recording's name is enough.
#[test]
fn a_file_needs_no_word_on_how_it_is_read() {
    let files = files();
    let text = ExperimentText::from_json("{\"loads\": [{\"load\": \"mix.dat\"}]}").expect("an experiment");
    let read = Experiment::open(&text, &files).expect("a recording");
    let written = of_loads(&["mix.dat"], &FileText::default(), &files);
    let loads = |experiment: Experiment| experiment.text().expect("written down").loads;
    assert_eq!(loads(read), loads(Experiment::open(&written, &files).expect("a recording")));
}

fn group(name: &str, settings: &[&str]) -> GroupText {
    GroupText { name: name.to_owned(), settings: settings.iter().map(|&word| word.to_owned()).collect() }
}

fn member(group: &str, task: &str) -> MemberText {
    MemberText { group: group.to_owned(), task: task.to_owned() }
}

/// Each option by itself on top of the same experiment: written down again, with an effect on what is
/// written.
#[test]
fn every_option_is_in_the_text() {
    let files = files();
    let plain = || of_loads(&["mix.dat", "app.json"], &FileText::default(), &files);
    let of_file = |change: fn(&mut FileText)| {
        let mut text = plain();
        text.loads.iter_mut().filter_map(|load| load.file.as_mut()).for_each(change);
        text
    };
    let of_all = |change: fn(&mut ExperimentText)| {
        let mut text = plain();
        change(&mut text);
        text
    };
    let named = |name: &str| MachineText { name: Some(name.to_owned()), ..MachineText::default() };
    let mut on_mine = plain();
    on_mine.machine = named("my.toml");
    let mut from_vm2 = plain();
    from_vm2.loads[0].file.as_mut().expect("a file").recorded_on = Some(named("vm2"));
    let all = [
        of_file(|file| file.dialect = RtAppDialect::RtApp),
        of_file(|file| file.locks = RecordedLocks::Recorded),
        of_file(|file| file.groups = RecordedGroups::Flat),
        of_file(|file| file.wakeup_costs = WakeupCosts::Machine),
        of_file(|file| file.changes = vec![vec!["policy=*=batch".to_owned()]]),
        of_file(|file| file.changes = vec![vec!["nice=*=5".to_owned()], vec!["nice=*=3".to_owned()]]),
        of_file(|file| file.changes = vec![vec!["affinity=*=0".to_owned(), "scale=*=2.000000".to_owned()]]),
        of_file(|file| file.changes = vec![vec!["outside=*=relative".to_owned()]]),
        of_file(|file| file.changes = vec![vec!["without=*".to_owned()]]),
        of_file(|file| file.recorded_on = Some(MachineText::default())),
        from_vm2,
        on_mine,
        of_all(|text| text.machine.cpus = Some(3)),
        of_all(|text| text.machine.name = Some("vm2".to_owned())),
        of_all(|text| text.kernel = Some("2.6.36".to_owned())),
        of_all(|text| text.kernel = Some("debian12".to_owned())),
        of_all(|text| {
            let change = |at_ns, setting: &str| KernelChange { at_ns, setting: setting.to_owned() };
            text.settings = vec![change(0, "search=linear"), change(7_000_001, "NO_WAKEUP_PREEMPT")];
        }),
        of_all(|text| text.groups = vec![group("web", &["cpu.max:200000/100000", "cpu.weight:300"])]),
        of_all(|text| text.groups = vec![group("web", &["cpu.max:200000/100000"])]),
        of_all(|text| {
            text.groups = vec![group("a/b", &[])];
            text.members = vec![member("a/b", "*"), member("a", "t*")];
        }),
        of_all(|text| text.autogroup = true),
        of_all(|text| text.isolcpus = Some("1".to_owned())),
        of_all(|text| text.deadlines = vec![deadlines::deadline("t*=1ms/10ms,reclaim").expect("legal")]),
        of_all(|text| text.nohz_full = Some("1".to_owned())),
        of_all(|text| text.seed = u64::MAX),
        of_all(|text| text.duration_ns = None),
        of_all(|text| text.stretch = Some(Stretch { from_ns: 1_000_000, to_ns: Some(20_000_000) })),
        of_all(|text| text.stretch = Some(Stretch { from_ns: 0, to_ns: None })),
        of_all(|text| text.tasks = vec!["*".to_owned()]),
        of_all(|text| text.dumps = vec!["schedstat@10ms".to_owned(), "sched_debug@end".to_owned()]),
        of_all(|text| text.check = true),
        of_all(|text| text.why = true),
        of_all(|text| text.without_fidelity = true),
    ];
    let mut written = vec![round_trip(&plain(), &files)];
    for text in &all {
        let again = round_trip(text, &files);
        assert!(!written.contains(&again), "{text:?} is not told from another");
        written.push(again);
    }
}

/// The machine and the kernel that a recording decides are said in so many words, and so is the content of
/// the machine's file.
#[test]
fn what_a_recording_decides_is_written_down() {
    let mut files = files();
    let mine = files.remove("my.toml").expect("it is there");
    files.insert("mix.dat.machine.toml".to_owned(), mine.clone());
    let here = FileText { recorded_on: Some(MachineText::default()), ..FileText::default() };
    let written =
        round_trip(&ExperimentText { duration_ns: None, ..of_loads(&["mix.dat"], &here, &files) }, &files);
    assert_eq!(written.machine.name.as_deref(), Some("mix.dat.machine.toml"));
    assert_eq!(written.machine.content.as_deref(), std::str::from_utf8(&mine).ok());
    assert!(written.machine.cpus.is_some() && written.kernel.is_some());
    assert_eq!(written.loads[0].file.as_ref().and_then(|file| file.recorded_on.clone()), here.recorded_on);
}

#[test]
fn what_was_made_by_other_means_is_not_written_down() {
    let experiment = || {
        let mut experiment = Experiment::new(machine("laptop", Some(1), &Files::new()).expect("a machine"));
        experiment.loads.push(LoadSpec::open("hog", &Files::new()).expect("a load"));
        experiment.duration = Some(Nanos::from_millis(1));
        experiment
    };
    assert!(run(&experiment()).experiment.is_some());
    let of_own_machine = Experiment { machine: experiment().machine.spec().clone().into(), ..experiment() };
    assert_eq!(run(&of_own_machine).experiment, None);
    let mut with_own_load = experiment();
    let cycle = || lab::workload::program::Block::new().run(Nanos::from_micros(10));
    let own = lab::workload::load::OwnProgram::new("own", lab::workload::load::Length::Endless, cycle);
    with_own_load.loads.push(LoadSpec::new("own", own));
    assert_eq!(with_own_load.text(), None);
}

/// Changes that are made one after the other are not those that are made at once.
#[test]
fn changes_of_tasks_keep_their_order() {
    let files = files();
    let words = |word: &str| TaskOptions::of_words(&[word.to_owned()]).expect("legal");
    let mut experiment = Experiment::new(machine("laptop", Some(2), &files).expect("a machine"));
    let load = LoadSpec::open("mix.dat", &files).expect("a trace");
    experiment.loads.push(load.with_tasks(&words("nice=*=1")).with_tasks(&words("policy=*=idle")));
    experiment.kernel = KernelConfig::of_name("4.1").expect("a profile");
    let text = experiment.text().expect("it can be written");
    assert_eq!(text.loads[0].file.as_ref().expect("a file").changes, [["nice=*=1"], ["policy=*=idle"]]);
    round_trip(&text, &files);
}

#[test]
fn a_stretch_that_ends_before_it_begins_is_refused() {
    let stretch = Some(Stretch { from_ns: 500_000_000, to_ns: Some(200_000_000) });
    let text = ExperimentText { stretch, ..of_loads(&["hog"], &FileText::default(), &Files::default()) };
    let error = Experiment::open(&text, &Files::default()).expect_err("nothing in between").to_string();
    assert!(error.starts_with("the stretch from 500ms to 200ms"), "{error}");
}
