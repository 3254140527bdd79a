//! The experiment file, as written.

use super::Length;
use super::fit::FitTable;
use super::parameters::Free;
use crate::error::{Error, Excerpt};
use report::reproduce::{Place, Published, RequirementSpec, RowSpec, SweepValue, TableSpec};
use scheduler::Nanos;
use schema::reproduction::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::units;

/// A published experiment: what ran, what came out, and how close is close enough. `experiments/README.md`
/// explains every field.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExperimentFile {
    pub title: String,
    pub source: String,
    pub about: String,
    #[serde(default)]
    pub settings: String,
    #[serde(default)]
    pub loads: Vec<String>,
    #[serde(rename = "for")]
    pub duration: Option<String>,
    pub seeds: u32,
    #[serde(default)]
    pub quick: Quick,
    pub sweep: Option<Sweep>,
    /// Task groups, which become words of the settings.
    #[serde(default)]
    group: Vec<GroupTable>,
    #[serde(default)]
    pub free: Vec<Free>,
    /// How parameters are chosen by published figures.
    pub fit: Option<FitTable>,
    /// What was chosen by published figures, too, but by hand.
    #[serde(default)]
    pub by_hand: Vec<ByHandTable>,
    /// The experiment whose parameters stand here, too, as they were chosen there.
    pub fitted_in: Option<String>,
    pub variant: Vec<VariantFile>,
    /// Rows of every variant, after its own.
    #[serde(default)]
    pub row: Vec<RowSpec>,
    #[serde(default)]
    pub requirement: Vec<RequirementSpec>,
    /// Name of the file, for errors.
    #[serde(skip)]
    path: String,
}

/// A task group, with the files of its cgroup: what `group=` and `in=` say in settings.
#[derive(Clone, PartialEq, Debug, Deserialize)]
struct GroupTable {
    name: String,
    /// Its tasks, as in `--in`.
    #[serde(rename = "in", default)]
    members: Vec<String>,
    /// `cpu.max` and its like.
    #[serde(flatten)]
    files: BTreeMap<String, toml::Value>,
}

/// Says groups in the words of settings. What a group has not got is refused where the words are read.
fn add_words(settings: &mut String, groups: &[GroupTable]) {
    for GroupTable { name, members, files } in groups {
        let value = |value: &toml::Value| match value {
            // The kernel's file has a space.
            toml::Value::String(text) => text.trim().replace(' ', "/"),
            other => other.to_string(),
        };
        let files: Vec<String> = files.iter().map(|(file, text)| format!("{file}:{}", value(text))).collect();
        let described = if files.is_empty() { String::new() } else { format!("={}", files.join(",")) };
        let members = members.iter().map(|task| format!("in={name}={task}"));
        for word in std::iter::once(format!("group={name}{described}")).chain(members) {
            settings.push(' ');
            settings.push_str(&word);
        }
    }
}

/// What is different in quick runs.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quick {
    pub seeds: Option<u32>,
    #[serde(rename = "for")]
    pub duration: Option<String>,
    /// Values of the sweep.
    pub values: Option<Vec<SweepValue>>,
}

/// Something that is varied from run to run of each variant.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    pub name: String,
    pub values: Vec<SweepValue>,
}

impl Sweep {
    /// Where a value stands.
    fn place(&self, value: &SweepValue) -> Option<Place> {
        let index = self.values.iter().position(|v| v == value)?;
        Some(match value {
            SweepValue::Number(number) => Place { number: *number, name: None },
            SweepValue::Name(name) => Place { number: index as f64 + 1.0, name: Some(name.clone()) },
        })
    }
}

/// Something that was chosen by published figures, by nobody's procedure.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByHandTable {
    /// That of a free parameter, or what else was chosen.
    pub name: String,
    /// By which figures, in words.
    pub to: String,
}

/// One configuration.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantFile {
    pub name: String,
    pub role: Role,
    #[serde(default)]
    pub settings: String,
    /// Task groups, on top of those of the experiment.
    #[serde(default)]
    group: Vec<GroupTable>,
    /// In place of those of the experiment.
    pub loads: Option<Vec<String>>,
    pub table: Option<TableSpec>,
    #[serde(default)]
    pub row: Vec<RowSpec>,
}

impl ExperimentFile {
    /// Reads a file; `path` is for errors.
    pub fn parse(path: &str, text: &str) -> Result<ExperimentFile, Error> {
        let mut file: ExperimentFile = toml::from_str(text).map_err(|error| {
            Error::ExperimentFile(Excerpt {
                file: path.to_owned(),
                text: Arc::from(text),
                span: error.span().unwrap_or(0..0),
                problem: suggest::in_words(error.message()),
                advice: "experiments/README.md describes the file".to_owned(),
            })
        })?;
        path.clone_into(&mut file.path);
        add_words(&mut file.settings, &file.group);
        file.variant.iter_mut().for_each(|variant| add_words(&mut variant.settings, &variant.group));
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), Error> {
        if self.seeds == 0 || self.quick.seeds == Some(0) {
            return Err(self.fault("`seeds` must be at least 1"));
        }
        if self.variant.is_empty() {
            return Err(self.fault("there is no [[variant]]"));
        }
        let is_without = |variant: &&VariantFile| variant.loads.as_ref().unwrap_or(&self.loads).is_empty();
        if let Some(without) = self.variant.iter().find(is_without) {
            return Err(self.fault(format!("variant \"{}\" has no load: give `loads`", without.name)));
        }
        let named = |text: &str| self.variant.iter().filter(|variant| variant.name == text).count();
        if let Some(twice) = self.variant.iter().find(|variant| named(&variant.name) > 1) {
            return Err(self.fault(format!("two variants are called \"{}\"", twice.name)));
        }
        let groups = || {
            let tables = self.variant.iter().filter_map(|variant| variant.table.as_ref());
            let cells = tables.flat_map(|t| t.columns.iter().map(|c| c.group.as_ref().unwrap_or(&t.group)));
            let rows = self.variant.iter().flat_map(|variant| &variant.row).chain(&self.row);
            cells.chain(rows.filter_map(|row| row.group.as_ref()))
        };
        for requirement in &self.requirement {
            if !groups().any(|group| *group == requirement.group) {
                let group = &requirement.group;
                return Err(
                    self.fault(format!("a requirement is about the group \"{group}\", which no row has"))
                );
            }
            if let Some(unknown) = requirement.variants.iter().find(|name| named(name) == 0) {
                return Err(self.fault(format!("a requirement is about \"{unknown}\", which is no variant")));
            }
        }
        if let Some(group) = groups().find(|group| self.requirement.iter().all(|r| r.group != **group)) {
            return Err(
                self.fault(format!("no requirement says how many of the group \"{group}\" must agree"))
            );
        }
        for values in [&self.sweep.as_ref().map(|sweep| sweep.values.clone()), &self.quick.values] {
            if values.as_ref().is_some_and(Vec::is_empty) {
                return Err(self.fault("a sweep needs values"));
            }
        }
        let named = |value: &&SweepValue| matches!(value, SweepValue::Name(_));
        let values = self.sweep.as_ref().map_or(&[][..], |sweep| &sweep.values);
        if ![0, values.len()].contains(&values.iter().filter(named).count()) {
            return Err(self.fault("the values of a sweep are numbers or words, not both"));
        }
        let of_sweep = |value: &SweepValue| self.sweep.as_ref().and_then(|sweep| sweep.place(value));
        match self.quick.values.iter().flatten().find(|value| of_sweep(value).is_none()) {
            Some(SweepValue::Number(odd)) => {
                return Err(self.fault(format!("{odd} in quick.values is no value of the sweep")));
            }
            Some(SweepValue::Name(odd)) => {
                return Err(self.fault(format!("\"{odd}\" in quick.values is no value of the sweep")));
            }
            None => {}
        }
        self.check_names()?;
        let rows = || self.variant.iter().flat_map(|variant| &variant.row).chain(&self.row);
        rows().try_for_each(RowSpec::check).map_err(|fault| self.fault(fault.to_string()))?;
        let is_uneven = |of: &Published| matches!(of, Published::Sweep(each) if each.len() != values.len());
        let uneven = |row: &&RowSpec| row.published.as_ref().is_some_and(is_uneven);
        match (rows().find(uneven), &self.fit) {
            (Some(row), _) => Err(self.fault(format!(
                "row `{}`: `published` has to have one figure for each of the {} values of the sweep",
                row.what,
                values.len()
            ))),
            (None, Some(fit)) => fit.check(self),
            (None, None) => Ok(()),
        }
    }

    /// What has a name has to stand somewhere: else every run is the same, and nothing says so.
    fn check_names(&self) -> Result<(), Error> {
        let of_variants = || self.variant.iter().flat_map(|v| v.loads.iter().flatten().chain([&v.settings]));
        let stands = |name: &str| {
            let place = format!("{{{name}}}");
            self.loads.iter().chain([&self.settings]).chain(of_variants()).any(|text| text.contains(&place))
        };
        let swept = self.sweep.iter().map(|sweep| &sweep.name);
        let free = self.free.iter().filter(|free| free.value.is_some()).map(|free| &free.name);
        match swept.chain(free).find(|name| !stands(name)) {
            Some(name) => {
                Err(self
                    .fault(format!("{{{name}}} stands in no load and no settings, so it changes nothing")))
            }
            None => Ok(()),
        }
    }

    /// Drops variants whose figures do not hang on the wanted ones: leaves these, those that are compared
    /// with them, and whatever the ones that are left are compared with.
    pub fn keep_variants(&mut self, wanted: impl Fn(&VariantFile) -> bool) {
        let named = |name: &String| self.variant.iter().find(|variant| variant.name == *name);
        let hangs = |variant: &&VariantFile| {
            wanted(variant) || self.compared_with(variant).iter().filter_map(named).any(&wanted)
        };
        let kept = self.variant.iter().filter(hangs).map(|v| v.name.clone()).collect();
        self.keep_only(kept);
    }

    /// Drops all variants but these and whatever they are compared with.
    pub fn keep_only(&mut self, mut kept: Vec<String>) {
        let named = |name: &String| self.variant.iter().find(|variant| variant.name == *name);
        let mut next = 0;
        while next < kept.len() {
            for other in named(&kept[next]).map(|variant| self.compared_with(variant)).unwrap_or_default() {
                if !kept.contains(&other) {
                    kept.push(other);
                }
            }
            next += 1;
        }
        self.variant.retain(|variant| kept.contains(&variant.name));
    }

    /// Names of the variants that divide figures of this one, or are taken off them.
    fn compared_with(&self, variant: &VariantFile) -> Vec<String> {
        let rows = variant.row.iter().chain(&self.row);
        rows.flat_map(|row| row.relative_to.iter().chain(&row.less)).cloned().collect()
    }

    /// An error about this file.
    pub fn fault(&self, problem: impl Into<String>) -> Error {
        Error::ExperimentFault { path: self.path.clone(), problem: problem.into() }
    }

    /// Number of seeds.
    pub fn seeds(&self, length: Length) -> u32 {
        match length {
            Length::Full => self.seeds,
            Length::Quick => self.quick.seeds.unwrap_or(self.seeds),
        }
    }

    /// Simulated time of a run, if the file says so.
    pub fn duration(&self, length: Length) -> Result<Option<Nanos>, Error> {
        let text = match length {
            Length::Full => &self.duration,
            Length::Quick => self.quick.duration.as_ref().map_or(&self.duration, |_| &self.quick.duration),
        };
        let read = |text: &String| units::positive_duration(text, Nanos::from_secs(1));
        text.as_ref().map(read).transpose().map_err(|problem| self.fault(format!("`for`: {problem}")))
    }

    /// Places of the sweep; one that is none without a sweep.
    pub fn places(&self, length: Length) -> Vec<Option<Place>> {
        let Some(sweep) = &self.sweep else { return vec![None] };
        let quick = self.quick.values.as_ref().filter(|_| length == Length::Quick);
        quick.unwrap_or(&sweep.values).iter().map(|value| sweep.place(value)).collect()
    }
}
