//! Files that nobody reaches: a .rs file that no `mod` names, a fixture that no test names.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use regex_lite::Regex;

use crate::source::lines;
use crate::tree::{Finding, Texts, expect_none, files_below, planted, texts};

/// Whether Cargo compiles this file by itself: the root of a library, a program, a test or a benchmark.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] | [.., "build.rs"] => true,
        // Without `mod`: `tests/name.rs`, `tests/name/main.rs`; below `src`, folders called tests are
        // modules.
        [before @ .., "tests" | "benches" | "examples", _] => !before.contains(&"src"),
        [before @ .., "tests" | "benches" | "examples", _, "main.rs"] => !before.contains(&"src"),
        ["fuzz", "fuzz_targets", _] => true,
        _ => false,
    }
}

/// Files that `mod name;` in this one may mean.
fn children(path: &str, text: &str) -> Vec<String> {
    let module = Regex::new(r"^\s*(?:pub(?:\([a-z ]+\))? )?mod ([a-z0-9_]+);").expect("a pattern");
    let placed = Regex::new(r#"#\[path = "([^"]+)"\]"#).expect("a pattern");
    let file = Path::new(path);
    let folder = file.parent().expect("a folder");
    let stem = file.file_stem().expect("a name").to_str().expect("plain");
    let own = if is_root(path) || stem == "mod" { folder.to_owned() } else { folder.join(stem) };
    let named = lines(text).into_iter().flat_map(|line| {
        let name = module.captures(&line.code).map(|found| found[1].to_owned());
        name.into_iter()
            .flat_map(|name| [own.join(format!("{name}.rs")), own.join(name).join("mod.rs")])
            .collect::<Vec<_>>()
    });
    let by_path = text.lines().filter_map(|line| Some(folder.join(&placed.captures(line)?[1])));
    named.chain(by_path).map(|path| plain(&path)).collect()
}

/// Without `..`.
fn plain(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leaves the repository", path.display()),
            part => plain.push(part),
        }
    }
    plain.to_str().expect("plain").to_owned()
}

fn unreached(sources: &Texts) -> Vec<Finding> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = sources.keys().map(String::as_str).filter(|path| is_root(path)).collect();
    while let Some(path) = open.pop() {
        if reached.insert(path) {
            let children = children(path, &sources[path]);
            open.extend(children.iter().filter_map(|child| Some(sources.get_key_value(child)?.0.as_str())));
        }
    }
    let dead = sources.keys().filter(|path| !reached.contains(path.as_str()));
    dead.map(|path| Finding { path: path.clone(), line: 1, what: "no `mod` reaches this file".to_owned() })
        .collect()
}

/// Data of tests whose name stands in no test, neither whole nor as the beginning that a test completes.
fn unnamed(fixtures: &[String], tests: &Texts) -> Vec<Finding> {
    let all: String = tests.values().flat_map(|text| [text, "\n"]).collect();
    let named = |path: &str| {
        let name = path.rsplit('/').next().expect("a name");
        // "mix-rr" and format!("{name}.report.txt.gz").
        let begins = name.match_indices('.').any(|(dot, _)| {
            let (begin, end) = name.split_at(dot);
            all.contains(&format!("\"{begin}\"")) && all.contains(&format!("}}{end}\""))
        });
        all.contains(name) || begins
    };
    let dead = fixtures.iter().filter(|path| !named(path));
    dead.map(|path| Finding { path: path.clone(), line: 1, what: "no test names this file".to_owned() })
        .collect()
}

#[test]
fn every_source_is_reached() {
    expect_none(&unreached(&texts(&["crates", "fuzz", "tests"], &["rs"])));
}

#[test]
fn every_fixture_is_named() {
    let below_tests = |path: &String| path.contains("/tests/") && !path.contains("/src/");
    let data = |path: &String| {
        let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
        !matches!(extension, "rs" | "trycmd" | "md" | "snap")
    };
    let fixtures: Vec<String> =
        files_below(&["crates"]).into_iter().filter(below_tests).filter(data).collect();
    assert!(fixtures.len() > 20, "{fixtures:?}");
    expect_none(&unnamed(&fixtures, &texts(&["crates", "tests"], &["rs", "trycmd"])));
}

#[test]
fn a_dead_file_is_found() {
    let tree = planted(&[
        ("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\n// mod dead;\n#[cfg(test)]\nmod tests;"),
        ("crates/a/src/one.rs", "mod below;"),
        ("crates/a/src/one/below.rs", ""),
        ("crates/a/src/two/mod.rs", "mod beside;"),
        ("crates/a/src/two/beside.rs", ""),
        ("crates/a/src/tests/mod.rs", ""),
        ("crates/a/src/tests/old.rs", ""),
        ("crates/a/src/dead.rs", ""),
        ("crates/a/src/below.rs", ""),
        ("crates/a/tests/it/main.rs", "#[path = \"../grown/mod.rs\"]\nmod grown;\nmod more;"),
        ("crates/a/tests/it/more.rs", ""),
        ("crates/a/tests/grown/mod.rs", ""),
    ]);
    let found: Vec<String> = unreached(&tree).into_iter().map(|finding| finding.path).collect();
    assert_eq!(found, ["crates/a/src/below.rs", "crates/a/src/dead.rs", "crates/a/src/tests/old.rs"]);
}

#[test]
fn a_dead_fixture_is_found() {
    let tests =
        planted(&[("a.rs", "read(\"one.dat\"); for n in [\"two\"] { read(format!(\"{n}.report.txt\")) }")]);
    let fixtures = ["x/one.dat", "x/two.report.txt", "x/two.dat", "x/three.dat"].map(str::to_owned);
    let found: Vec<String> = unnamed(&fixtures, &tests).into_iter().map(|finding| finding.path).collect();
    assert_eq!(found, ["x/two.dat", "x/three.dat"]);
}
