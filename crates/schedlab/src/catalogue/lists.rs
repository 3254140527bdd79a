//! Names and sentences of each kind, from the registries that define them.

use super::{Entry, Kind};
use crate::reproduce::{PUBLISHED, PublishedExperiment, PublishedFile};
use machine::{BUILTIN, MachineSpec};
use scheduler::Reason;
use scheduler::registry::{ALIASES, Feature, PROFILES, RULES, TUNABLES};
use workload::load;

pub(super) fn of(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Kernel => PROFILES.iter().map(|p| entry(p.name, p.meaning)).collect(),
        Kind::Feature => Feature::ALL.iter().map(|f| entry(f.name(), f.meaning())).collect(),
        Kind::Rule => RULES.iter().map(|r| entry(r.name, r.meaning)).collect(),
        Kind::Tunable => TUNABLES.iter().map(|t| entry(t.name, t.meaning)).collect(),
        Kind::Alias => ALIASES.iter().map(|a| entry(a.name, a.meaning)).collect(),
        Kind::Machine => BUILTIN.iter().filter_map(|b| machine(b.name)).collect(),
        Kind::Load => load::entries().iter().map(|l| entry(l.name, l.about)).collect(),
        Kind::Experiment => PUBLISHED.iter().filter_map(experiment).collect(),
        Kind::Decision => Reason::ALL.iter().map(|r| entry(r.name(), r.meaning())).collect(),
    }
}

pub(super) fn entry(name: impl Into<String>, meaning: impl Into<String>) -> Entry {
    Entry { name: name.into(), meaning: meaning.into() }
}

/// A test of the machine crate reads every machine that comes with the program, so none is left out.
fn machine(name: &str) -> Option<Entry> {
    MachineSpec::builtin(name).ok().map(|spec| entry(spec.name, spec.meaning))
}

/// A test reads every experiment that comes with the program, so none is left out.
fn experiment(file: &PublishedFile) -> Option<Entry> {
    let experiment = PublishedExperiment::builtin(file).ok()?;
    Some(entry(file.name, format!("{}.", experiment.title())))
}
