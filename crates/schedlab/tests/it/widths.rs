//! All printed text fits the width that COLUMNS names, but for words that are longer and lines that belong to
//! real tools.

use std::process::Command;

/// How lines begin whose layout users of real tools parse.
const OF_REAL_TOOLS: [&str; 3] = ["T: ", "Running in ", "Each sender "];

/// What a program prints on both streams on lines of so many columns, run in the root of the repository.
fn printed(words: &[String], columns: usize) -> String {
    let mut schedlab = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    schedlab.args(words).env("COLUMNS", columns.to_string()).env("NO_COLOR", "1").current_dir(root);
    let output = schedlab.output().expect("the binary of this package");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat()
}

fn check(command: &str) {
    let words = shlex::split(command).expect("quotes that match");
    for columns in [40, 60, 80] {
        let text = printed(&words, columns);
        assert!(!text.is_empty(), "{command}");
        for line in text.lines() {
            let longest = line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
            // A word that is as long as the line beside its label.
            let is_a_word = longest + LABEL >= columns && line.split_whitespace().count() <= 3;
            let fits = line.chars().count() <= columns || is_a_word;
            let is_theirs = OF_REAL_TOOLS.iter().any(|start| line.starts_with(start));
            assert!(fits || is_theirs, "schedlab {command} on {columns} columns:\n{line}");
        }
    }
}

/// The widest label of a head, or indentation.
const LABEL: usize = 10;

#[test]
fn what_the_readme_shows() {
    let readme = include_str!("../../../../README.md");
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("$ schedlab ")).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    commands.into_iter().for_each(check);
}

#[test]
fn replays_and_recordings() {
    let (trace, other) = ("demo/mix-rtover.dat", "crates/trace/tests/fixtures/mix-rr.zlib.dat");
    check(&format!("run {trace} --from 1s --to 2s"));
    check(&format!("compare {trace} --with cpus=8 --with kernel=2.6.32 --repeat 2"));
    check(&format!("inspect {trace} {other}"));
}

#[test]
fn help_lists_and_explanations() {
    for command in ["run", "compare", "reproduce", "inspect", "record", "workload", "calibrate", "list"] {
        check(&format!("{command} --help"));
    }
    for kind in ["kernels", "distributions", "features", "rules", "tunables", "machines", "loads", "limits"] {
        check(&format!("list {kind}"));
    }
    ["--help", "explain vm2", "explain 5.14", "explain cyclictest", "explain 000"]
        .into_iter()
        .for_each(check);
}

#[test]
fn errors() {
    for command in ["run nosuch", "run hog --kernel 9.9x", "run hog --frob", "compare hog", "frob"] {
        check(command);
    }
    check("run demo/mix-rtover.dat --affinity nosuch=1");
    check("run hog --set search=linaer");
}
