//! What each kind has to say beyond its sentence.

use super::{Entry, Explanation, Kind, Section, columns, counters, idle, specification};
use crate::kernel::{
    Build, Change, DEFAULT_PROFILE, KernelConfig, ModelOrigin, NamedKernel, WHY_DEFAULT, rates_of_ticks,
};
use crate::limits::Limit;
use crate::reproduce::{PUBLISHED, PublishedExperiment};
use machine::MachineSpec;
use scheduler::registry::{
    ALIASES, Alias, Config, Feature, Lifetime, NOT_MODELLED, PROFILES, Profile, RULES, Scaled, TUNABLES,
};
use workload::load;

pub(super) fn explain(kind: Kind, found: Entry) -> Explanation {
    let Entry { name, meaning, .. } = found;
    let details = match kind {
        Kind::Kernel => kernel(&name),
        Kind::Distribution => NamedKernel::find(&name).map(|kernel| named(&kernel)).unwrap_or_default(),
        Kind::Feature => feature(&name),
        Kind::Rule => rule(&name),
        Kind::Tunable => tunable(&name),
        Kind::Alias => alias(&name),
        Kind::Machine => machine(&name),
        Kind::Load => load(&name),
        Kind::Experiment => experiment(&name),
        Kind::Decision => Details::default(),
        Kind::Term => Details { source: idle::source(&name), sections: Vec::new() },
        Kind::Limit => limit(&name),
        Kind::Counter => counters::places(&name)
            .into_iter()
            .fold(Details::default(), |details, (title, entry)| details.with(title, vec![entry])),
        Kind::Specification => Details { source: specification::source(&name), sections: Vec::new() },
    };
    Explanation { kind, name, meaning, source: details.source, sections: details.sections }
}

/// A heading that is nothing else.
pub(super) fn column(name: &str) -> Explanation {
    let meaning = "A column of tables.".to_owned();
    Explanation { kind: Kind::Term, name: name.to_owned(), meaning, source: None, sections: Vec::new() }
}

/// With what this name means as the heading of a column.
pub(super) fn as_column(mut explanation: Explanation, name: &str) -> Explanation {
    let entries = columns::headed(name);
    if !entries.is_empty() {
        let title = "as a column of the tables of".to_owned();
        explanation.sections.push(Section { title, entries });
    }
    explanation
}

/// With what this name means as that of an idle state.
pub(super) fn as_idle_state(mut explanation: Explanation, name: &str) -> Explanation {
    if let Some(state) = idle::state(name) {
        let title = "as the name of an idle state".to_owned();
        explanation.sections.push(Section { title, entries: vec![state] });
    }
    explanation
}

/// A release of Linux that no list has.
pub(super) fn release(kernel: &NamedKernel) -> Explanation {
    let described = if kernel.is_exact() { "which describes it" } else { "the nearest described kernel" };
    let Details { source, sections } = named(kernel);
    Explanation {
        kind: Kind::Kernel,
        name: kernel.asked.clone(),
        meaning: format!("Runs as {}, {described}.", kernel.profile),
        source,
        sections,
    }
}

/// What an explanation adds.
#[derive(Default)]
struct Details {
    source: Option<String>,
    sections: Vec<Section>,
}

impl Details {
    fn from(source: &str) -> Details {
        Details { source: Some(source.to_owned()), sections: Vec::new() }
    }

    fn with(mut self, title: &str, entries: Vec<Entry>) -> Details {
        if !entries.is_empty() {
            self.sections.push(Section { title: title.to_owned(), entries });
        }
        self
    }
}

fn kernel(name: &str) -> Details {
    let Some(profile) = Profile::find(name) else { return Details::default() };
    let chain: Vec<&Profile> =
        std::iter::successors(profile.base.and_then(Profile::find), |p| p.base.and_then(Profile::find))
            .collect();
    let sets = profile.settings.iter().map(|s| Entry::new(*s, meaning_of_setting(s) + &source_of_setting(s)));
    let default = (name == DEFAULT_PROFILE).then(|| Entry::new("", WHY_DEFAULT));
    Details::from(profile.source)
        .with("runs where no kernel is named", default.into_iter().collect())
        .with("builds on", chain.iter().map(|p| Entry::new(p.name, p.meaning)).collect())
        .with("sets", sets.collect())
        .with("approximate in (`schedlab explain NAME` says more)", approximate(name))
}

/// What a profile's kernel does and the model does not.
fn approximate(profile: &str) -> Vec<Entry> {
    let limits = Limit::all().iter().filter(|limit| limit.applies_to(profile));
    limits.map(|limit| Entry::new(limit.name, format!("({}) {}", limit.effect, limit.missing))).collect()
}

/// A release or a distribution beside its profile.
fn named(kernel: &NamedKernel) -> Details {
    let known = kernel
        .differences()
        .map(|d| Entry::new(d.setting.unwrap_or("-"), format!("{} ({})", d.what, d.source)));
    let remark = kernel.remark().map(|remark| Entry::new("-", remark));
    let of_branch = kernel
        .profile_of_branch()
        .map(|profile| Entry::new(profile, "is described as a kernel of its own (explain says how)"));
    let later = kernel
        .later_in_branch()
        .map(|d| Entry::new(d.setting.unwrap_or("-"), format!("{} ({})", d.what, d.source)));
    Details::default()
        .with("its build sets", kernel.build.iter().flat_map(of_build).collect())
        .with(
            "known to differ from the profile (with the setting that brings it, if any)",
            known.chain(remark).collect(),
        )
        .with(
            "its stable branch got later, and its makers may have taken over",
            of_branch.into_iter().chain(later).collect(),
        )
        .with("approximate in (`schedlab explain NAME` says more)", approximate(kernel.profile))
}

/// What a distribution's build sets, with its meaning.
fn of_build(build: &Build) -> [Entry; 2] {
    let (hz, model) = (format!("hz={}", build.hz), format!("preempt_model={}", build.preempt_model.name()));
    let origin = match build.model_origin {
        ModelOrigin::Read => "",
        ModelOrigin::Assumed => " Assumed: nobody has looked at such a kernel.",
    };
    let meanings = [meaning_of_setting(&hz), meaning_of_setting(&model) + origin];
    let [of_hz, of_model] = meanings;
    [Entry::new(hz, of_hz), Entry::new(model, of_model)]
}

fn limit(name: &str) -> Details {
    let Some(limit) = Limit::all().iter().find(|limit| limit.name == name) else { return Details::default() };
    Details::from(limit.source)
        .with("changes", vec![Entry::new(limit.effect.name(), limit.changes)])
        .with("profiles", vec![Entry::new("", limit.profiles_text())])
}

fn feature(name: &str) -> Details {
    let Some(feature) = Feature::ALL.iter().find(|f| f.name() == name) else { return Details::default() };
    let off = format!("NO_{name}");
    let life =
        Lifetime::of(*feature).map(|life| Entry::new(name, format!("{} ({})", life.kernels, life.source)));
    Details::from(feature.source())
        .with(
            "to set it",
            vec![
                Entry::new(name, kernels_where(name, |config| config.has(*feature))),
                Entry::new(&*off, kernels_where(&off, |config| !config.has(*feature))),
            ],
        )
        .with("in other kernels it is refused", life.into_iter().collect())
}

fn rule(name: &str) -> Details {
    let Some(rule) = RULES.iter().find(|r| r.name == name) else { return Details::default() };
    let value = |v: &scheduler::registry::RuleValue| {
        let setting = format!("{name}={}", v.name);
        let is_set = |config: &Config| config.rules.iter().any(|r| r.rule == name && r.value == v.name);
        let used = kernels_where(&setting, is_set);
        Entry::new(setting, format!("{} {used}", v.meaning))
    };
    // Linux calls both so.
    let others = if name == "governor" { idle::governors() } else { Vec::new() };
    Details::from(rule.source)
        .with("to set it", rule.values.iter().map(value).collect())
        .with("of idle states there are others, which a machine file names ([idle])", others)
}

fn tunable(name: &str) -> Details {
    let Some(tunable) = TUNABLES.iter().find(|t| t.name == name) else { return Details::default() };
    let value_in = |config: &Config| config.tunables.iter().find(|t| t.name == name).map(|t| t.value);
    let setting = |value: i64| format!("{name}={value}");
    let has = |profile: &Profile, value| is_taken(profile.name, &setting(value)).then_some(value);
    let mut values: Vec<i64> =
        PROFILES.iter().filter_map(|p| has(p, value_in(&Config::of_profile(p.name).ok()?)?)).collect();
    values.sort_unstable();
    values.dedup();
    let value =
        |v: &i64| Entry::new(setting(*v), kernels_where(&setting(*v), |config| value_in(config) == Some(*v)));
    let range = match name {
        "hz" => format!("{}.", rates_of_ticks()),
        _ => format!("Any whole number from {} to {}.", tunable.min, tunable.max),
    };
    let range = Entry::new(format!("{name}=N"), range);
    let own =
        if Scaled::named(name).is_some() { "as kernels have it on one CPU" } else { "as kernels have it" };
    Details::from(tunable.source).with("to set it", vec![range]).with(own, values.iter().map(value).collect())
}

fn experiment(name: &str) -> Details {
    let file = PUBLISHED.iter().find(|file| file.name == name);
    let Some(experiment) = file.and_then(|file| PublishedExperiment::builtin(file).ok()) else {
        return Details::default();
    };
    let variants = experiment.variants().map(|v| Entry::new(v.name, v.settings)).collect();
    Details::from(experiment.source()).with("variants", variants)
}

fn alias(name: &str) -> Details {
    let Some(alias) = ALIASES.iter().find(|a| a.name == name) else { return Details::default() };
    let sets = alias.settings.iter().map(|s| Entry::new(*s, meaning_of_setting(s))).collect();
    Details::from(alias.source).with("stands for", sets)
}

/// A name that stands for something else with each of its values, and is given without one.
pub(super) fn alias_of_values(name: &str) -> Option<Explanation> {
    let bare = name.strip_prefix("kernel.").unwrap_or(name);
    let of_name = |alias: &&Alias| alias.name.split_once('=').is_some_and(|(own, _)| own == bare);
    let all: Vec<&Alias> = ALIASES.iter().filter(of_name).collect();
    let first = all.first()?;
    let sets = |alias: &&Alias| {
        let entries = alias.settings.iter().map(|s| Entry::new(*s, meaning_of_setting(s))).collect();
        Section { title: alias.name.to_owned(), entries }
    };
    let meanings: Vec<&str> = all.iter().map(|alias| alias.meaning).collect();
    Some(Explanation {
        kind: Kind::Alias,
        name: bare.to_owned(),
        meaning: meanings.join(" "),
        source: Some(first.source.to_owned()),
        sections: all.iter().map(sets).collect(),
    })
}

/// What somebody may know from `sched_features` or debugfs, and no setting here switches.
pub(super) fn not_modelled(name: &str) -> Option<Explanation> {
    let bare = name.strip_prefix("NO_").unwrap_or(name);
    let known = NOT_MODELLED.iter().find(|known| known.name.eq_ignore_ascii_case(bare))?;
    Some(Explanation {
        kind: Kind::Feature,
        name: known.name.to_owned(),
        meaning: format!("A setting of some kernels that is not modelled: {}.", known.what),
        source: None,
        sections: Vec::new(),
    })
}

fn machine(name: &str) -> Details {
    let Ok(spec) = MachineSpec::builtin(name) else { return Details::default() };
    let level = |l: &scheduler::TopologyLevel| {
        let spans: Vec<String> = l.spans.iter().map(ToString::to_string).collect();
        Entry::new(format!("{:?}", l.kind).to_lowercase(), spans.join("  "))
    };
    let figure = |o: &machine::Origin| {
        Entry::new(format!("{} = {}", o.field, o.value), format!("{}: {}", o.kind.name(), o.text))
    };
    Details::default()
        .with(&format!("{} CPUs", spec.cpus()), spec.topology.levels.iter().map(level).collect())
        .with("figures", spec.origins.iter().map(figure).collect())
}

fn load(name: &str) -> Details {
    let Ok(found) = load::find(name) else { return Details::default() };
    Details::from(found.source)
        .with("ends", vec![Entry::new("", found.ends)])
        .with("options", found.options().into_iter().map(|o| Entry::new(o.usage, o.help)).collect())
}

/// The sentence that belongs to one setting of a profile or an alias.
fn meaning_of_setting(setting: &str) -> String {
    if let Some(alias) = ALIASES.iter().find(|a| a.name == setting) {
        return alias.meaning.to_owned();
    }
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    if let Some(rule) = RULES.iter().find(|r| r.name == name) {
        let meaning = rule.values.iter().find(|v| v.name == value).map_or("", |v| v.meaning);
        return format!("{} {meaning}", rule.meaning);
    }
    if let Some(tunable) = TUNABLES.iter().find(|t| t.name == name) {
        return tunable.meaning.to_owned();
    }
    let find = |name: &str| Feature::ALL.iter().find(|f| f.name() == name).map(|f| f.meaning());
    match setting.strip_prefix("NO_") {
        Some(off) => format!("Not: {}", find(off).unwrap_or_default()),
        None => find(setting).unwrap_or_default().to_owned(),
    }
}

/// ` Source: eevdf-class 3.4.`: where the specification tells of it.
fn source_of_setting(setting: &str) -> String {
    let (name, _) = setting.split_once('=').unwrap_or((setting, ""));
    let feature = name.strip_prefix("NO_").unwrap_or(name);
    let rule = RULES.iter().find(|r| r.name == name).map(|r| r.source);
    let tunable = || TUNABLES.iter().find(|t| t.name == name).map(|t| t.source);
    let feature = || Feature::ALL.iter().find(|f| f.name() == feature).map(|f| f.source());
    let source = rule.or_else(tunable).or_else(feature);
    source.map_or(String::new(), |source| format!(" Source: {source}."))
}

/// `In 6.1, 4.0.`: the profiles with this property that take this setting.
fn kernels_where(setting: &str, holds: impl Fn(&Config) -> bool) -> String {
    let has = |name: &&str| Config::of_profile(name).is_ok_and(|config| holds(&config));
    let names = PROFILES.iter().map(|profile| profile.name).filter(has);
    let names: Vec<&str> = names.filter(|name| is_taken(name, setting)).collect();
    match names.len() {
        0 => "In no profile.".to_owned(),
        n if n == PROFILES.len() => "In every profile.".to_owned(),
        _ => format!("In {}.", names.join(", ")),
    }
}

/// Whether a kernel takes this setting, and does not refuse it as something that it has not got.
fn is_taken(profile: &str, setting: &str) -> bool {
    let Ok(change) = Change::parse(setting) else { return false };
    let set = |mut config: KernelConfig| {
        config.set(change)?;
        config.at_start()
    };
    KernelConfig::of_name(profile).and_then(set).is_ok()
}
