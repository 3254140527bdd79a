//! Searches on simulated runs: what a scenario is, and that it can be run again.

use lab::machine::Redraw;
use lab::{Experiment, ExperimentText, Files, Nanos, Reading, Settings};
use schema::{LoadText, Log, LogRecord, SearchMethod, SearchResult, TuneDirection};
use tune::{Error, Goal, SearchRequest, Words, search};

fn text() -> ExperimentText {
    let load = |load: &str| LoadText { load: load.to_owned(), file: None };
    let loads = ["cyclictest -t8 -a -p95 -d0 -i200 -n", "periodic --random -n 2 -p 200 -r 50 -P 50"];
    let text = ExperimentText {
        loads: loads.map(load).into(),
        duration_ns: Some(5_000_000),
        ..ExperimentText::default()
    };
    Settings::parse("machine=seed001 cpus=8 kernel=4.0 NO_RT_PUSH_IPI").expect("settings").over(&text)
}

fn searched(goal: &str, method: SearchMethod, until: Option<&str>) -> Result<SearchResult, Error> {
    let files = Files::new();
    let text = text();
    let experiment = Experiment::open(&text, &files)?;
    let request = SearchRequest {
        words: Words { text, experiment, reading: &Reading::default(), recorded_on: None, base: "" },
        goal: Goal { text: goal.to_owned(), direction: TuneDirection::Maximize },
        method,
        runs: 96,
        until,
    };
    search(&request, &files, &|_| ())
}

fn log(redraws: Vec<Redraw>) -> Log {
    let experiment = Experiment::open(&text(), &Files::new()).expect("an experiment");
    let experiment = Experiment { redraws, record: true, ..experiment };
    experiment.run().expect("it runs").logged.expect("it was recorded").log
}

/// Up to the moment of a redraw two runs are one, and behind it they are not.
#[test]
fn a_redraw_leaves_the_past_alone() {
    const AT: Nanos = Nanos(2_000_000);
    let redraw = |seed| vec![Redraw { at: AT, seed }];
    let (plain, one, other) = (log(Vec::new()), log(redraw(7)), log(redraw(8)));
    let split = |log: &Log| -> (Vec<LogRecord>, Vec<LogRecord>) {
        log.records.iter().cloned().partition(|record| record.time.0 < AT.0)
    };
    let ((before, after), (before_one, after_one)) = (split(&plain), split(&one));
    let (before_other, after_other) = split(&other);
    assert!(before.len() > 100 && before == before_one && before == before_other);
    assert!(after != after_one && after_one != after_other && after != after_other);
}

#[test]
fn the_worst_run_can_be_run_again() {
    let found = searched("max(cyclictest)", SearchMethod::Guided, None).expect("an answer");
    let last = found.records.last().expect("runs");
    assert_eq!((found.runs, found.failed), (96, 0));
    let scenario = ExperimentText::from_json(&found.scenario()).expect("an experiment");
    let run = Experiment::open(&scenario, &Files::new()).expect("opened").run().expect("it runs").result;
    let figures = report::compare::measure(&run);
    let worst = figures.iter().find(|figure| figure.metric.key == found.metric.key).expect("its figure");
    assert_eq!(worst.value, last.value);
    let random = searched("max(cyclictest)", SearchMethod::Random, None).expect("an answer");
    assert!(random.experiment.redraws.is_empty());
}

#[test]
fn an_answer_does_not_depend_on_the_cores_and_ends_when_it_is_enough() {
    let on = |threads, until| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| searched("max(cyclictest)", SearchMethod::Guided, until).expect("an answer"))
    };
    assert_eq!(on(1, None), on(7, None));
    let enough = on(2, Some("5us"));
    let first = enough.records.iter().find(|record| record.value >= 5_000);
    assert_eq!((enough.runs, enough.reached.as_ref()), (16, first));
}

#[test]
fn mistakes_are_told() {
    let said = |goal, until| searched(goal, SearchMethod::Guided, until).expect_err("a mistake").to_string();
    assert!(said("max(cyclictets)", None).ends_with("did you mean `max(cyclictest)`?"));
    assert!(said("max(cyclictest)", Some("300")).contains("has no unit; write 300us"));
}
