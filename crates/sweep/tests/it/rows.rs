//! What is kept of runs is what they say by themselves, whoever makes them.

use crate::support::{axis, rows, small, to_its_end};
use lab::{Experiment, ExperimentText, Files};
use schema::{Measurement, Unit};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use sweep::Folder;
use sweep::{Axis, Local, MemoryFolder, Outcome, Plan, RESULTS, Sweep, Template};

#[test]
fn a_row_has_the_figures_of_the_run_by_itself() {
    let (plan, folder) = (small(), MemoryFolder::default());
    let (result, _) = to_its_end(&plan, &folder);
    let kept = rows(&folder);
    for row in &kept {
        let text = ExperimentText::from_json(&row.experiment).expect("a text that can be run again");
        let run = Experiment::open(&text, &Files::new()).expect("legal").run().expect("it runs").result;
        let Outcome::Ran { events, simulated_ns, figures } = &row.outcome else { panic!("{row:?}") };
        assert_eq!((*events, *simulated_ns), (run.engine.events, run.engine.simulated_ns));
        // Each column has one name for people, that of its first run: keys, units and values are the run's.
        let plain = |figures: &[Measurement]| -> BTreeMap<String, (Unit, u64)> {
            let figure = |of: &Measurement| (of.metric.key.clone(), (of.metric.unit, of.value));
            figures.iter().map(figure).collect()
        };
        assert_eq!(plain(figures), plain(&report::compare::measure(&run)));
    }
    // Mean, smallest and largest over the seeds of one combination, from the rows.
    let point = &result.points[5];
    assert_eq!(point.values, ["6.1", "1", "3"]);
    let of_point = |text: &ExperimentText| {
        (text.kernel.as_deref(), text.machine.cpus) == (Some("6.1"), Some(1))
            && text.loads[0].load.contains("-t3")
    };
    let figure = &point.figures[0];
    let values: Vec<u64> = kept
        .iter()
        .filter(|row| of_point(&ExperimentText::from_json(&row.experiment).expect("a text")))
        .map(|row| match &row.outcome {
            Outcome::Ran { figures, .. } => {
                figures.iter().find(|of| of.metric.key == figure.key).expect("it has it").value
            }
            Outcome::Failed(error) => panic!("{error}"),
        })
        .collect();
    assert_eq!(values.len(), 3);
    let mean = values.iter().sum::<u64>() as f64 / 3.0;
    assert!((figure.mean - mean).abs() <= mean * 1e-8, "{} is not {mean}", figure.mean);
    assert_eq!(
        (figure.runs, Some(figure.min), Some(figure.max)),
        (3, values.iter().copied().min(), values.iter().copied().max())
    );
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let (plan, files) = (small(), Files::new());
    let with = |workers: usize| {
        let folder = MemoryFolder::default();
        let engine = Local::new(&files).with_workers(workers);
        let sweep = Sweep { plan: &plan, folder: &folder, engine: &engine, clock: None };
        let result = sweep.run(&mut |_| ControlFlow::Continue(())).expect("it runs");
        (result, folder.read(RESULTS).expect("written"))
    };
    let one = with(1);
    assert_eq!(with(2), one);
    assert_eq!(with(7), one);
}

/// Whoever made which rows first, in which company: the file is the same.
#[test]
fn what_was_there_before_changes_nothing() {
    let plan = small();
    let bytes = |folder: &MemoryFolder| {
        to_its_end(&plan, folder);
        folder.read(RESULTS).expect("written")
    };
    let at_once = bytes(&MemoryFolder::default());
    for (kernel, cpus, threads) in [("6.1", "2", "3"), ("2.6.36", "1", "1")] {
        let folder = MemoryFolder::default();
        let load = format!("cyclictest -t{threads} -p80 -i200 -n -D 2ms");
        let template = Template::of_words(&[load], "machine=vm2", None);
        let axes = vec![axis("kernel", &[kernel]), axis("cpus", &[cpus]), Axis::seeds(3)];
        let part = Plan::new(template, axes, &Files::new()).expect("a plan");
        assert_eq!(to_its_end(&part, &folder).1, 3);
        assert_eq!(bytes(&folder), at_once);
    }
}

/// One CPU cannot have a thread on CPU 1: that run is a row with its error, and the others run.
#[test]
fn a_run_that_fails_is_a_row_with_its_error() {
    let template = Template::of_words(&["cyclictest -t1 -a1 -i200 -n -D 1ms"], "machine=vm2", None);
    let axes = vec![axis("cpus", &["1", "2"]), Axis::seeds(2)];
    let plan = Plan::new(template, axes, &Files::new()).expect("a plan");
    let folder = MemoryFolder::default();
    let (result, made) = to_its_end(&plan, &folder);
    assert_eq!((made, result.runs, result.failed), (4, 4, 2));
    let [one, two] = &result.points[..] else { panic!("two combinations") };
    assert_eq!((one.runs, one.failed, one.figures.len()), (2, 2, 0));
    assert_eq!((two.runs, two.failed, two.error.as_ref()), (2, 0, None));
    let error = one.error.as_ref().expect("why");
    let failed: Vec<_> = rows(&folder).iter().filter_map(|row| row.error().map(str::to_owned)).collect();
    assert_eq!(failed, [error.clone(), error.clone()]);
    let text = ExperimentText::from_json(
        &rows(&folder).iter().find(|row| row.error().is_some()).expect("one").experiment,
    );
    let alone = Experiment::open(&text.expect("a text"), &Files::new()).and_then(|run| run.run().map(drop));
    assert_eq!(alone.expect_err("it fails").to_string(), *error, "with the words of the run by itself");
    assert_eq!(to_its_end(&plan, &folder), (result, 0), "what failed fails again: it is not tried anew");
}

/// However many CPUs a sweep asks for: a replay that is far from its recording is no answer for any.
#[test]
fn a_sweep_of_a_recording_says_how_far_its_replay_may_be_trusted() {
    let demo = include_bytes!("../../../trace/tests/fixtures/mix-rr.dat");
    let files = Files::from([("t.dat".to_owned(), demo.to_vec())]);
    let plan = |words: &[&str]| {
        let template = Template::of_words(words, "machine=vm2", Some(20));
        Plan::new(template, vec![axis("cpus", &["1", "2"])], &files).expect("a plan")
    };
    let verdicts = |plan: &Plan| {
        let (engine, folder) = (Local::new(&files), MemoryFolder::default());
        let sweep = Sweep { plan, folder: &folder, engine: &engine, clock: None };
        sweep.run(&mut |_| ControlFlow::Continue(())).expect("it runs").verdicts
    };
    let alone = Experiment::open(
        &ExperimentText { without_fidelity: false, ..plan(&["t.dat"]).work(1).experiment },
        &files,
    );
    let [verdict] = &verdicts(&plan(&["t.dat"]))[..] else { panic!("one recording") };
    assert_eq!(lab::verdicts(&alone.expect("it is there")), std::slice::from_ref(verdict));
    assert!(verdict.starts_with("the replay of t.dat is good for "), "{verdict}");
    assert!(verdicts(&plan(&["cyclictest -t1 -p80 -i200 -n -D 2ms"])).is_empty());
}
