//! Names and sentences of each kind, from the registries that define them.

use super::{Entry, Kind, LimitDetails, counters, specification, terms};
use crate::kernel::{DEFAULT_PROFILE, DISTRIBUTIONS, Distribution, NamedKernel};
use crate::limits::Limit;
use crate::reproduce::{PUBLISHED, PublishedExperiment, PublishedFile};
use machine::{BUILTIN, MachineSpec};
use scheduler::Reason;
use scheduler::registry::{ALIASES, Feature, PROFILES, Profile, RULES, TUNABLES};
use std::cmp::Reverse;
use workload::load;

pub(super) fn of(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Kernel => kernels(),
        Kind::Feature => Feature::ALL.iter().map(|f| Entry::new(f.name(), f.meaning())).collect(),
        Kind::Rule => RULES.iter().map(|r| Entry::new(r.name, r.meaning)).collect(),
        Kind::Tunable => TUNABLES.iter().map(|t| Entry::new(t.name, t.meaning)).collect(),
        Kind::Alias => ALIASES.iter().map(|a| Entry::new(a.name, a.meaning)).collect(),
        Kind::Machine => BUILTIN.iter().filter_map(|b| machine(b.name)).collect(),
        Kind::Load => load::entries().iter().map(|l| Entry::new(l.name, l.about)).collect(),
        Kind::Distribution => DISTRIBUTIONS.iter().filter_map(distribution).collect(),
        Kind::Limit => Limit::all().iter().map(limit).collect(),
        Kind::Experiment => PUBLISHED.iter().filter_map(experiment).collect(),
        Kind::Counter => counters::entries(),
        Kind::Term => terms::entries(),
        Kind::Specification => specification::entries(),
        Kind::Decision => Reason::ALL.iter().map(|r| Entry::new(r.name(), r.meaning())).collect(),
    }
}

/// The newest first; trees of the documents behind the release that they were made from.
fn kernels() -> Vec<Entry> {
    let mut kernels: Vec<&Profile> = PROFILES.iter().filter(|profile| profile.is_kernel()).collect();
    kernels.sort_by_key(|profile| {
        let release = NamedKernel::find(profile.name).map(|kernel| kernel.nearest_release());
        Reverse(release.ok())
    });
    kernels.into_iter().map(kernel).collect()
}

fn kernel(profile: &Profile) -> Entry {
    let default = if profile.name == DEFAULT_PROFILE { " Runs where no kernel is named." } else { "" };
    Entry::new(profile.name, format!("{}{default}", profile.meaning))
}

fn distribution(distribution: &Distribution) -> Option<Entry> {
    let Distribution { name, codename, linux, build, .. } = distribution;
    let profile = NamedKernel::find(name).ok()?.profile;
    let codename = codename.map_or(String::new(), |codename| format!("{codename}, "));
    Some(Entry::new(*name, format!("{codename}Linux {linux}, {}; runs as {profile}.", build.settings_text())))
}

fn limit(limit: &Limit) -> Entry {
    let details = LimitDetails {
        effect: limit.effect.name().to_owned(),
        changes: limit.changes.to_owned(),
        profiles: limit.profiles.iter().map(ToString::to_string).collect(),
    };
    Entry { limit: Some(details), ..Entry::new(limit.name, limit.missing) }
}

/// A test of the machine crate reads every machine that comes with the program, so none is left out.
fn machine(name: &str) -> Option<Entry> {
    MachineSpec::builtin(name).ok().map(|spec| Entry::new(spec.name, spec.meaning))
}

/// A test reads every experiment that comes with the program, so none is left out.
fn experiment(file: &PublishedFile) -> Option<Entry> {
    let experiment = PublishedExperiment::builtin(file).ok()?;
    Some(Entry::new(file.name, format!("{}.", experiment.title())))
}
