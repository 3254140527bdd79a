//! What differs from seed to seed although no dice decide it: where in a tick a recording's timers lay, which
//! nobody knows.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Values by name, one for each seed.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub(super) struct EachSeed(BTreeMap<String, Vec<String>>);

impl EachSeed {
    /// A load as it is with a seed, from 1 on.
    pub fn fill(&self, load: &str, seed: u64) -> String {
        let of_seed = |values: &'_ Vec<String>| {
            let index = usize::try_from(seed).unwrap_or(1).saturating_sub(1);
            values.get(index).cloned().unwrap_or_default()
        };
        self.0.iter().fold(load.to_owned(), |load, (name, values)| {
            load.replace(&format!("{{{name}}}"), &of_seed(values))
        })
    }

    /// Whether there is a value for each seed, and each stands somewhere.
    pub fn check(&self, seeds: u32, loads: &[String]) -> Result<(), String> {
        for (name, values) in &self.0 {
            if values.len() != seeds as usize {
                return Err(format!(
                    "each_seed.{name} has {} values, and there are {seeds} seeds",
                    values.len()
                ));
            }
            if !loads.iter().any(|load| load.contains(&format!("{{{name}}}"))) {
                return Err(format!("{{{name}}} stands in no load, so it changes nothing"));
            }
        }
        Ok(())
    }
}
