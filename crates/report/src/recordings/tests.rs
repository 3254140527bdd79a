use super::example::{around, recording};
use super::*;

fn of(result: &RecordingsComparison, figure: Figure) -> &FigureDifference {
    let found = result.figures.iter().find(|one| one.comm.is_some() && one.figure == figure);
    found.expect("a figure of the command")
}

#[test]
fn names_of_the_recorded_command_come_first() {
    let (mut first, mut second) = (example::first(), example::second());
    for recording in [&mut first, &mut second] {
        recording.commands.insert("make".to_owned(), CommandSamples::default());
    }
    let names = |first: &Recording| -> Vec<String> {
        compare_recordings(first, &second).commands.into_iter().map(|both| both.comm).collect()
    };
    assert_eq!(names(&first), ["a", "make"], "by CPU time");
    first.commands.get_mut("make").expect("it is there").of_command = true;
    assert_eq!(names(&first), ["make", "a"]);
}

#[test]
fn what_is_three_times_as_long_comes_before_what_is_twice_as_often() {
    let first = recording(&around(1_000), |n| 10 + n % 3);
    let second = recording(&around(3_000), |n| 2 * (10 + n % 3));
    let result = compare_recordings(&first, &second);
    let verdict = |figure| of(&result, figure).verdict;
    assert_eq!(verdict(Figure::LatencyMean), Verdict::Changed);
    assert_eq!(verdict(Figure::VoluntarySwitches), Verdict::Changed);
    assert_eq!(verdict(Figure::CpuTime), Verdict::Identical);
    assert_eq!(verdict(Figure::LatencyP99), Verdict::Untested, "40 latencies have no 99 %");
    let place = |figure| result.figures.iter().position(|one| one.figure == figure).expect("there");
    assert!(place(Figure::LatencyMean) < place(Figure::VoluntarySwitches));
    // 20 windows of 1/20 s, 10.95 switches in each.
    let switches = of(&result, Figure::VoluntarySwitches);
    assert_eq!([switches.first, switches.second], [219.0, 438.0]);
    assert!(switches.interval.expect("20 windows").contains(219.0));
    assert_eq!(of(&result, Figure::LatencyMean).difference, 2_000.0);
    assert_eq!(of(&result, Figure::CpuTime).first, 0.5);
}

#[test]
fn a_recording_does_not_differ_from_itself() {
    let one = recording(&around(1_000), |n| n);
    let result = compare_recordings(&one, &one);
    assert_eq!(result.count(Verdict::Identical), result.figures.len());
}

/// One burst in one window of the second: its rate is higher, but by no more than windows differ.
#[test]
fn one_busy_window_is_no_change() {
    let first = recording(&around(1_000), |n| 10 + n % 5);
    let second = recording(&around(1_000), |n| if n == 7 { 100 } else { 10 + n % 5 });
    let result = compare_recordings(&first, &second);
    assert_eq!(of(&result, Figure::VoluntarySwitches).verdict, Verdict::NotSignificant);
}

#[test]
fn names_of_one_recording_only_are_listed_and_not_compared() {
    let first = recording(&around(1_000), |n| n);
    let mut second = first.clone();
    let command = second.commands.remove("a").expect("the only one");
    second.commands.insert("b".to_owned(), command);
    let result = compare_recordings(&first, &second);
    assert_eq!((result.only_in_first, result.only_in_second), (vec!["a".to_owned()], vec!["b".to_owned()]));
    assert!(result.commands.is_empty() && result.figures.iter().all(|figure| figure.comm.is_none()));
}
