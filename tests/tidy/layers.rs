//! Who may depend on whom, and who alone may touch the world: what ARCHITECTURE.md promises.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;
use toml::Table;

use crate::source::{is_test, lines, used_paths, without_tests};
use crate::tree::{Finding, Texts, expect_none, planted, text, texts};

const MAP: &str = "ARCHITECTURE.md";

/// Crates, or folders, by name, each with those that it names.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// "Dependencies point one way: schedlab → workload, trace; …", or however else the sentence begins, up to
/// the end of the paragraph.
pub fn promised(map: &str, begins: &str) -> Arrows {
    let (_, rest) = map.split_once(begins).expect("the sentence");
    let paragraph = rest.split("\n\n").next().expect("a paragraph").replace('\n', " ");
    let arrows = paragraph.trim().trim_end_matches('.').split("; ");
    arrows
        .map(|arrow| {
            let (from, to) = arrow.split_once(" → ").unwrap_or_else(|| panic!("no arrow in {arrow:?}"));
            (from.trim().to_owned(), to.split(", ").map(|name| name.trim().to_owned()).collect())
        })
        .collect()
}

/// Whatever can be reached along the arrows.
pub fn reachable(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for to in arrows.get(&name).into_iter().flatten() {
            if found.insert(to.clone()) {
                open.push(to.clone());
            }
        }
    }
    found
}

/// Folder of a crate: `crates/NAME/…`.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// What a Cargo.toml depends on, for any purpose.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let of = |table: &Table| -> Vec<String> {
        let names = tables.iter().filter_map(|kind| table.get(*kind)?.as_table());
        names.flat_map(|names| names.keys().cloned()).collect()
    };
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    let of_targets = targets.into_iter().flat_map(|t| t.values()).filter_map(|target| target.as_table());
    of(manifest).into_iter().chain(of_targets.flat_map(of)).collect()
}

/// Arrows that the map does not promise, promised ones that are not there, and crates that it does not show.
fn wrong_arrows(map: &str, manifests: &Texts) -> Vec<Finding> {
    let promised = promised(map, "Dependencies point one way: ");
    let parsed: Vec<(&str, &str, Table)> = manifests
        .iter()
        .map(|(path, text)| {
            let name = crate_of(path).unwrap_or_else(|| panic!("{path} is no crate's"));
            (name, path.as_str(), text.parse().unwrap_or_else(|error| panic!("{path}: {error}")))
        })
        .collect();
    let ours: BTreeSet<&str> = parsed.iter().map(|(name, ..)| *name).collect();
    let mut findings = Vec::new();
    let mut find = |path: &str, what: String| findings.push(Finding { path: path.to_owned(), line: 1, what });
    for (name, path, manifest) in &parsed {
        let needed = dependencies(manifest);
        let allowed = reachable(&promised, name);
        for other in needed.iter().filter(|other| ours.contains(other.as_str())) {
            if !allowed.contains(other) {
                find(path, format!("{name} depends on {other}, which {MAP} does not allow"));
            }
        }
        for other in promised.get(*name).into_iter().flatten() {
            if !needed.contains(other) {
                find(path, format!("{MAP} lets {name} depend on {other}, and it does not"));
            }
        }
        if *name == "scheduler" && !needed.is_empty() {
            find(path, format!("the scheduler is no_std and depends on nothing, not on {needed:?}"));
        }
        if needed.contains("clap") && !["schedlab", "workload"].contains(name) {
            find(path, "only schedlab parses arguments, and workload the command lines of loads".to_owned());
        }
        let lints = manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        if lints != Some(true) {
            find(path, "it does not share the lints of the workspace (unsafe, docs, clippy)".to_owned());
        }
        if !map.contains(&format!("\n  {name}/")) {
            find(MAP, format!("the map does not show crates/{name}"));
        }
    }
    findings
}

#[test]
fn dependencies_are_those_of_the_map() {
    let manifests: Texts =
        texts(&["crates"], &["toml"]).into_iter().filter(|(path, _)| path.ends_with("/Cargo.toml")).collect();
    assert!(manifests.len() > 5);
    expect_none(&wrong_arrows(&text(MAP), &manifests));
}

#[test]
fn a_wrong_dependency_is_found() {
    let map = "  scheduler/ a\n  machine/ b\n  report/ c\nDependencies point one way: report → machine; \
               machine →\nscheduler.\n\n";
    let map = format!("\n{map}");
    let manifest = |rest: &str| format!("[lints]\nworkspace = true\n[dependencies]\n{rest}");
    let found = |scheduler: &str, machine: &str, report: &str| -> Vec<String> {
        let manifests = [("scheduler", scheduler), ("machine", machine), ("report", report)]
            .map(|(name, rest)| (format!("crates/{name}/Cargo.toml"), manifest(rest)));
        wrong_arrows(&map, &manifests.into()).iter().map(ToString::to_string).collect()
    };
    let (machine, report) = ("scheduler.workspace = true", "machine.workspace = true");
    assert_eq!(found("", machine, report), Vec::<String>::new());
    assert_eq!(
        found("", machine, "machine = \"1\"\nscheduler = \"1\""),
        Vec::<String>::new(),
        "along two arrows"
    );
    for (found, expected) in [
        (
            found("", "scheduler = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\nreport = \"1\"", report),
            "machine depends on report",
        ),
        (found("libc = \"1\"", machine, report), "the scheduler is no_std"),
        (found("", machine, ""), "lets report depend on machine, and it does not"),
        (found("", machine, "machine = \"1\"\nclap = \"1\""), "only schedlab parses arguments"),
    ] {
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
    let bare = planted(&[("crates/other/Cargo.toml", "[dependencies]")]);
    let found: Vec<String> = wrong_arrows(&map, &bare).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "no lints, not on the map: {found:?}");
}

/// Something that only some parts may do.
struct Right {
    /// In the code.
    pattern: &'static str,
    /// Beginnings of the paths that may.
    of: &'static [&'static str],
    reason: &'static str,
}

const RIGHTS: [Right; 6] = [
    Right {
        pattern: r"\bstd::(fs|net|process|env|\*)|\bstd as\b|\bFile::open\b|\brustix::|\btempfile::",
        of: &["crates/schedlab/", "crates/lab/examples/"],
        reason: "only schedlab touches the disk, the environment and other processes, and examples",
    },
    Right {
        pattern: r"\be?print(ln)?!|\bdbg!|\bstd(in|out|err)\(\)",
        of: &["crates/schedlab/", "crates/lab/examples/"],
        reason: "only schedlab prints, and examples",
    },
    Right {
        pattern: r"\bclap\b",
        of: &["crates/schedlab/", "crates/workload/src/load/", "crates/workload/src/rtapp/mod.rs"],
        reason: "only schedlab parses arguments, and loads their own command lines",
    },
    Right {
        pattern: r"\b(SystemTime|std::time::Instant|HashMap|HashSet)\b",
        of: &["crates/schedlab/src/cli/watch.rs"],
        reason: "neither the wall clock nor an order by chance reaches a result",
    },
    Right {
        pattern: r"\bclippy::disallowed",
        of: &["crates/schedlab/src/cli/watch.rs"],
        reason: "clippy.toml says why these are disallowed",
    },
    Right {
        pattern: r"\.await\b|\basync\b",
        of: &["crates/scheduler/", "crates/machine/src/engine/"],
        reason: "an await means that virtual time passes; nothing else awaits",
    },
];

fn usurped(sources: &Texts) -> Vec<Finding> {
    let rights: Vec<(Regex, &Right)> =
        RIGHTS.iter().map(|right| (Regex::new(right.pattern).expect("a pattern"), right)).collect();
    let mut findings = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !is_test(path)) {
        let lines = without_tests(lines(text));
        // `use std::{io, fs}` names std::fs, too.
        let used = used_paths(&lines);
        let named = used.iter().map(|used| (used.line, used.path.as_str()));
        let written = lines.iter().enumerate().map(|(index, line)| (index, line.code.as_str()));
        let code: Vec<(usize, &str)> = written.chain(named).collect();
        for (pattern, right) in &rights {
            if right.of.iter().any(|of| path.starts_with(of)) {
                continue;
            }
            let found = code.iter().filter_map(|(index, code)| Some((*index, pattern.find(code)?.as_str())));
            let found: BTreeSet<(usize, &str)> = found.collect();
            findings.extend(found.into_iter().map(|(index, word)| {
                let what = format!("{word}: {}", right.reason);
                Finding { path: path.clone(), line: index + 1, what }
            }));
        }
    }
    findings
}

#[test]
fn only_those_touch_the_world_who_may() {
    let sources = texts(&["crates"], &["rs"]);
    expect_none(&usurped(&sources));
    for right in &RIGHTS {
        for of in right.of {
            let used = sources.keys().any(|path| path.starts_with(of));
            assert!(used, "{of} may ({}), and is not there", right.reason);
        }
    }
}

#[test]
fn who_touches_the_world_without_a_right_is_found() {
    let found = |path: &str, text: &str| usurped(&planted(&[(path, text)])).len();
    for code in [
        "let text = std::fs::read(path);",
        "let file = File::open(path);",
        "use std::fs;",
        "use std::{io, fs};",
        "use std::{\n    fmt::{self, Debug},\n    fs::File,\n};",
        "use std as s;",
        "println!(\"x\");",
        "use clap::Parser;",
        "use std::time::SystemTime;",
        "let map = HashMap::new();",
        "#[allow(clippy::disallowed_types)]",
        "let answer = future.await;",
    ] {
        assert_eq!(found("crates/trace/src/read.rs", code), 1, "{code}");
        assert_eq!(found("crates/trace/src/read.rs", &format!("/* {code} */")), 0, "a comment");
        assert_eq!(
            found("crates/trace/src/read.rs", &format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{ {code} }}")),
            0
        );
        let behind_tests = format!("#[cfg(test)]\nuse x::y;\n{code}\n#[cfg(test)]\nmod tests {{ {code} }}");
        assert_eq!(found("crates/trace/src/read.rs", &behind_tests), 1, "behind something for tests");
        assert_eq!(found("crates/trace/tests/it/main.rs", code), 0, "a test");
    }
    assert_eq!(found("crates/schedlab/src/files.rs", "File::open(path); println!()"), 0);
    assert_eq!(found("crates/lab/src/sources.rs", "std::fs::read(path); println!()"), 2);
    assert_eq!(found("crates/workload/src/load/hog.rs", "use clap::Parser;"), 0);
    assert_eq!(found("crates/workload/src/dist.rs", "use clap::Parser;"), 1);
}

/// What the library says must make sense without our command line. (That of cargo is another matter.)
fn named_options(sources: &Texts) -> Vec<Finding> {
    let option = Regex::new(r"(^|[^-\w])--[a-z]").expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !is_test(path)) {
        let code = without_tests(lines(text));
        let says = text.lines().enumerate().filter(|(index, _)| code[*index].is_said());
        let says = says.filter(|(_, line)| !line.contains("cargo "));
        for (index, line) in says.filter(|(_, line)| option.is_match(line)) {
            let what =
                format!("an option of the program: schedlab/src/wording.rs names those: {}", line.trim());
            findings.push(Finding { path: path.clone(), line: index + 1, what });
        }
    }
    findings
}

#[test]
fn the_library_names_no_option_of_the_program() {
    let library = texts(&["crates/lab/src"], &["rs"]);
    assert!(library.contains_key("crates/lab/src/error.rs"), "it is looked at");
    expect_none(&named_options(&library));
    let planted = planted(&[
        ("crates/lab/src/error.rs", "    #[error(\"--task: nobody\")]\n    // --task\n"),
        ("crates/lab/src/notes.rs", "    \"hz=250; --set hz=N for another\"\n#[cfg(test)]\n\"--set\""),
    ]);
    assert_eq!(named_options(&planted).len(), 2);
}
