//! `schedlab tune` from outside.

use std::process::{Command, Output};

const LOADS: [&str; 2] = ["cyclictest -t2 -i1000 -n", "hog -n 4"];
const KNOBS: &str = "tests/it/knobs.toml";

fn tune(args: &[&str], threads: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.arg("tune").args(LOADS).args(["--cpus", "2", "--for", "50ms", "--repeat", "6"]).args(args);
    command.env("RAYON_NUM_THREADS", threads).output().expect("the binary of this package")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn the_answer_is_the_same_on_any_number_of_cores_and_fits_the_width() {
    let args = ["--minimize", "p99(cyclictest)", "--over", KNOBS, "--subject-to", "hog cycles > 0.9 x base"];
    let one = tune(&args, "1");
    assert_eq!((one.status.code(), text(&one.stderr)), (Some(0), String::new()));
    let said = text(&one.stdout);
    assert!(said.contains("\nanswer: "), "{said}");
    for line in said.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for threads in ["2", "7"] {
        assert_eq!(text(&tune(&args, threads).stdout), said, "{threads} workers");
    }
}

#[test]
fn mistakes_are_one_clear_error() {
    for (args, said) in [
        (vec!["--minimize", "p99(cyclictets)"], "did you mean `p99(cyclictest)`?"),
        (
            vec!["--minimize", "p99(cyclictest)", "--subject-to", "hog cycles"],
            "--subject-to `hog cycles`: write FIGURE < BOUND",
        ),
        (vec!["--minimize", "p99(cyclictest)", "--over", "no-such.toml"], "no-such.toml"),
        (vec![], "--minimize"),
        (vec!["--minimize", "a", "--maximize", "b"], "cannot be used with"),
        (
            vec!["--minimize", "p99(cyclictest)", "--over", KNOBS, "--subject-to", "hog cycles > 100 x base"],
            "nothing that was tried meets `hog cycles > 100 x base`",
        ),
    ] {
        let output = tune(&args, "2");
        let error = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(2), String::new()),
            "{args:?}: {error}"
        );
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

/// What a search keeps is an experiment of which `run` makes the same run.
#[test]
fn a_scenario_is_run_again_from_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("worst.json");
    let schedlab = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output();
        let output = output.expect("the binary of this package");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
        text(&output.stdout)
    };
    let path = file.to_str().expect("a path of our own");
    let options =
        ["--maximize", "max(cyclictest)", "--runs", "48", "--for", "20ms", "--cpus", "2", "--save", path];
    let said = schedlab(&[&["search"], LOADS.as_slice(), &options].concat());
    let worst = said.lines().find_map(|line| line.strip_prefix("worst: ")).expect("an answer");
    let again = schedlab(&["run", path, "--format", "json"]);
    let run = schema::RunResult::from_json(&again).expect("a result");
    let figures = report::compare::measure(&run);
    let figure =
        figures.iter().find(|figure| figure.metric.key == "cyclictest.worst_latency").expect("a figure");
    let value = report::numbers::duration_ns(figure.value);
    assert!(worst.starts_with(&format!("{value} in run ")), "{value}: {said}");
}
