//! What a run counts, as the results declare it.

use super::Entry;
use schema::{CpuResult, Field, RqLockStats, Totals};

/// Who has counters, in the words of the text and of the JSON.
const PLACES: [(&str, &[Field]); 3] = [
    ("of the whole machine (`totals`)", Totals::FIELDS),
    ("of each CPU (`cpus`)", CpuResult::FIELDS),
    ("of each CPU's run-queue lock (`cpus`, `rq_lock`)", RqLockStats::FIELDS),
];

fn all() -> impl Iterator<Item = (&'static str, &'static Field)> {
    let counted = |(title, fields): (&'static str, &'static [Field])| {
        fields.iter().filter(|field| field.counts).map(move |field| (title, field))
    };
    PLACES.into_iter().flat_map(counted)
}

/// Each once, those of the whole machine first.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (_, field) in all() {
        if !entries.iter().any(|entry| entry.name == field.name) {
            entries.push(Entry::new(field.name, field.about));
        }
    }
    entries
}

/// The counter that the tables call so.
pub fn by_label(label: &str) -> Option<Entry> {
    let is_called = |field: &&Field| field.label.is_some_and(|known| known.eq_ignore_ascii_case(label));
    all().map(|(_, field)| field).find(is_called).map(|field| Entry::new(field.name, field.about))
}

/// The counter that comparisons call so: `cpus.idle`.
pub fn by_metric(key: &str) -> Option<Entry> {
    let (place, name) = key.split_once('.')?;
    let fields = match place {
        "totals" => Totals::FIELDS,
        "cpus" => CpuResult::FIELDS,
        "rq_lock" => RqLockStats::FIELDS,
        _ => return None,
    };
    let is_it = |field: &&Field| field.counts && field.name.strip_suffix("_ns").unwrap_or(field.name) == name;
    fields.iter().find(is_it).map(|field| Entry::new(field.name, field.about))
}

/// Whose it is, with its words in the tables and what it says there.
pub fn places(name: &str) -> Vec<(&'static str, Entry)> {
    let named = all().filter(|(_, field)| field.name == name);
    named.map(|(title, field)| (title, Entry::new(field.label.unwrap_or(field.name), field.about))).collect()
}
