//! Everything that has a name: kernels, distributions, features, rules, tunables, aliases, machines, loads,
//! decisions, counters, experiments, limits, and what the specification numbers.

mod columns;
mod counters;
mod explain;
mod idle;
mod lists;
mod specification;
mod terms;

use crate::error::Error;
use crate::kernel::NamedKernel;
use scheduler::registry::Feature;
use schema::{ExplainResult, ListResult};
use std::fmt;
use suggest::suggest;

pub use schema::{Entry, LimitDetails, Section};

/// A kind of things with names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Kernel profiles.
    Kernel,
    /// Distributions, each with the profile as which its kernel runs.
    Distribution,
    /// Scheduler features.
    Feature,
    /// Choices between historical behaviours.
    Rule,
    /// Sysctls.
    Tunable,
    /// Names that stand for several settings.
    Alias,
    /// Machines that come with the program.
    Machine,
    /// Standard loads.
    Load,
    /// Decisions that the scheduler counts, by their reason.
    Decision,
    /// What a run counts, of the whole machine or of each CPU.
    Counter,
    /// Published experiments that come with the program.
    Experiment,
    /// What is not modelled.
    Limit,
    /// Words of results.
    Term,
    /// Sections, invariants and examples of docs/spec.
    Specification,
}

impl Kind {
    /// Every kind, in the order in which a name is looked up.
    pub const ALL: [Kind; 14] = [
        Kind::Kernel,
        Kind::Distribution,
        Kind::Feature,
        Kind::Rule,
        Kind::Tunable,
        Kind::Alias,
        Kind::Machine,
        Kind::Load,
        Kind::Decision,
        Kind::Counter,
        Kind::Experiment,
        Kind::Limit,
        Kind::Term,
        Kind::Specification,
    ];

    /// In the singular.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Distribution => "distribution",
            Kind::Feature => "feature",
            Kind::Rule => "rule",
            Kind::Tunable => "tunable",
            Kind::Alias => "alias",
            Kind::Machine => "machine",
            Kind::Load => "load",
            Kind::Decision => "decision",
            Kind::Counter => "counter",
            Kind::Experiment => "experiment",
            Kind::Limit => "limit",
            Kind::Term => "term",
            Kind::Specification => "specification",
        }
    }

    /// All things of this kind.
    #[must_use]
    pub fn entries(self) -> Vec<Entry> {
        lists::of(self)
    }

    /// The list of them, for JSON.
    #[must_use]
    pub fn list(self) -> ListResult {
        listed(self.name(), self.entries())
    }
}

/// A list of things of a kind, in the singular.
#[must_use]
pub fn listed(kind: &str, entries: Vec<Entry>) -> ListResult {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ListResult { schema: schema::ListSchema, version, kind: kind.to_owned(), entries }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All that is known about one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// What kind of thing it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub meaning: String,
    /// Where it comes from, if not from here.
    pub source: Option<String>,
    /// Values, options, figures: whatever it has.
    pub sections: Vec<Section>,
}

impl Explanation {
    /// For JSON.
    #[must_use]
    pub fn into_result(self) -> ExplainResult {
        ExplainResult {
            schema: schema::ExplainSchema,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: self.kind.name().to_owned(),
            name: self.name,
            meaning: self.meaning,
            source: self.source,
            sections: self.sections,
        }
    }
}

/// Explains a name of any kind. Settings are found as they are written: `NO_RT_PUSH_IPI`, `search=linear`,
/// `kernel.sched_latency_ns`. Capitals do not matter where there is no exact match. What is none of these may
/// be a release of Linux: `5.14`. Counters are found by the words of the tables, too, and what the
/// specification numbers (`eevdf-class E10`) without its document, if there is such a number: `E10`;
/// a document is explained by its sections.
///
/// # Errors
/// Nothing has this name; the error suggests the nearest.
pub fn explain(name: &str) -> Result<Explanation, Error> {
    let by = |same: fn(&str, &str) -> bool| {
        candidates(name).into_iter().find_map(|candidate| {
            let mut found = Kind::ALL.into_iter().flat_map(|k| k.entries().into_iter().map(move |e| (k, e)));
            found.find(|(_, entry)| same(&entry.name, candidate))
        })
    };
    match by(|a, b| a == b).or_else(|| by(str::eq_ignore_ascii_case)) {
        Some((kind, entry)) => Ok(explain::as_column(explain::explain(kind, entry), name)),
        None if let Some(counter) = counters::by_label(name).or_else(|| counters::by_metric(name)) => {
            Ok(explain::as_column(explain::explain(Kind::Counter, counter), name))
        }
        None if !columns::headed(name).is_empty() => Ok(explain::as_column(explain::column(name), name)),
        None if let Some(found) = explain::alias_of_values(name) => Ok(found),
        None if let Some(found) = explain::not_modelled(name) => Ok(found),
        None if let Some(found) = specification::numbered(name) => Ok(explain::as_idle_state(found, name)),
        None if let Some(found) = specification::document(name) => Ok(found),
        None if let Some(found) = idle::explained(name) => Ok(found),
        None if let Ok(kernel) = NamedKernel::find(name) => Ok(explain::release(&kernel)),
        None => {
            let names = Kind::ALL.into_iter().flat_map(Kind::entries).map(|entry| entry.name);
            let names = names.chain(columns::headings());
            Err(Error::UnknownName { name: name.to_owned(), nearest: suggest(name, names) })
        }
    }
}

/// The name itself, then what it may be a setting of.
fn candidates(name: &str) -> Vec<&str> {
    let bare = name.strip_prefix("kernel.").unwrap_or(name);
    let bare = bare.split_once('=').map_or(bare, |(name, _)| name);
    let feature = bare.strip_prefix("NO_").filter(|f| Feature::ALL.iter().any(|known| known.name() == *f));
    [Some(name), Some(bare), feature].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_name_belongs_to_one_kind() {
        let mut seen = BTreeMap::new();
        for kind in Kind::ALL {
            for entry in kind.entries() {
                assert_eq!(seen.insert(entry.name.clone(), kind), None, "{}", entry.name);
            }
        }
    }

    #[test]
    fn everything_has_a_sentence_and_an_explanation() {
        for kind in Kind::ALL {
            assert!(!kind.entries().is_empty());
            // Of the specification's thousand some are enough: each look-up reads all lists.
            let step = if kind == Kind::Specification { 50 } else { 1 };
            for entry in kind.entries().into_iter().step_by(step) {
                let last = entry.meaning.chars().last();
                let is_sentence = matches!(last, Some('.' | '?' | ')')) || kind == Kind::Specification;
                assert!(is_sentence, "{kind} {}: {}", entry.name, entry.meaning);
                let explanation = explain(&entry.name).expect("every listed name is explained");
                assert_eq!((explanation.kind, &explanation.name), (kind, &entry.name));
            }
        }
    }

    /// What is looked for in `sched_features` and is no setting here says so.
    #[test]
    fn features_that_are_not_modelled_say_how_the_model_behaves() {
        for (name, found) in [("LB_MIN", "LB_MIN"), ("NO_HZ_BW", "HZ_BW"), ("lb_min", "LB_MIN")] {
            let explanation = explain(name).expect("it is known");
            assert_eq!((explanation.kind, explanation.name.as_str()), (Kind::Feature, found));
            assert!(explanation.meaning.contains("is not modelled: "), "{}", explanation.meaning);
        }
    }

    /// Kernels tell what of them is approximate; releases also what differs from the profile.
    #[test]
    fn kernels_say_what_is_approximate_and_releases_what_differs() {
        let names = |name: &str, title: &str| -> Vec<String> {
            let sections = explain(name).expect("a kernel").sections;
            let section = sections.into_iter().find(|s| s.title.starts_with(title)).expect(title);
            section.entries.into_iter().map(|entry| entry.name).collect()
        };
        for kernel in ["4.0", "4.1.52", "rhel7"] {
            assert_eq!(names(kernel, "approximate")[0], "placement", "{kernel}");
        }
        for kernel in ["2.6.36", "4.2", "4.14", "6.1", "debian9", "debian12"] {
            assert!(!names(kernel, "approximate").contains(&"placement".to_owned()), "{kernel}");
        }
        assert!(names("3.2", "known to differ").contains(&"TTWU_QUEUE".to_owned()));
        assert_eq!(explain("rhel9").map(|e| e.kind).ok(), Some(Kind::Distribution));
        let limit = explain("rt_capacity").expect("a limit");
        assert!(limit.sections.iter().any(|s| s.title == "profiles"), "{limit:?}");
    }

    #[test]
    fn settings_are_found_as_they_are_written() {
        let found = |name| explain(name).map(|e| (e.kind, e.name)).ok();
        let is = |kind, name: &str| Some((kind, name.to_owned()));
        assert_eq!(found("NO_RT_PUSH_IPI"), is(Kind::Feature, "RT_PUSH_IPI"));
        assert_eq!(found("search=linear"), is(Kind::Rule, "search"));
        assert_eq!(found("balance_mode=pull"), is(Kind::Alias, "balance_mode=pull"));
        assert_eq!(found("kernel.sched_latency_ns=1"), is(Kind::Tunable, "sched_latency_ns"));
        assert_eq!(found("rt_push_ipi"), is(Kind::Feature, "RT_PUSH_IPI"));
        assert_eq!(found("NO_STRONG_BUDDIES"), is(Kind::Alias, "NO_STRONG_BUDDIES"));
        assert_eq!(found("rt_group_sched=0"), is(Kind::Alias, "rt_group_sched=0"));
        assert_eq!(found("rt_group_sched"), is(Kind::Alias, "rt_group_sched"), "of which value nobody says");
        let both = explain("rt_group_sched").expect("an alias");
        let [of_one, of_zero] = &both.sections[..] else { panic!("{both:?}") };
        assert_eq!(
            (of_one.title.as_str(), of_one.entries[0].name.as_str()),
            ("rt_group_sched=1", "rt_throttle=groups")
        );
        assert_eq!(of_zero.entries[0].name, "rt_throttle=root");
        assert_eq!(found("cpu.rt_runtime_us"), is(Kind::Term, "cpu.rt_runtime_us"));
        assert_eq!(found("sched_itmt"), None);
    }

    #[test]
    fn the_files_of_groups_are_explained() {
        for file in workload::groups::FILES {
            let found = explain(file).expect("a term");
            assert_eq!((found.kind, found.name.as_str()), (Kind::Term, file));
            assert!(found.meaning.starts_with("File of a task group"), "{file}: {}", found.meaning);
        }
    }

    #[test]
    fn counters_are_found_by_the_words_of_the_json_and_of_the_tables() {
        for name in ["polled", "woken without IPI", "totals.polled", "cpus.polled"] {
            let polled = explain(name).expect("a counter");
            assert_eq!((polled.kind, polled.name.as_str()), (Kind::Counter, "polled"));
            let of: Vec<&str> = polled.sections.iter().map(|section| section.title.as_str()).collect();
            assert_eq!(of, ["of the whole machine (`totals`)", "of each CPU (`cpus`)"]);
        }
        let contended = explain("contended").expect("a counter");
        assert_eq!(contended.sections[0].title, "of each CPU's run-queue lock (`cpus`, `rq_lock`)");
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        for (wrong, right) in
            [("RT_PUSH_IPY", "RT_PUSH_IPI"), ("cyclitest", "cyclictest"), ("2.6.36+S9", "2.6.36+S0")]
        {
            let error = explain(wrong).expect_err("unknown").to_string();
            assert!(error.contains(&format!("did you mean `{right}`?")), "{error}");
        }
        let error = explain("quicksilver").expect_err("unknown").to_string();
        assert_eq!(error, "nothing is called `quicksilver`");
    }
}
