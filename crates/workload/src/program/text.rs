//! Marker text.

use std::fmt::Write;
use std::rc::Rc;

/// Text for the trace, which may contain the number of the current iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text(Rc<[Piece]>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Literal(Rc<str>),
    Iteration,
}

impl Text {
    /// Just this text.
    pub fn plain(text: &str) -> Text {
        Text([Piece::Literal(text.into())].into())
    }

    /// `before`, the task's iteration count, `after`.
    pub fn with_iteration(before: &str, after: &str) -> Text {
        Text([Piece::Literal(before.into()), Piece::Iteration, Piece::Literal(after.into())].into())
    }

    /// The text in the given iteration.
    pub fn render(&self, iteration: u64) -> Box<str> {
        let mut out = String::new();
        for piece in self.0.iter() {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Iteration => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "{iteration}");
                }
            }
        }
        out.into_boxed_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::plain(text)
    }
}
