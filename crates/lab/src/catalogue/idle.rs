//! What idle states, their governors and their metrics are: names that machine files give, and kernels.

use super::{Entry, Explanation, Kind};
use machine::Governor;

/// Where the specification tells of governors.
const SOURCE: &str = "machine.md 5.4";
/// So begin the key and the label of the metric of a state, and so do they end.
const METRIC: [(&str, &str); 2] = [("idle.", ".time"), ("idle state ", ": time")];

/// The governors that have a word of their own; that for none is of this language.
pub fn terms() -> impl Iterator<Item = Entry> {
    Governor::ALL.into_iter().filter(|governor| *governor != Governor::None).map(entry)
}

/// All of them, in their order.
pub fn governors() -> Vec<Entry> {
    Governor::ALL.into_iter().map(entry).collect()
}

fn entry(governor: Governor) -> Entry {
    Entry::new(governor.name(), governor.meaning())
}

/// Where the specification has what such a term means.
pub fn source(term: &str) -> Option<String> {
    let is_governor = Governor::ALL.iter().any(|governor| governor.name() == term);
    (is_governor || ["POLL", "idle state"].contains(&term)).then(|| SOURCE.to_owned())
}

/// The names that Linux gives idle states: `C1E`. A machine file may call them as it likes.
pub fn state(name: &str) -> Option<Entry> {
    let number = name.strip_prefix(['C', 'c'])?;
    let letter = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_one = number.len() > letter.len()
        && number.len() <= 3
        && letter.chars().all(|c| c.is_ascii_alphabetic())
        && letter.len() <= 1;
    is_one.then(|| {
        Entry::new(
            name.to_uppercase(),
            "An idle state, as cpuidle and machine files ([idle]) call it: the higher the number, the deeper it is, \
             the less power it takes and the longer it takes to leave.",
        )
    })
}

/// A name that nothing else has: of a state, or of what comparisons say of one.
pub fn explained(name: &str) -> Option<Explanation> {
    let of_metric = METRIC.iter().find_map(|(begin, end)| name.strip_prefix(begin)?.strip_suffix(end));
    let found = match of_metric.filter(|state| !state.is_empty()) {
        Some(state) => Entry::new(
            name,
            format!(
                "In comparisons, how long CPUs were in the idle state {state}, all of them together, what it took to \
                 leave it included."
            ),
        ),
        None => state(name)?,
    };
    let source = Some("machine.md 5.5".to_owned());
    Some(Explanation {
        kind: Kind::Term,
        name: found.name,
        meaning: found.meaning,
        source,
        sections: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use crate::explain;

    #[test]
    fn governors_states_and_their_metrics_are_explained() {
        for (name, found, begins) in [
            ("menu", "menu", "Idle governor: the deepest idle state that"),
            ("haltpoll", "haltpoll", "Idle governor of virtual machines"),
            ("TEO", "teo", "Idle governor: the deepest idle state that"),
            ("poll", "POLL", "The idle state in which"),
            ("idle state", "idle state", "What an idle CPU is in"),
            ("c10", "C10", "An idle state, as cpuidle"),
            ("idle.C10.time", "idle.C10.time", "In comparisons, how long CPUs were in the idle state C10,"),
            (
                "idle state C1E: time",
                "idle state C1E: time",
                "In comparisons, how long CPUs were in the idle",
            ),
        ] {
            let explanation = explain(name).expect(name);
            assert_eq!(explanation.name, found);
            assert!(explanation.meaning.starts_with(begins), "{name}: {}", explanation.meaning);
            assert!(explanation.source.is_some_and(|source| source.starts_with("machine.md 5.")), "{name}");
        }
        for no in ["C1EE", "C1234", "Cx", "idle..time"] {
            assert!(explain(no).is_err(), "{no}");
        }
    }

    /// The rule of this name is about frequencies.
    #[test]
    fn who_asks_for_the_governor_is_told_of_both() {
        let sections = explain("governor").expect("a rule").sections;
        let idle = sections.iter().find(|section| section.title.starts_with("of idle states")).expect("both");
        let names: Vec<&str> = idle.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["menu", "teo", "haltpoll", "none"]);
    }

    /// The specification has an item C1, too.
    #[test]
    fn a_state_is_told_beside_an_item_of_that_name() {
        let both = explain("C1").expect("both");
        assert!(
            both.sections.iter().any(|section| section.title == "as the name of an idle state"),
            "{both:?}"
        );
    }
}
