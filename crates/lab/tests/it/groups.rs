//! Task groups through the library's front door: who is in them, and what they get.

use lab::schema::{ExperimentText, GroupResult, KernelChange, LoadText, MachineText, Stretch};
use lab::{Error, Experiment, Files, RunResult, groups};

/// Loads on one CPU for so long, with these groups and members.
fn text(loads: &[&str], seconds: u64, described: &[&str], members: &[&str]) -> ExperimentText {
    let load = |load: &&str| LoadText { load: (*load).to_owned(), file: None };
    ExperimentText {
        loads: loads.iter().map(load).collect(),
        machine: MachineText { cpus: Some(1), ..MachineText::default() },
        groups: described.iter().map(|word| groups::group(word).expect("a group")).collect(),
        members: members.iter().map(|word| groups::member(word).expect("a member")).collect(),
        duration_ns: Some(seconds * 1_000_000_000),
        check: true,
        ..ExperimentText::default()
    }
}

fn run(text: &ExperimentText) -> Result<RunResult, Error> {
    Ok(Experiment::open(text, &Files::new())?.run()?.result)
}

#[test]
fn a_group_whose_tasks_are_not_there_is_an_error() {
    let error = run(&text(&["hog -n 1"], 1, &["web"], &["web=hog", "web=hogg"])).expect_err("no hogg");
    assert!(matches!(error, Error::NobodyIn { .. }), "{error}");
    assert!(error.to_string().starts_with("group web: no task hogg began in the run"), "{error}");
    assert!(run(&text(&["hog -n 1"], 1, &["web"], &["web=hog", "web=100?"])).is_err(), "no name but a pid");
    assert!(run(&text(&["hog -n 1"], 1, &["web"], &["web=1000"])).is_ok());
    // Those that are forked later count, too.
    assert!(run(&text(&["make -j2 2"], 9, &["web"], &["web=cc1"])).is_ok());
}

#[test]
fn a_kernel_without_limits_refuses_one_before_the_run() {
    let old = ExperimentText {
        kernel: Some("2.6.36".to_owned()),
        ..text(&["hog -n 1"], 1, &["web=cpu.max:20000"], &["web=hog"])
    };
    let error = Experiment::open(&old, &Files::new()).expect_err("too old").to_string();
    assert_eq!(error, "group web: 2.6.36 has no cpu.max: it exists since 3.2");
}

/// The group of this name in the result of a run.
fn group(result: &RunResult, name: &str) -> GroupResult {
    result.groups.iter().find(|group| group.name == name).expect("a group of the experiment").clone()
}

fn share(result: &RunResult, name: &str) -> u64 {
    group(result, name).stat.share_permille
}

/// deadline-groups B13.1: 300 against 100, five hogs in each.
#[test]
fn shares_follow_the_weights() {
    let pids: Vec<String> = (1000..1005).map(|pid| format!("web={pid}")).collect();
    let mut members = vec!["db=hog"];
    members.extend(pids.iter().map(String::as_str));
    let result = run(&text(&["hog -n 10"], 10, &["web=cpu.weight:300", "db"], &members)).expect("it runs");
    assert!(share(&result, "web").abs_diff(750) <= 5, "{:?}", result.groups);
    assert!(share(&result, "db").abs_diff(250) <= 5, "{:?}", result.groups);
    assert_eq!(result.groups.iter().map(|group| group.weight).collect::<Vec<_>>(), [Some(300), Some(100)]);
}

/// deadline-groups B13.3: root{A 100 {A1 100, A2 300}, task T}: T 0.5, A1 0.125, A2 0.375.
#[test]
fn a_group_divides_what_it_has_among_the_groups_in_it() {
    let described = ["A/1=cpu.weight:100", "A/2=cpu.weight:300"];
    let result = run(&text(&["hog -n 3"], 10, &described, &["A/1=1000", "A/2=1001"])).expect("it runs");
    let told = ["A", "A/1", "A/2"].map(|name| share(&result, name));
    assert!(told.iter().zip([500, 250, 750]).all(|(got, due)| got.abs_diff(due) <= 10), "{told:?}");
}

/// deadline-groups B13.4: one task beside 40 of another session gets half, and not 1/41.
#[test]
fn each_load_is_a_session() {
    let text = ExperimentText { autogroup: true, ..text(&["hog -n 40", "hog -n 1"], 10, &[], &[]) };
    let result = run(&text).expect("it runs");
    assert!(share(&result, "autogroup-2").abs_diff(500) <= 10, "{:?}", result.groups);
}

/// deadline-groups B5: autogroup is without effect on who is in another group.
#[test]
fn who_is_in_a_group_is_in_no_session() {
    let text = ExperimentText { autogroup: true, ..text(&["hog -n 1"], 1, &["web"], &["web=hog"]) };
    let result = run(&text).expect("it runs");
    assert_eq!((share(&result, "web"), share(&result, "autogroup-1")), (1000, 0));
}

/// deadline-groups B6: 3/1027; the recording `idle-group` has 0.003 to 0.004.
#[test]
fn an_idle_group_makes_room() {
    let result = run(&text(&["hog -n 2"], 20, &["idle=cpu.idle:1", "web"], &["web=1000", "idle=1001"]))
        .expect("it runs");
    assert!((2..=5).contains(&share(&result, "idle")), "{:?}", result.groups);
    assert_eq!(group(&result, "idle").weight, None);
}

/// deadline-groups B7, the recording `bw-1hog`: 0.203 to 0.204 of the CPU, 31 of 31 periods throttled.
#[test]
fn a_limit_stops_a_hog() {
    let result = run(&text(&["hog -n 1"], 3, &["web=cpu.max:20000/100000"], &["web=hog"])).expect("it runs");
    let stat = group(&result, "web").stat;
    assert!((190..=210).contains(&(stat.usage_ns / 3_000_000)), "{stat:?}");
    assert!((29..=31).contains(&stat.nr_periods), "{stat:?}");
    assert!(stat.nr_throttled + 2 >= stat.nr_periods, "{stat:?}");
    assert!((2_250..=2_450).contains(&(stat.throttled_ns / 1_000_000)), "{stat:?}");
}

/// deadline-groups B7, the recording `bw-nested`: parent 50/100, a 40/100 with a hog, b with a hog and
/// without a limit: a 0.255 to 0.263, b 0.243 to 0.252, a is never throttled.
#[test]
fn of_nested_limits_the_smaller_one_counts() {
    let described = ["p=cpu.max:50000/100000", "p/a=cpu.max:40000/100000", "p/b"];
    let result = run(&text(&["hog -n 2"], 3, &described, &["p/a=1000", "p/b=1001"])).expect("it runs");
    let [a, b] = ["p/a", "p/b"].map(|name| group(&result, name).stat);
    for stat in [a, b] {
        assert!((235..=270).contains(&(stat.usage_ns / 3_000_000)), "{stat:?}");
    }
    assert_eq!(a.nr_throttled, 0);
    assert!(group(&result, "p").stat.nr_throttled >= 28, "{:?}", result.groups);
}

/// deadline-groups B7: what is not used in a period may be used in the next.
#[test]
fn a_burst_takes_the_throttling_away() {
    // Jobs of 45 ms, a fifth of the CPU in the mean.
    let jobs = "periodic -n 1 --period 225ms --run 45ms";
    let with = |burst: &str| {
        let described = format!("web=cpu.max:30000/100000{burst}");
        let result = run(&text(&[jobs], 5, &[&described], &["web=all"])).expect("it runs");
        group(&result, "web").stat.nr_throttled
    };
    let (without, with) = (with(""), with(",cpu.max.burst:30000"));
    // Before the first job nothing was saved.
    assert!(without >= 15 && with <= 1, "{without} periods without a burst, {with} with one");
}

/// rt-class 8.1, fair-placement 8.1: before 5.10 CPUs lend each other what they do not use of their share, so
/// a group has on one CPU what it has on two.
#[test]
fn a_run_in_which_cpus_lend_each_other_run_time_says_so() {
    let on_two = |kernel: &str, settings: &[&str]| {
        let setting = |text: &&str| KernelChange { at_ns: 0, setting: (*text).to_owned() };
        let described = ["audio=cpu.rt_runtime_us:100000,cpu.rt_period_us:1000000"];
        let text = ExperimentText {
            machine: MachineText { cpus: Some(2), ..MachineText::default() },
            kernel: Some(kernel.to_owned()),
            settings: [&["rt_throttle=groups"], settings].concat().iter().map(setting).collect(),
            ..text(&["hog -y fifo -p 50"], 2, &described, &["audio=hog"])
        };
        let result = run(&text).expect("it runs");
        let lent: Vec<String> =
            result.notes.iter().filter(|note| note.contains("RT_RUNTIME_SHARE")).cloned().collect();
        (group(&result, "audio").stat.usage_ns / 10_000_000, lent)
    };
    let (usage, notes) = on_two("5.4", &[]);
    // 100 and half of the other's 100, then half of what that has left, and so on each period.
    assert!((30..=41).contains(&usage), "{usage}");
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.starts_with("CPUs lent each other ") && note.contains("ms of real-time"), "{note}");
    let alone = (20, Vec::new());
    assert_eq!(on_two("5.4", &["NO_RT_RUNTIME_SHARE"]), alone);
    assert_eq!(on_two("5.10", &[]), alone);
}

/// A limit for nobody changes nothing, and who wrote it probably meant somebody.
#[test]
fn a_group_without_tasks_is_told_of() {
    let empty = |described: &[&str], members: &[&str]| -> Vec<String> {
        let machine = MachineText { cpus: Some(2), ..MachineText::default() };
        let text = ExperimentText { machine, ..text(&["hog -n 1"], 1, described, members) };
        let notes = run(&text).expect("it runs").notes;
        notes.into_iter().filter(|note| note.starts_with("no task was in ")).collect()
    };
    assert_eq!(
        empty(&["web=cpu.max:20000"], &[]),
        ["no task was in group web; say which are to be (in: web=TASK)"]
    );
    let some = empty(&["a", "a/b", "c", "d"], &["a/b=hog"]);
    assert!(matches!(&some[..], [note] if note.starts_with("no task was in groups c, d; ")), "{some:?}");
    assert_eq!(empty(&["a/b"], &["a/b=hog"]), [""; 0]);
    let partition = "a=cpuset.cpus:1,cpuset.cpus.partition:root";
    assert_eq!(empty(&[partition], &[]), [""; 0], "it divides the machine");
}

/// The table of groups has no part of a run; who asks for one is told.
#[test]
fn a_part_of_a_run_has_the_groups_of_all_of_it() {
    let told = |from_ns| {
        let stretch = Some(Stretch { from_ns, to_ns: None });
        let text = ExperimentText { stretch, ..text(&["hog -n 1"], 2, &["web=cpu.max:20000"], &["web=hog"]) };
        let result = run(&text).expect("it runs");
        let whole = result.notes.iter().any(|note| note.ends_with(" is told of the whole run"));
        (whole, group(&result, "web").stat.nr_periods)
    };
    let (is_told, periods) = told(1_000_000_000);
    assert!(is_told && periods >= 19, "{periods}");
}
