//! Paragraphs and names that fit into a line.

use super::width::columns;

/// A paragraph of at most as many columns as a line may have, broken at blanks; `first` opens it and `next`
/// its further lines. A word longer than a line stays whole: a file name that is broken is no file name.
pub fn wrap(text: &str, first: &str, next: &str) -> String {
    let columns = columns();
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut line_is_empty = true;
    for word in text.split_whitespace() {
        let blank = usize::from(!line_is_empty);
        if !line_is_empty && line.chars().count() + blank + word.chars().count() > columns {
            out.push_str(&line);
            out.push('\n');
            line = next.to_owned();
            line_is_empty = true;
        }
        if !line_is_empty {
            line.push(' ');
        }
        line.push_str(word);
        line_is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// A text whose lines are too long is broken at blanks; what goes on is indented by two more than the line.
pub fn fit(text: &str) -> String {
    let line = |line: &str| {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.chars().count() <= columns() {
            format!("{line}\n")
        } else {
            wrap(line, indent, &format!("{indent}  "))
        }
    };
    text.lines().map(line).collect()
}

/// The first `columns` characters of a name, with a mark where it was cut. A recorded name may hold anything:
/// control characters become `?`, so that none of them can break a table.
pub fn cut(name: &str, columns: usize) -> String {
    let mut short: String =
        name.chars().take(columns).map(|c| if c.is_control() { '?' } else { c }).collect();
    if name.chars().count() > columns {
        short.pop();
        short.push('~');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::in_columns;

    #[test]
    fn only_lines_that_are_too_long_are_broken() {
        let text = "a  table   line\n  two words and many more than fit\n\nend\n";
        let broken = "a  table   line\n  two words and\n    many more\n    than fit\n\nend\n";
        assert_eq!(in_columns(16, || fit(text)), broken);
        assert_eq!(in_columns(40, || fit(text)), text);
    }

    #[test]
    fn paragraphs_break_at_blanks_and_keep_long_words_whole() {
        let word = "x".repeat(100);
        assert_eq!(wrap(&format!("a {word} b"), "1 ", "2 "), format!("1 a\n2 {word}\n2 b\n"));
        assert_eq!(wrap("", "note: ", ""), "note:\n");
    }

    #[test]
    fn a_cut_name_says_so() {
        assert_eq!(cut("cyclictest", 10), "cyclictest");
        assert_eq!(cut("cyclictests", 10), "cyclictes~");
        assert_eq!(cut("a\nb\u{1b}[m", 10), "a?b?[m");
    }
}
