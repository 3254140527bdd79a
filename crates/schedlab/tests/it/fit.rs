//! `schedlab reproduce --fit`.

use schema::fit::Fit;
use schema::reproduction::Reproduction;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EXPERIMENT: &str = include_str!("fit.toml");

/// A folder with an experiment that has a fit, and one that has none.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fit-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a temporary folder");
    let (head, rest) = EXPERIMENT.split_once("[fit]").expect("a fit");
    let variants = &rest[rest.find("[[variant]]").expect("variants")..];
    for (file, text) in [("fit.toml", EXPERIMENT.to_owned()), ("none.toml", format!("{head}{variants}"))] {
        fs::write(path.join(file), text).expect("a temporary file");
    }
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.arg("reproduce").args(args).current_dir(folder).output().expect("the binary of this package")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("text")
}

fn fit(output: &Output) -> Fit {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report = Reproduction::from_json(text(&output.stdout)).expect("our own JSON");
    report.experiments[0].fit.clone().expect("a fit was asked for")
}

/// On the machine that is written, the figure is what the fit said, and nothing is left to change.
#[test]
fn a_fit_is_written_into_the_machine_and_holds_there() {
    let folder = folder("written");
    let output = run(&folder, &["fit.toml", "--fit", "--fit-output", "mine.toml", "--format", "json"]);
    let first = fit(&output);
    assert!(first.loss_fitted < first.loss_in_files && !first.is_in_files(), "{first:?}");
    let machine = fs::read_to_string(folder.join("mine.toml")).expect("a machine");
    let line = format!("context_switch = {{ ns = {}, origin = ", first.parameters[0].fitted);
    let by = "; fitted to 1 figure of \"before\" by `schedlab reproduce fit.toml --fit`";
    let changed = machine.lines().find(|row| row.starts_with(&line)).unwrap_or_else(|| panic!("{machine}"));
    assert!(changed.replace('\\', "").contains(by), "{changed}");
    fs::write(folder.join("again.toml"), EXPERIMENT.replace("machine=laptop", "machine=mine.toml"))
        .expect("a temporary file");
    let again = fit(&run(&folder, &["again.toml", "--fit", "--format", "json"]));
    assert!(again.is_in_files() && again.loss_in_files == first.loss_fitted, "{again:?}");
    assert_eq!(again.predicted[0].in_files, first.predicted[0].fitted);
}

#[test]
fn the_text_says_what_was_chosen_and_whether_the_files_hold_it() {
    let folder = folder("text");
    let output = run(&folder, &["fit.toml", "none.toml", "--fit"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in
        ["\nfit: 1 parameter by 1 figure; ", "costs.context_switch.ns", "hold other values than were found"]
    {
        assert_eq!(said.matches(part).count(), 1, "{part:?} in\n{said}");
    }
}

#[test]
fn a_stored_result_names_the_command_with_the_fit() {
    let folder = folder("stored");
    assert_eq!(run(&folder, &["fit.toml", "--fit", "--save", "."]).status.code(), Some(0));
    let stored = fs::read_to_string(folder.join("fit.json")).expect("a stored result");
    let stored = Reproduction::from_json(&stored).expect("our own JSON");
    assert_eq!(stored.command.as_deref(), Some("schedlab reproduce fit.toml --fit"));
    assert!(stored.experiments[0].fit.is_some());
}

#[test]
fn what_has_no_fit_is_told() {
    let folder = folder("none");
    let cases: [(&[&str], &str); 4] = [
        (&["none.toml", "--fit"], "none.toml has no table [fit], so nothing was fitted"),
        (
            &["fit.toml", "none.toml", "--fit", "--fit-output", "m.toml"],
            "--fit-output: fit.toml none.toml fits no machine",
        ),
        (&["fit.toml", "--fit-output", "m.toml"], "--fit"),
        (
            &["prediction.toml", "--fit"],
            "\"after\" is a prediction, and nothing may be chosen by its figures",
        ),
    ];
    fs::write(
        folder.join("prediction.toml"),
        EXPERIMENT.replace("variant = \"before\"", "variant = \"after\""),
    )
    .expect("a temporary file");
    for (args, wanted) in cases {
        let output = run(&folder, args);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}: {error}");
        assert!(error.replace("\n  ", " ").contains(wanted), "{args:?}: {error}");
    }
}
