//! The file as text: byte ranges, lines and columns.

use std::ops::Range;
use std::sync::Arc;

/// A place in a file, for people (line, column) and for programs that draw a label (byte range).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Bytes of the file.
    pub span: Range<usize>,
}

/// Name and text of a file. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

impl Source {
    pub fn new(name: &str, text: &str) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn place(&self, span: &Range<usize>) -> Position {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position {
            line: number(before.matches('\n').count() + 1),
            column: number(before[line_start..].chars().count() + 1),
            span: start..span.end.clamp(start, self.text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let source = Source::new("f", "aé\nb  x\n");
        let place = |span: Range<usize>| {
            let p = source.place(&span);
            (p.line, p.column)
        };
        assert_eq!(place(0..1), (1, 1));
        assert_eq!(place(3..4), (1, 3), "é has two bytes and one column");
        assert_eq!(place(7..8), (2, 4));
        assert_eq!(place(99..100), (3, 1), "beyond the end is the end");
    }
}
