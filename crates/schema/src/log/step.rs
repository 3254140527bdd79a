//! A step of a program in a log.

use serde::{Serialize, Serializer};
use std::fmt;

/// A step of a program: its word (`compute`, `sleep-until`, `send`) and its operands. JSON has it as one
/// text.
///
/// Most steps have one operand, a number. A log keeps them as they are and makes their texts for who reads
/// them: making and keeping a text of each was a quarter of what a log cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogStep(Kept);

/// Not larger than two words: see the size of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kept {
    Number { word: &'static &'static str, operand: u64 },
    Text(Box<Box<str>>),
}

impl LogStep {
    /// The step with this word, and a number as its only operand.
    #[must_use]
    pub fn of_number(word: &'static &'static str, operand: u64) -> LogStep {
        LogStep(Kept::Number { word, operand })
    }

    /// Another step, as text: its word, and behind it, after a space each, its operands.
    #[must_use]
    pub fn of_text(text: impl Into<Box<str>>) -> LogStep {
        LogStep(Kept::Text(Box::new(text.into())))
    }

    /// Its word.
    #[must_use]
    pub fn word(&self) -> &str {
        match &self.0 {
            Kept::Number { word, .. } => word,
            Kept::Text(text) => text.split_once(' ').map_or(text, |(word, _)| word),
        }
    }

    /// Its operand, if that is a number and the only one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match &self.0 {
            Kept::Number { operand, .. } => Some(*operand),
            Kept::Text(_) => None,
        }
    }
}

impl fmt::Display for LogStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kept::Number { word, operand } => write!(f, "{word} {operand}"),
            Kept::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for LogStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for LogStep {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}
