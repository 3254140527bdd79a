//! Which figures runs have.

use schema::Metric;
use std::collections::BTreeMap;

/// Metrics in the order in which they were met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Metrics {
    list: Vec<Metric>,
    places: BTreeMap<String, usize>,
}

impl Metrics {
    /// Where it stands in the list; at the end, if it is new.
    pub fn place(&mut self, metric: &Metric) -> usize {
        if let Some(place) = self.places.get(&metric.key) {
            return *place;
        }
        let place = self.list.len();
        self.places.insert(metric.key.clone(), place);
        // How finely a figure can be told depends on its value; which run came first must not show.
        self.list.push(Metric { resolution: 1, ..metric.clone() });
        place
    }

    /// Puts it at the end, if it is new.
    pub fn add(&mut self, metric: &Metric) {
        self.place(metric);
    }

    /// By its key.
    pub fn get(&self, key: &str) -> Option<&Metric> {
        self.places.get(key).map(|place| &self.list[*place])
    }

    /// All.
    pub fn list(&self) -> &[Metric] {
        &self.list
    }

    /// All keys, in the order of the alphabet.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.places.keys()
    }
}
