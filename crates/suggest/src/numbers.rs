//! What is wrong with a number, in words: libraries say it in those of Rust.

use crate::fields;

/// Rust's types of whole numbers as messages of serde name them, and what they hold.
const TYPES: [(&str, &str); 7] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number, not negative"),
    ("usize", "a whole number, not negative"),
    ("i64", "a whole number"),
    ("f64", "a number"),
];

const NO_WHOLE_NUMBER: &str = "it is not a whole number";

/// The problem in words for people, if it is one of those that libraries find with numbers or with fields;
/// else as it is.
///
/// ```
/// assert_eq!(suggest::in_words("0 is not in 1..=9"), "it is a whole number from 1 to 9");
/// assert_eq!(suggest::in_words("invalid digit found in string"), "it is not a whole number");
/// assert_eq!(suggest::in_words("nice values are -20 to 19"), "nice values are -20 to 19");
/// ```
pub fn in_words(problem: &str) -> String {
    range(problem)
        .or_else(|| parse(problem))
        .or_else(|| expected(problem))
        .or_else(|| fields::unknown(problem))
        .or_else(|| fields::no_object(problem))
        .unwrap_or_else(|| problem.to_owned())
}

/// What clap says of a number outside its range: `0 is not in 1..=9`.
fn range(problem: &str) -> Option<String> {
    let (_, range) = problem.split_once(" is not in ")?;
    let (least, most) = range.split_once("..")?;
    Some(match most.strip_prefix('=') {
        Some(most) => format!("it is a whole number from {least} to {most}"),
        // All that the type holds.
        None => format!("it is a whole number from {least} on"),
    })
}

/// The same of a number that somebody wrote: a negative one is a number, too, where none may be.
pub fn number_in_words(value: &str, problem: &str) -> String {
    let is_negative = value.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok());
    match in_words(problem) {
        words if is_negative && words == NO_WHOLE_NUMBER => "it cannot be negative".to_owned(),
        words => words,
    }
}

/// What `str::parse` says.
fn parse(problem: &str) -> Option<String> {
    let words = match problem {
        "number too large to fit in target type" => "it is too large",
        "number too small to fit in target type" => "it is too small",
        "number would be zero for non-zero type" => "it cannot be zero",
        "invalid digit found in string" => NO_WHOLE_NUMBER,
        "cannot parse integer from empty string" | "cannot parse float from empty string" => {
            "a number is missing"
        }
        "invalid float literal" => "it is not a number",
        _ => return None,
    };
    Some(words.to_owned())
}

/// What serde says of a value of the wrong kind: "invalid value: integer `-4`, expected u32".
fn expected(problem: &str) -> Option<String> {
    let (value, behind) = problem.split_once(", expected ")?;
    let (kind, rest) = behind.split_at(behind.find(' ').unwrap_or(behind.len()));
    let (_, words) = TYPES.iter().find(|(name, _)| *name == kind)?;
    Some(format!("{value}, expected {words}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libraries_say_of_numbers_is_said_in_words() {
        let huge = "9".repeat(30);
        let parsed = |text: &str| text.parse::<u32>().expect_err("no number").to_string();
        assert_eq!(in_words(&parsed(&huge)), "it is too large");
        let zero = "0".parse::<std::num::NonZeroU32>().expect_err("zero").to_string();
        assert_eq!(in_words(&zero), "it cannot be zero");
        assert_eq!(in_words(&parsed("2.5")), "it is not a whole number");
        assert_eq!(in_words(&parsed("")), "a number is missing");
        assert_eq!(in_words(&"x".parse::<f64>().expect_err("no number").to_string()), "it is not a number");
        assert_eq!(number_in_words("-3", &parsed("-3")), "it cannot be negative");
        assert_eq!(number_in_words("3x", &parsed("3x")), "it is not a whole number");
        assert_eq!(in_words("0 is not in 1.."), "it is a whole number from 1 on");
        assert_eq!(
            in_words("invalid value: integer `-4`, expected u32 at line 1 column 9"),
            "invalid value: integer `-4`, expected a whole number from 0 to 4294967295 at line 1 column 9"
        );
        assert_eq!(in_words("invalid type: map, expected a string"), "invalid type: map, expected a string");
    }
}
