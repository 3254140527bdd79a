//! How long woken tasks waited under several configurations, over each other.

use super::Plot;
use super::distributions::{Charts, Curve, Words};
use std::collections::BTreeMap;

/// Of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latencies {
    /// Its name.
    pub name: String,
    /// From each wakeup until the task ran, nanoseconds.
    pub each_ns: Vec<u64>,
}

const WORDS: Words = Words {
    often: "How often a woken task waited so long",
    longer: "Which share waited longer",
    length: "from wakeup to running",
    of: "of all wakeups",
    none: "nobody woken",
};

/// Two charts in one picture; none where nobody was woken.
#[must_use]
pub fn latencies(all: &[Latencies]) -> Option<Plot> {
    let curve = |one: &Latencies| {
        let mut counts = BTreeMap::new();
        one.each_ns.iter().for_each(|ns| *counts.entry(*ns).or_insert(0) += 1);
        Curve::of_counts(one.name.clone(), counts)
    };
    let curves: Vec<Curve> = all.iter().map(curve).collect();
    Some(Plot { name: "latencies".to_owned(), svg: Charts::of(&curves, WORDS)?.svg() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_both_configurations_in_units_that_people_read() {
        let of = |name: &str, each_ns: &[u64]| Latencies { name: name.to_owned(), each_ns: each_ns.to_vec() };
        let each = |factor: u64| (1..500).map(|n| n * n * factor).collect::<Vec<u64>>();
        let svg = latencies(&[of("base", &each(3)), of("cpus=1", &each(40))]).expect("a picture").svg;
        for text in ["base, at most 747 µs", "cpus=1, at most 9.96 ms", "10 µs", "100 %", "1 %"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert!(latencies(&[of("base", &[])]).is_none());
        assert!(latencies(&[of("base", &[7]), of("other", &[])]).is_some());
    }
}
