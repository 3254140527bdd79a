//! What cannot be is told before anything runs, or as soon as it shows.

use crate::support::{axis, run, small, to_its_end};
use lab::Files;
use std::ops::ControlFlow;
use sweep::{Axis, Folder, MemoryFolder, Plan, SweepFile, Template};

const FILE: &str = r#"
title = "Threads"
loads = ["cyclictest -t{t} -p80 -i200 -n"]
settings = "machine=vm2 cpus=2"
for = "8ms"
seeds = 2
metrics = ["cyclictest.worst_latency"]
[[axis]]
name = "t"
values = [1, 2]
"#;

fn plan(text: &str) -> Result<Plan, String> {
    let file = SweepFile::parse("s.toml", text).map_err(|error| error.to_string())?;
    file.plan(&Files::new()).map_err(|error| error.to_string())
}

#[test]
fn a_file_says_what_to_sweep() {
    let plan = plan(FILE).expect("a plan");
    assert_eq!((plan.runs(), plan.seeds()), (4, &[1, 2][..]));
    let (result, _) = to_its_end(&plan, &MemoryFolder::default());
    assert_eq!(result.title.as_deref(), Some("Threads"));
    assert_eq!(result.points[1].values, ["2"]);
    let keys: Vec<&str> = result.points[1].figures.iter().map(|figure| figure.key.as_str()).collect();
    assert_eq!(keys, ["cyclictest.worst_latency"]);
}

#[test]
fn mistakes_in_a_file_are_told() {
    let error = |from: &str, to: &str| {
        assert!(FILE.contains(from));
        plan(&FILE.replacen(from, to, 1)).expect_err(to)
    };
    for (from, to, said) in [
        ("name = \"t\"", "name = \"kernal\"", "did you mean `kernel`?"),
        ("{t}", "{u}", "unknown axis `t`"),
        ("{t}", "{t} -i{u}", "no axis is called {u}"),
        ("[1, 2]", "[]", "axis `t`: it has no values"),
        ("[1, 2]", "[1, 1]", "`1` is there twice"),
        ("seeds = 2", "seeds = 0", "s.toml: `seeds` must be at least 1"),
        ("name = \"t\"", "name = \"seed\"", "leave one out"),
        ("for = \"8ms\"", "for = \"2 parsecs\"", "s.toml: `for`: "),
        ("title", "titel", "unknown field `titel`"),
        ("loads = [\"cyclictest -t{t} -p80 -i200 -n\"]", "loads = []", "no load"),
        ("cpus=2", "cpus=many", "cpus=many"),
        (
            "[[axis]]",
            "[[axis]]\nname = \"t\"\nvalues = [3]\n[[axis]]",
            "axis `t`: there are two of this name",
        ),
    ] {
        let found = error(from, to);
        assert!(found.contains(said), "{to}: {found}");
    }
}

#[test]
fn more_runs_than_anybody_can_wait_for_are_refused() {
    let values: Vec<String> = (0..4000).map(|n| n.to_string()).collect();
    let axes = ["a", "b"].map(|name| Axis::new(name, values.clone()).expect("an axis"));
    let template = Template::of_words(&["hog -n {a} -D {b}"], "", None);
    let error = Plan::new(template, axes.into(), &Files::new()).expect_err("16 million").to_string();
    assert!(error.contains("16000000 runs"), "{error}");
}

/// A value with which nothing runs is told before anything does, whatever the others are; two values that do
/// not go together are told by their runs.
#[test]
fn an_impossible_value_is_told_at_once_an_impossible_pair_by_its_runs() {
    let plan = |kernels: &[&str], settings: &[&str]| {
        let template = Template::of_words(&["cyclictest -t1 -i200 -n -D 1ms"], "machine=vm2", None);
        Plan::new(template, vec![axis("kernel", kernels), axis("settings", settings)], &Files::new())
            .expect("words")
    };
    let go = |plan: &Plan| {
        let folder = MemoryFolder::default();
        let (result, made) = run(plan, &folder, &mut |_| ControlFlow::Continue(()));
        (result.map_err(|error| error.to_string()), made)
    };
    let (error, made) = go(&plan(&["6.1", "6.21x"], &["", "hz=250"]));
    let error = error.expect_err("no such kernel");
    assert!(error.starts_with("axis `kernel`, value `6.21x`: "), "{error}");
    assert_eq!(made, 0);
    let (error, _) = go(&plan(&["6.1"], &["RT_PUSH_IPY"]));
    assert!(error.expect_err("misspelt").contains("did you mean"));
    // EEVDF's slice is nothing that 4.4 has.
    let (result, made) = go(&plan(&["4.4", "6.12"], &["", "RUN_TO_PARITY"]));
    assert_eq!((result.expect("it runs").failed, made), (1, 4));
}

#[test]
fn a_metric_that_no_run_has_is_told_with_the_nearest() {
    let mut plan = small();
    plan.metrics = vec!["cyclictest.worst_latencies".to_owned()];
    let folder = MemoryFolder::default();
    let (result, made) = run(&plan, &folder, &mut |_| ControlFlow::Continue(()));
    let error = result.expect_err("no such metric").to_string();
    assert!(error.contains("did you mean `cyclictest.worst_latency`?"), "{error}");
    assert!(made < 24, "after the first few runs");
    plan.metrics = vec!["cyclictest.worst_latency".to_owned()];
    assert_eq!(to_its_end(&plan, &folder).1, 24 - made, "which are not lost");
}

#[test]
fn a_damaged_file_is_told_by_name() {
    let (plan, folder) = (small(), MemoryFolder::default());
    to_its_end(&plan, &folder);
    let name =
        folder.list().expect("a list").into_iter().find(|name| name.starts_with("runs-")).expect("one");
    let whole = folder.read(&name).expect("there");
    for damaged in [&whole[..whole.len() / 2], &[][..], b"PAR1PAR1"] {
        folder.write(&name, damaged).expect("written");
        let error =
            run(&plan, &folder, &mut |_| ControlFlow::Continue(())).0.expect_err("damaged").to_string();
        assert!(error.starts_with(&format!("{name} is damaged (")), "{error}");
        assert!(error.ends_with("remove it, and its runs are made again"), "{error}");
    }
    folder.remove(&name).expect("removed");
    assert_eq!(to_its_end(&plan, &folder).0.failed, 0);
}
