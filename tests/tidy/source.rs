//! A Rust text line by line: what is code, what is comment, and where a literal goes on from one line to the
//! next.

use regex_lite::Regex;

/// One line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Line {
    /// Without comments; of strings only the quotes.
    pub code: String,
    /// Whether a string literal began on an earlier line or goes on in the next: its text is data.
    pub in_literal: bool,
}

impl Line {
    /// Whether it has code, or a part of a literal.
    pub fn is_said(&self) -> bool {
        self.in_literal || !self.code.trim().is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    /// With its depth.
    BlockComment(u32),
    String,
    /// With the number of `#` that end it.
    RawString(usize),
}

/// The lines of a text.
pub fn lines(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    text.lines()
        .map(|line| {
            let began_in_literal = is_literal(state);
            let mut code = String::new();
            state = scan(line, state, &mut code);
            Line { code, in_literal: began_in_literal || is_literal(state) }
        })
        .collect()
}

fn is_literal(state: State) -> bool {
    matches!(state, State::String | State::RawString(_))
}

/// Reads a line; returns the state in which the next one begins.
fn scan(line: &str, mut state: State, code: &mut String) -> State {
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let mut step = first.len_utf8();
        match state {
            State::LineComment => break,
            State::BlockComment(depth) if rest.starts_with("*/") => {
                step = 2;
                state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
            }
            State::BlockComment(depth) if rest.starts_with("/*") => {
                step = 2;
                state = State::BlockComment(depth + 1);
            }
            State::BlockComment(_) => {}
            // Also the backslash at the end of a line.
            State::String if first == '\\' => step = rest.chars().take(2).map(char::len_utf8).sum(),
            State::String if first == '"' => {
                state = State::Code;
                code.push('"');
            }
            State::RawString(hashes) if ends_raw(rest, hashes) => {
                step = 1 + hashes;
                state = State::Code;
                code.push('"');
            }
            State::String | State::RawString(_) => {}
            State::Code if rest.starts_with("//") => state = State::LineComment,
            State::Code if rest.starts_with("/*") => {
                step = 2;
                state = State::BlockComment(1);
            }
            State::Code => match (raw_string(rest, code), char_literal(rest)) {
                (Some(opening), _) => {
                    step = opening;
                    state = State::RawString(opening - 2);
                    code.push('"');
                }
                (None, Some(len)) => {
                    step = len;
                    code.push_str("' '");
                }
                (None, None) => {
                    if first == '"' {
                        state = State::String;
                    }
                    code.push(first);
                }
            },
        }
        rest = &rest[step..];
    }
    if state == State::LineComment { State::Code } else { state }
}

fn ends_raw(rest: &str, hashes: usize) -> bool {
    rest.strip_prefix('"').is_some_and(|after| after.bytes().take_while(|b| *b == b'#').count() >= hashes)
}

/// Length of the opening of a raw string: `r"`, `r#"`.
fn raw_string(rest: &str, before: &str) -> Option<usize> {
    let name_goes_on = before.ends_with(|c: char| c.is_alphanumeric() && c != 'b' || c == '_');
    let hashes = rest.strip_prefix('r')?.bytes().take_while(|b| *b == b'#').count();
    (!name_goes_on && rest[1 + hashes..].starts_with('"')).then_some(2 + hashes)
}

/// Length of `'x'`, `'\n'`, `'\u{1}'`; a lifetime is none.
fn char_literal(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let len = match inner.strip_prefix('\\') {
        Some(escaped) => 2 + escaped.chars().next()?.len_utf8() + escaped[1..].find('\'')?,
        None => 1 + inner.chars().next()?.len_utf8(),
    };
    rest[len..].starts_with('\'').then_some(len + 1)
}

/// The same lines; those of items that exist for tests only have no code.
pub fn without_tests(mut lines: Vec<Line>) -> Vec<Line> {
    let mut rest = lines.iter_mut();
    while let Some(line) = rest.find(|line| line.code.trim_start().starts_with("#[cfg(test)]")) {
        // An item ends with its closing brace, or a semicolon where none is open.
        let mut depth = 0;
        let mut ends = |line: &Line| {
            line.code.chars().any(|sign| {
                depth += i32::from(sign == '{') - i32::from(sign == '}');
                depth == 0 && matches!(sign, '}' | ';')
            })
        };
        std::iter::once(line).chain(rest.by_ref()).map(std::mem::take).find(|line| ends(line));
    }
    lines
}

/// A path that `use` names.
pub struct Used {
    pub path: String,
    /// Of the word `use`, from 0 on.
    pub line: usize,
}

/// Every path of every `use`, in full.
pub fn used_paths(lines: &[Line]) -> Vec<Used> {
    let code = joined(lines);
    let mut found = Vec::new();
    for tree in use_statement().captures_iter(&code) {
        let mut paths = Vec::new();
        spread("", &tree[1], &mut paths);
        let begin = tree.get(0).map_or(0, |all| all.start());
        let line = code[..begin].matches('\n').count();
        found.extend(paths.into_iter().map(|path| Used { path, line }));
    }
    found
}

/// The code without what [`used_paths`] reads.
pub fn without_uses(lines: &[Line]) -> String {
    use_statement().replace_all(&joined(lines), "").into_owned()
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.code.as_str()).collect::<Vec<_>>().join("\n")
}

fn use_statement() -> Regex {
    Regex::new(r"\buse\s([^;]+);").expect("a pattern")
}

/// Every path in a tree of `use`: `a::{b, c::d}` is a::b and a::c::d.
fn spread(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let Some((before, inner)) = tree.trim().split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return found.push(format!("{prefix}{}", path.trim()));
    };
    let prefix = format!("{prefix}{}", before.trim());
    let (mut depth, mut begin) = (0, 0);
    let inner = inner.trim_end().strip_suffix('}').expect("a tree ends where it began");
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                spread(&prefix, &inner[begin..at], found);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !inner[begin..].trim().is_empty() {
        spread(&prefix, &inner[begin..], found);
    }
}

/// Whether a file holds nothing but tests.
pub fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/tests/") || path.contains("/benches/") || name.ends_with("tests.rs")
}

#[test]
fn comments_and_literals_are_told_from_code() {
    let text = "let a = \"// no \\\" comment\"; // yes\nlet b = 'x'; /* one\n/* two */ std::fs */ c('\"');\n\
                d::<'a>(r#\"one\n\"two\" // three\"#); e(\"first \\\n  second\"); f('\\u{1}', b'\\'');\nvar\"x\"";
    let lines = lines(text);
    let code: Vec<&str> = lines.iter().map(|line| line.code.trim()).collect();
    let expected = [
        "let a = \"\";",
        "let b = ' ';",
        "c(' ');",
        "d::<'a>(\"",
        "\"); e(\"",
        "\"); f(' ', b' ');",
        "var\"\"",
    ];
    assert_eq!(code, expected);
    let data: Vec<bool> = lines.iter().map(|line| line.in_literal).collect();
    assert_eq!(data, [false, false, false, true, true, true, false]);
}
