//! Lines of Rust are as wide as rustfmt.toml says, comments too, which rustfmt leaves alone.

use crate::source::lines;
use crate::tree::{Finding, Texts, expect_none, planted, text, texts};

/// Columns of a line.
fn width() -> usize {
    let config: toml::Table = text("rustfmt.toml").parse().expect("TOML");
    config["max_width"].as_integer().and_then(|width| width.try_into().ok()).expect("max_width")
}

/// Lines that are wider, but for what cannot be broken: the text of a literal of several lines, which is
/// data, and the rows of a table in a comment.
fn too_wide(sources: &Texts, width: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in sources {
        for (index, (line, parts)) in text.lines().zip(lines(text)).enumerate() {
            let columns = line.chars().count();
            let of_table = line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|');
            if columns > width && !parts.in_literal && !of_table {
                let what = format!("{columns} columns, {width} are the most");
                findings.push(Finding { path: path.clone(), line: index + 1, what });
            }
        }
    }
    findings
}

#[test]
fn no_line_is_wider_than_rustfmt_says() {
    expect_none(&too_wide(&texts(&["crates", "fuzz", "python", "tests"], &["rs"]), width()));
}

#[test]
fn a_wide_line_is_found() {
    let found = |text: &str| too_wide(&planted(&[("a.rs", text)]), 10).len();
    assert_eq!((found("// 45678 0"), found("// 45678 01"), found("µ345678 0")), (0, 1, 0));
    assert_eq!(found("a(\"5678901\")"), 1, "a literal of one line can be broken");
    assert_eq!(found("a(\"\n45678901234\n\")"), 0, "data");
    assert_eq!((found("//! | a table |"), found("a || b || c")), (0, 1));
}
