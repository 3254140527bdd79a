//! The wings of the engine: its folders import each other one way only, as ARCHITECTURE.md promises, and none
//! of its files import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use crate::layers::{Arrows, promised, reachable};
use crate::source::{lines, used_paths, without_tests, without_uses};
use crate::tree::{Finding, Texts, expect_none, planted, text, texts};

/// Where the wings are, and the crate's source around them.
const SOURCE: &str = "crates/machine/src/";
const ENGINE: &str = "engine";

type Module = Vec<String>;

/// `engine/hardware/mod.rs` is engine::hardware.
fn module(path: &str) -> Option<Module> {
    let inner = path.strip_prefix(SOURCE)?.strip_suffix(".rs")?;
    let mut parts: Module = inner.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    Some(parts)
}

/// Paths that a file names: those of `use`, and those in full.
fn named(text: &str) -> Vec<String> {
    let lines = without_tests(lines(text));
    let in_full = Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").expect("a pattern");
    let mut found: Vec<String> = used_paths(&lines).into_iter().map(|used| used.path).collect();
    found.extend(in_full.find_iter(&without_uses(&lines)).map(|path| path.as_str().to_owned()));
    found
}

/// The module that a path means, as far as it goes through modules.
fn meant(from: &Module, path: &str, modules: &BTreeMap<Module, &str>) -> Option<Module> {
    let mut parts = path.split("::").peekable();
    let mut at: Module = if parts.peek() == Some(&"crate") { Vec::new() } else { from.clone() };
    while let Some(up) = parts.next_if(|part| ["crate", "super", "self"].contains(part)) {
        if up == "super" {
            at.pop();
        }
    }
    let begin = at.clone();
    for part in parts {
        at.push(part.to_owned());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    // A name without `crate` or `super` is another crate, or a module of this one's own.
    let is_ours = path.starts_with("crate::") || path.starts_with("super::") || at != begin;
    (is_ours && at != *from && modules.contains_key(&at)).then_some(at)
}

/// The engine's files, each with those that it imports.
fn imports(sources: &Texts) -> BTreeMap<Module, BTreeSet<Module>> {
    let modules: BTreeMap<Module, &str> =
        sources.iter().filter_map(|(path, text)| Some((module(path)?, text.as_str()))).collect();
    let in_engine = |module: &Module| module.len() > 1 && module[0] == ENGINE;
    let of = |from: &Module, text: &str| -> BTreeSet<Module> {
        named(text).iter().filter_map(|path| meant(from, path, &modules)).filter(&in_engine).collect()
    };
    let files = modules.iter().filter(|(module, _)| in_engine(module));
    files.map(|(module, text)| (module.clone(), of(module, text))).collect()
}

fn path_of(module: &Module, sources: &Texts) -> String {
    let path = format!("{SOURCE}{}.rs", module.join("/"));
    if sources.contains_key(&path) { path } else { path.replace(".rs", "/mod.rs") }
}

/// Imports against the order of the wings, and files in a circle or between two.
fn entangled(wings: &Arrows, sources: &Texts) -> Vec<Finding> {
    let mut imports = imports(sources);
    let mut findings = Vec::new();
    let mut find =
        |from: &Module, what: String| findings.push(Finding { path: path_of(from, sources), line: 1, what });
    for (from, to) in imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let (wing, other) = (&from[1], &to[1]);
        if wing != other && !reachable(wings, wing).contains(other) {
            find(from, format!("{wing} imports {other}, against the order of the wings"));
        }
    }
    // What imports nothing that is left, or is imported by nothing, is in no circle.
    loop {
        let imported: BTreeSet<Module> = imports.values().flatten().cloned().collect();
        let left: BTreeSet<Module> = imports.keys().cloned().collect();
        imports.retain(|file, others| !others.is_disjoint(&left) && imported.contains(file));
        for others in imports.values_mut() {
            others.retain(|other| left.contains(other));
        }
        if imports.len() == left.len() {
            break;
        }
    }
    for (from, others) in &imports {
        let others: Vec<String> = others.iter().map(|other| other.join("::")).collect();
        find(from, format!("in a circle of imports, by way of {}", others.join(", ")));
    }
    findings
}

fn wings(map: &str) -> Arrows {
    promised(map, "The wings of `machine/engine` point one way, too: ")
}

#[test]
fn the_wings_of_the_engine_point_one_way() {
    let (map, sources) = (text("ARCHITECTURE.md"), texts(&["crates/machine/src"], &["rs"]));
    let wings = wings(&map);
    let known: BTreeSet<&String> = wings.iter().flat_map(|(from, to)| to.iter().chain([from])).collect();
    let imports = imports(&sources);
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 50, "imports are seen");
    for file in imports.keys() {
        assert!(known.contains(&file[1]), "ARCHITECTURE.md has no place for the wing {}", file[1]);
    }
    expect_none(&entangled(&wings, &sources));
}

#[test]
fn an_import_against_the_order_and_a_circle_are_found() {
    let wings = wings("The wings of `machine/engine` point one way, too: top → middle; middle → bottom.\n\n");
    let found = |changed: &str, text: &str| -> Vec<String> {
        let mut sources = planted(&[
            ("crates/machine/src/lib.rs", "mod engine;\nmod plain;"),
            ("crates/machine/src/plain.rs", "use crate::engine::top::a::A;"),
            ("crates/machine/src/engine/mod.rs", "mod top;\nuse top::a::A;"),
            ("crates/machine/src/engine/top/mod.rs", "mod a;\npub use a::A;"),
            ("crates/machine/src/engine/top/a.rs", "use crate::engine::{middle, bottom::B};"),
            (
                "crates/machine/src/engine/middle/mod.rs",
                "use crate::plain::P;\nuse crate::engine::bottom::{B};",
            ),
            ("crates/machine/src/engine/bottom.rs", "pub struct B;"),
        ]);
        sources.insert(format!("crates/machine/src/engine/{changed}"), text.to_owned());
        entangled(&wings, &sources).iter().map(ToString::to_string).collect()
    };
    assert_eq!(found("bottom.rs", ""), Vec::<String>::new());
    assert_eq!(found("bottom.rs", "#[cfg(test)]\nmod tests { use crate::engine::middle::X; }").len(), 0);
    assert_eq!(found("bottom.rs", "// use crate::engine::middle::X;").len(), 0);
    for upwards in ["use crate::engine::{\n    middle::{X, Y},\n};", "fn f(x: super::middle::X) {}"] {
        let found = found("bottom.rs", upwards);
        assert!(found.iter().any(|f| f.contains("bottom imports middle")), "{found:?}");
        let both = |f: &&String| f.contains("in a circle");
        assert_eq!(found.iter().filter(both).count(), 2, "middle and bottom: {found:?}");
    }
    let found = found("top/a.rs", "use super::A;");
    assert!(
        found.len() == 2 && found.iter().all(|f| f.contains("in a circle")),
        "a and its folder: {found:?}"
    );
}
