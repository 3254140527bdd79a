//! What is said besides results and errors: progress, warnings, what became of a file. On standard error, and
//! not with `--quiet`.

use super::output::say;
use indicatif::ProgressDrawTarget;
use std::io::{self, IsTerminal};

/// Whether to say more than was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Voice {
    /// Progress where somebody sees it, and warnings.
    Normal,
    /// Results and errors only.
    Quiet,
}

impl Voice {
    /// Where progress is drawn: on a terminal, if there is one.
    pub fn progress(self) -> ProgressDrawTarget {
        if self == Voice::Normal && io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        }
    }

    /// Says before a long run how it was understood.
    pub fn note(self, note: &str) {
        if self == Voice::Normal {
            say(&format!("note: {note}\n"));
        }
    }

    /// Says what does not stop the command.
    pub fn warn(self, warning: &str) {
        if self == Voice::Normal {
            say(&format!("warning: {warning}\n"));
        }
    }
}
