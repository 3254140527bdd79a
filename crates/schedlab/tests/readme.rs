//! The examples of the README, and of the pages of docs that have some, print what they say. To accept new
//! output: `TRYCMD=overwrite cargo test -p schedlab`. And the experiment that experiments/README.md shows
//! runs and agrees.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_experiment_that_is_shown_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let readme = fs::read_to_string(folder.join("README.md")).expect("a text");
    let (_, rest) = readme.split_once("```toml\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    fs::write(file.path(), example).expect("written");
    let program = Path::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = Command::new(program).arg("reproduce").arg(file.path()).output().expect("it runs");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("\n2 of 2 figures agree"), "{said}");
}

#[test]
fn examples_of_the_readme() {
    // Nobody else in this binary minds where it is.
    std::env::set_current_dir("../..").expect("the workspace");
    trycmd::TestCases::new().case("README.md").case("docs/tuning.md").case("docs/cookbook.md");
}
