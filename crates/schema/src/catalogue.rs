//! Schemas `schedlab-list/1` and `schedlab-explain/1`: what there is, and all about one name.

use serde::Serialize;

use crate::{ExplainSchema, ListSchema, json};

/// A list of things of one kind, from `schedlab list KIND --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// Always `"schedlab-list/1"`.
    pub schema: ListSchema,
    /// Version of schedlab.
    pub version: String,
    /// What the entries are: `kernel`, `distribution`, `feature`, `rule`, `tunable`, `alias`, `machine`,
    /// `load`, `decision`, `counter`, `experiment`, `limit` or `specification`.
    pub kind: String,
    /// The entries, in the order of the text.
    pub entries: Vec<Entry>,
}

/// All that is known about one name, from `schedlab explain NAME --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplainResult {
    /// Always `"schedlab-explain/1"`.
    pub schema: ExplainSchema,
    /// Version of schedlab.
    pub version: String,
    /// What kind of thing it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub meaning: String,
    /// Where it comes from, if not from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Values, options, figures: whatever it has.
    pub sections: Vec<Section>,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// Its name, as options take it; empty for a line that has none.
    pub name: String,
    /// What it is, in a sentence; of a limit, what is not modelled.
    pub meaning: String,
    /// Of a limit: what it changes, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitDetails>,
}

/// What the entry of a limit says besides what is not modelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitDetails {
    /// How much it can change: `large`, `medium` or `small`.
    pub effect: String,
    /// Which figures change, and how much where it was measured.
    pub changes: String,
    /// Profiles that are approximate in it.
    pub profiles: Vec<String>,
}

/// A part of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Section {
    /// What its lines are.
    pub title: String,
    /// The lines.
    pub entries: Vec<Entry>,
}

impl Entry {
    /// A name and its sentence.
    #[must_use]
    pub fn new(name: impl Into<String>, meaning: impl Into<String>) -> Entry {
        Entry { name: name.into(), meaning: meaning.into(), limit: None }
    }
}

impl ListResult {
    /// The list as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

impl ExplainResult {
    /// The explanation as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}
