//! The texts of the working tree, and what a check finds in them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().expect("the repository")
}

/// Paths from the root, with `/` between their parts, of the files below these folders and files. Build
/// outputs and hidden folders are left out.
pub fn files_below(starts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for start in starts {
        collect(&root(), Path::new(start), &mut found);
    }
    found.sort();
    found
}

fn collect(root: &Path, path: &Path, found: &mut Vec<String>) {
    let full = root.join(path);
    if full.is_file() {
        found.push(path.to_str().expect("our file names are plain").to_owned());
        return;
    }
    let entries = fs::read_dir(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
    for entry in entries {
        let name = entry.expect("an entry").file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            collect(root, &path.join(name), found);
        }
    }
}

/// Files by their path from the root, with their text.
pub type Texts = BTreeMap<String, String>;

/// The texts of the files below `starts` that have one of these extensions.
pub fn texts(starts: &[&str], extensions: &[&str]) -> Texts {
    let wanted = |path: &String| {
        Path::new(path).extension().is_some_and(|e| extensions.iter().any(|wanted| *wanted == e))
    };
    let found: Texts =
        files_below(starts).into_iter().filter(wanted).map(|path| (path.clone(), text(&path))).collect();
    assert!(!found.is_empty(), "nothing to check below {starts:?}");
    found
}

/// The text of one file.
pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A tree made up for a canary.
pub fn planted(files: &[(&str, &str)]) -> Texts {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    pub path: String,
    /// From 1 on.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Fails with all findings, a line each.
#[track_caller]
pub fn expect_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}
