//! What decides a run decides its hash: nothing else does, and nothing is left out.

use crate::support::{axis, run, small, to_its_end};
use lab::Files;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use sweep::{Axis, Local, MemoryFolder, Plan, Sweep, Template};

const WORKLOAD: &str = "schedlab-workload 1\n";

fn name(loads: &[&str], settings: &str, duration_ns: Option<u64>, files: &Files) -> String {
    let template = Template::of_words(loads, settings, duration_ns);
    Plan::new(template, Vec::new(), files).expect("a plan").name(0)
}

#[test]
fn each_run_has_a_hash_of_its_own() {
    let plan = small();
    let names: BTreeSet<String> = (0..plan.runs()).map(|run| plan.name(run)).collect();
    assert_eq!(names.len(), 24);
    assert!(names.iter().all(|name| name.len() == 32));
    let again = small();
    assert!((0..plan.runs()).all(|run| plan.name(run) == again.name(run)));
}

#[test]
fn all_that_decides_a_run_is_in_its_hash() {
    let vm2 = lab::machine_text("vm2", &Files::new()).expect("it comes with the program");
    let files = |machine: &str, workload: &str| {
        Files::from([
            ("my.toml".to_owned(), machine.as_bytes().to_vec()),
            ("a.workload".to_owned(), workload.as_bytes().to_vec()),
        ])
    };
    let plain = files(&vm2, WORKLOAD);
    let beside = |machine: &str| {
        let mut all = plain.clone();
        all.insert("a.workload.machine.toml".to_owned(), machine.as_bytes().to_vec());
        all
    };
    let other = vm2.replacen('\n', "\n# other\n", 1);
    let names = [
        name(&["hog"], "", None, &plain),
        name(&["hog -n 2"], "", None, &plain),
        name(&["hog"], "6.1", None, &plain),
        name(&["hog"], "NO_RT_PUSH_IPI", None, &plain),
        name(&["hog"], "cpus=3", None, &plain),
        name(&["hog"], "", Some(1), &plain),
        name(&["hog"], "machine=my.toml", None, &plain),
        name(&["hog"], "machine=my.toml", None, &files(&other, WORKLOAD)),
        name(&["a.workload"], "", None, &plain),
        name(&["a.workload"], "", None, &files(&vm2, "schedlab-workload 1\n# other\n")),
        name(&["a.workload"], "", None, &beside(&vm2)),
        name(&["a.workload"], "", None, &beside(&other)),
    ];
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert_eq!(name(&["hog"], "", None, &Files::new()), names[0], "files that nobody names say nothing");
}

/// More values, other axes: the runs that are there serve both sweeps.
#[test]
fn another_sweep_of_the_same_runs_takes_what_is_there() {
    let folder = MemoryFolder::default();
    let plan = |loads: &str, axes: Vec<Axis>| {
        let template = Template::of_words(&[loads], "machine=vm2 cpus=1", None);
        Plan::new(template, axes, &Files::new()).expect("a plan")
    };
    let threads = |values: &[&str]| vec![axis("t", values), Axis::seeds(2)];
    let (_, made) = to_its_end(&plan("cyclictest -t{t} -i200 -n -D 1ms", threads(&["1", "2"])), &folder);
    assert_eq!(made, 4);
    let more = plan("cyclictest -t{t} -i200 -n -D 1ms", threads(&["1", "2", "3"]));
    let (result, made) = to_its_end(&more, &folder);
    assert_eq!((made, result.runs, result.points.len()), (2, 6, 3));
    let kernels = vec![axis("kernel", &["6.1", "6.18.y"]), Axis::seeds(2)];
    let (_, made) = to_its_end(&plan("cyclictest -t1 -i200 -n -D 1ms", kernels), &folder);
    assert_eq!(made, 4, "a kernel by name is another text than none");
}

/// Two values that say the same are one run, which counts for both.
#[test]
fn a_run_that_two_combinations_have_is_made_once() {
    let template = Template::of_words(&["cyclictest -t1 -i200 -n -D 1ms"], "machine=vm2", None);
    let axes = vec![axis("settings", &["kernel=6.1", "6.1", "4.4"]), Axis::seeds(2)];
    let plan = Plan::new(template, axes, &Files::new()).expect("a plan");
    let (result, made) = to_its_end(&plan, &MemoryFolder::default());
    assert_eq!(made, 4);
    let runs: Vec<u64> = result.points.iter().map(|point| point.runs).collect();
    assert_eq!(runs, [2, 2, 2]);
    assert_eq!(result.points[0].figures, result.points[1].figures);
}

/// A file that changes between plan and run is told by the run.
#[test]
fn a_file_that_changes_under_way_is_an_error_of_its_runs() {
    let demo = include_bytes!("../../../trace/tests/fixtures/mix-rr.dat");
    let before = Files::from([("t.dat".to_owned(), demo.to_vec())]);
    let template = Template::of_words(&["t.dat"], "machine=vm2", None);
    let plan = Plan::new(template, vec![axis("cpus", &["2"])], &before).expect("a plan");
    let after = Files::from([("t.dat".to_owned(), [demo.as_slice(), b"\n"].concat())]);
    let engine = Local::new(&after);
    let folder = MemoryFolder::default();
    let sweep = Sweep { plan: &plan, folder: &folder, engine: &engine, clock: None };
    let error = sweep.run(&mut |_| ControlFlow::Continue(())).expect_err("no value can be run").to_string();
    assert!(error.starts_with("axis `cpus`, value `2`: t.dat has changed"), "{error}");
    assert!(run(&small(), &folder, &mut |_| ControlFlow::Continue(())).0.is_ok(), "the folder is fine");
}
