//! ARCHITECTURE.md as a map: the files that it names are there, and the words of its glossary stand where it
//! says.

use std::collections::BTreeSet;

use regex_lite::Regex;

use crate::tree::{Finding, Texts, expect_none, files_below, planted, text, texts};

const MAP: &str = "ARCHITECTURE.md";

/// Files that a short path of the map means: `rt/push.rs`, `machine/engine/`, `scheduler/check`, `cpu.rs`.
fn meant<'f>(short: &str, files: &'f BTreeSet<String>) -> Vec<&'f String> {
    let short = short.trim_end_matches('/');
    let (first, rest) = short.split_once('/').unwrap_or((short, ""));
    let begins = |file: &str, start: &str| {
        file.strip_prefix(start).is_some_and(|after| after.is_empty() || after.starts_with('/'))
    };
    // From the root; from a crate's source; from the source of any crate.
    let of_any = |file: &str| {
        let inner = file.strip_prefix("crates/").and_then(|file| file.split_once("/src/"));
        inner.is_some_and(|(_, inner)| begins(inner, short))
    };
    let of_crate = format!("crates/{first}/src/{rest}");
    let of_crate = of_crate.trim_end_matches('/');
    let fits = |file: &&String| {
        begins(file, short)
            || (rest.is_empty() && file.ends_with(&format!("/{short}")))
            || begins(file, &format!("crates/{short}"))
            || begins(file, of_crate)
            || of_any(file)
    };
    files.iter().filter(fits).collect()
}

/// Paths in backquotes.
fn paths(line: &str) -> Vec<&str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted
        .filter(|text| text.contains('/') || text.ends_with(".rs"))
        .filter(|text| !text.contains([' ', ':', '<', '*']) && !text.contains("NAME"))
        .collect()
}

fn lost_paths(map: &str, files: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in map.lines().enumerate() {
        for path in paths(line).into_iter().filter(|path| meant(path, files).is_empty()) {
            findings.push(Finding {
                path: MAP.to_owned(),
                line: index + 1,
                what: format!("{path} is not there"),
            });
        }
    }
    findings
}

/// A row of the glossary.
struct Word<'m> {
    line: usize,
    word: &'m str,
    place: &'m str,
}

fn glossary(map: &str) -> Vec<Word<'_>> {
    let lines = map.lines().enumerate().skip_while(|(_, line)| *line != "## Words");
    let rows = lines
        .skip(1)
        .take_while(|(_, line)| !line.starts_with("## "))
        .filter(|(_, line)| line.starts_with('|'));
    rows.skip(2)
        .map(|(index, row)| match row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>()[..] {
            [word, _, place] => Word { line: index + 1, word, place },
            _ => panic!("{MAP}:{}: a row has three cells: word, meaning, where", index + 1),
        })
        .collect()
}

/// Words that do not stand, in code or comment, in the file that explains them.
fn lost_words(map: &str, sources: &Texts) -> Vec<Finding> {
    let files = sources.keys().cloned().collect();
    let mut findings = Vec::new();
    for Word { line, word, place } in glossary(map) {
        let pattern =
            Regex::new(&format!(r"(?i)\b{}s?\b", word.replace([' ', '-'], "[ _-]?"))).expect("a pattern");
        let places = paths(place);
        let stands = places
            .iter()
            .all(|path| meant(path, &files).into_iter().any(|file| pattern.is_match(&sources[file])));
        if places.is_empty() || !stands {
            let what = format!("the word \"{word}\" does not stand in {place}");
            findings.push(Finding { path: MAP.to_owned(), line, what });
        }
    }
    findings
}

#[test]
fn the_map_names_what_is_there() {
    let files = files_below(&[
        "crates",
        "docs",
        "experiments",
        "machines",
        "fuzz",
        "tests",
        "demo",
        "validation",
        "python",
        "web/src",
    ]);
    expect_none(&lost_paths(&text(MAP), &files.into_iter().collect()));
}

#[test]
fn the_words_of_the_glossary_stand_where_it_says() {
    let map = text(MAP);
    let words: Vec<&str> = glossary(&map).iter().map(|word| word.word).collect();
    assert!(words.len() >= 30, "{} words", words.len());
    assert!(words.is_sorted_by_key(|word| word.to_lowercase()), "they are sorted: {words:?}");
    expect_none(&lost_words(&map, &texts(&["crates", "tests"], &["rs", "toml"])));
}

#[test]
fn what_is_not_there_is_found() {
    let sources =
        planted(&[("crates/a/src/rt/push.rs", "/// A pushable task."), ("crates/a/src/lib.rs", "")]);
    let files = sources.keys().cloned().collect();
    let lost = |map: &str| lost_paths(map, &files).len();
    for there in
        ["`rt/push.rs`", "`a/rt/push.rs`", "`a/rt`", "`crates/a/src/`", "`push.rs`", "no/path", "`a b/c`"]
    {
        assert_eq!(lost(there), 0, "{there}");
    }
    for gone in ["`rt/pull.rs`", "`a/r`", "`rt/push`", "`pull.rs`", "`b/rt/push.rs`"] {
        assert_eq!(lost(gone), 1, "{gone}");
    }
    let map = |word: &str, place: &str| {
        format!(
            "# A\n\n## Words\n\n| word | meaning | where |\n|---|---|---|\n| {word} | x | {place} |\n\n## \
             B\n| c |"
        )
    };
    let words = |word: &str, place: &str| lost_words(&map(word, place), &sources).len();
    assert_eq!((words("pushable", "`rt/push.rs`; rt-class 1.4"), words("Pushable task", "`a/rt`")), (0, 0));
    assert_eq!(
        (words("push", "`rt/push.rs`"), words("pushable", "`a/lib.rs`"), words("pushable", "here")),
        (1, 1, 1)
    );
}
