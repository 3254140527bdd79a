//! docs/kernel-audit.md: every finding is closed or a limit, and what shows it is there. The same of the
//! faults that the audit planted.

use std::collections::BTreeSet;

use regex_lite::Regex;

use crate::tree::{Finding, Texts, expect_none, planted, text, texts};

const PAGE: &str = "docs/kernel-audit.md";
const LIMITS: &str = "docs/limits.md";
const FAULTS: &str = "validation/mutants.md";

/// Names of all tests of these sources.
fn tests(sources: &Texts) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for source in sources.values() {
        let mut lines = source.lines().map(str::trim);
        while lines.any(|line| line == "#[test]") {
            let named = lines.by_ref().find_map(|line| line.strip_prefix("fn "));
            names.extend(named.and_then(|rest| rest.split('(').next()));
        }
    }
    names
}

/// First cells of the limits' table.
fn limits(page: &str) -> BTreeSet<&str> {
    page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

/// What is in backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn findings(page: &str, tests: &BTreeSet<&str>, limits: &BTreeSet<&str>) -> Vec<Finding> {
    let limit = Regex::new(r"limits? (`[a-z_]+`(?: and `[a-z_]+`)*)").expect("a pattern");
    let mut found = Vec::new();
    for (index, row) in page.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        let mut expect = |holds: bool, what: String| {
            if !holds {
                found.push(Finding { path: PAGE.to_owned(), line: index + 1, what });
            }
        };
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let &[finding, verdict, shown] = &cells[..] else {
            expect(false, format!("a row has three cells: finding, verdict, shown by; not {}", cells.len()));
            continue;
        };
        if finding == "finding" || finding.starts_with('-') {
            continue;
        }
        let named: Vec<&str> =
            limit.captures_iter(verdict).flat_map(|c| quoted(c.get(1).map_or("", |m| m.as_str()))).collect();
        let closed = verdict.contains("closed");
        expect(closed || !named.is_empty(), "neither closed nor a limit".to_owned());
        expect(!closed || shown.contains('`'), "closed, and no test shows it".to_owned());
        for name in named.into_iter().filter(|name| !limits.contains(name)) {
            expect(false, format!("{LIMITS} has no {name}"));
        }
        for name in quoted(shown).filter(|name| !tests.contains(name)) {
            expect(false, format!("there is no test {name}"));
        }
    }
    found
}

#[test]
fn each_finding_is_closed_or_a_limit_and_what_shows_it_exists() {
    let (page, sources) = (text(PAGE), texts(&["crates"], &["rs"]));
    let limits_page = text(LIMITS);
    assert!(page.lines().filter(|line| line.starts_with('|')).count() > 60, "{PAGE} has lost its rows");
    expect_none(&findings(&page, &tests(&sources), &limits(&limits_page)));
}

/// Rows of two cells, a fault and the test that notices it: the table below `| fault | test |`.
fn unnoticed(page: &str, tests: &BTreeSet<&str>) -> Vec<Finding> {
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != "| fault | test |");
    let rows = lines.skip(2).take_while(|(_, line)| line.starts_with('|'));
    let missing = rows.flat_map(|(index, row)| {
        let shown = row.trim_matches('|').rsplit('|').next().unwrap_or_default();
        let unknown = quoted(shown).filter(|name| !tests.contains(name));
        let finding = |name| Finding {
            path: FAULTS.to_owned(),
            line: index + 1,
            what: format!("there is no test {name}"),
        };
        unknown.map(finding).collect::<Vec<_>>()
    });
    missing.collect()
}

#[test]
fn the_tests_that_notice_planted_faults_exist() {
    let (page, sources) = (text(FAULTS), texts(&["crates"], &["rs"]));
    assert!(page.contains("| fault | test |\n|---|---|\n| "), "{FAULTS} has lost its table");
    expect_none(&unnoticed(&page, &tests(&sources)));
    let planted =
        unnoticed("| fault | test |\n|---|---|\n| a fault | `lost` |\n\n| `else` |", &BTreeSet::new());
    assert_eq!(planted.iter().map(|finding| &*finding.what).collect::<Vec<_>>(), ["there is no test lost"]);
}

#[test]
fn planted_rows_are_found() {
    let sources = planted(&[("a.rs", "#[test]\n#[cfg(unix)]\nfn shows_it() {\nfn helper() {\n")]);
    let row = |row: &str| {
        let found = findings(row, &tests(&sources), &limits("| `known` | small |\n"));
        found.into_iter().map(|finding| finding.what).collect::<Vec<_>>()
    };
    assert_eq!(row("| a thing | closed | `shows_it` |"), [""; 0]);
    assert_eq!(row("| a thing | limit `known`: as far as it goes | |"), [""; 0]);
    assert_eq!(row("| a thing | closed | `helper` |"), ["there is no test helper"]);
    assert_eq!(row("| a thing | closed | |"), ["closed, and no test shows it"]);
    assert_eq!(row("| a thing | limits `known` and `lost` | |"), ["docs/limits.md has no lost"]);
    assert_eq!(row("| a thing | soon | |"), ["neither closed nor a limit"]);
    assert_eq!(row("| a thing | closed |").len(), 1);
}
