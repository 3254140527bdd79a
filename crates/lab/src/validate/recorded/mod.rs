//! What was recorded: figures that a file says, or that stand in files beside it.

mod tools;

pub(super) use tools::{Counted, tasks};

use super::measure::pointer;
use crate::error::Error;
use crate::sources::{self, Sources};
use serde::Deserialize;

/// A figure, or several repetitions.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedFile {
    /// It says it.
    One(f64),
    /// It says all of them.
    Many(Vec<f64>),
    /// It says where it stands.
    In(Place),
}

/// Where in files that a program printed.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// One for each repetition, beside the reference.
    files: Vec<String>,
    /// The JSON pointer of it (RFC 6901).
    at: Option<pointer::Value>,
    /// In a text: what stands before it.
    after: Option<String>,
}

impl RecordedFile {
    /// The figures; files are in this folder.
    pub fn values(&self, folder: &str, files: &dyn Sources) -> Result<Vec<f64>, Error> {
        match self {
            RecordedFile::One(one) => Ok(vec![*one]),
            RecordedFile::Many(many) => Ok(many.clone()),
            RecordedFile::In(place) => {
                place.files.iter().map(|name| place.value(&format!("{folder}{name}"), files)).collect()
            }
        }
    }
}

impl Place {
    fn value(&self, path: &str, files: &dyn Sources) -> Result<f64, Error> {
        let text = sources::text(path, files)?;
        let fault = |problem: String| Error::ReferenceFault { path: path.to_owned(), problem };
        match (&self.at, &self.after) {
            (Some(at), None) => {
                let json = serde_json::from_str(&text).map_err(|error| fault(format!("no JSON: {error}")))?;
                at.of(&json).map_err(fault)
            }
            (None, Some(before)) => number_after(&text, before)
                .ok_or_else(|| fault(format!("no number stands behind `{before}`"))),
            _ => Err(fault("`recorded` with `files` needs either `at` or `after`".to_owned())),
        }
    }
}

/// The first number behind these words.
fn number_after(text: &str, before: &str) -> Option<f64> {
    let (_, rest) = text.split_once(before)?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Files;

    #[test]
    fn a_number_is_found_in_what_a_program_printed() {
        assert_eq!(number_after("Running\nTime: 1.354\n", "Time:"), Some(1.354));
        assert_eq!(number_after("transactions: 53601 (5355.62 per", "("), Some(5355.62));
        assert_eq!(number_after("Time: none", "Time:"), None);
    }

    #[test]
    fn each_repetition_is_read_from_its_file() {
        let json = |text: &str| text.as_bytes().to_vec();
        let files = Files::from([
            ("run/1.json".to_owned(), json(r#"{"total": {"vol": 30}, "seconds": 10}"#)),
            ("run/2.json".to_owned(), json(r#"{"total": {"vol": 50}, "seconds": 10}"#)),
        ]);
        let of = |text: &str| toml::from_str::<std::collections::BTreeMap<String, RecordedFile>>(text);
        let place =
            of(r#"it = { files = ["1.json", "2.json"], at = { at = "/total/vol", per = "/seconds" } }"#);
        let it = &place.expect("TOML")["it"];
        assert_eq!(it.values("run/", &files).expect("both are there"), [3.0, 5.0]);
        let missing = of(r#"it = { files = ["1.json"], at = { at = "/total/nonvol" } }"#).expect("TOML");
        let error = missing["it"].values("run/", &files).expect_err("not there").to_string();
        assert!(error.contains("run/1.json") && error.contains("/total/nonvol"), "{error}");
    }
}
