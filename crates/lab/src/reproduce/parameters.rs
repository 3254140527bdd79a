//! Parameters that no document gives: values with a name in loads and settings, or figures of the machine.

use super::file::ExperimentFile;
use crate::error::Error;
use crate::machines::machine_text;
use crate::sources::Sources;
use report::reproduce::Place;
use schema::reproduction::FreeParameter;
use serde::Deserialize;
use std::collections::BTreeMap;

/// By how much the sensitivity to a free parameter is told, unless it says something else.
pub(super) const FACTORS: [f64; 2] = [0.5, 2.0];

/// A free parameter, as written.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Free {
    /// For people; `{name}` in loads and settings stands for the value.
    pub name: String,
    /// Its value, unless it is a figure of the machine.
    pub value: Option<f64>,
    /// Where the figure stands in the machine's file: `costs.context_switch`, `noise.kthread.0.run`.
    pub machine: Option<String>,
    /// Why it has this value; a figure of the machine has its origin instead.
    pub reason: Option<String>,
    /// What its sensitivity is told by, where half of the value and twice that are not possible.
    #[serde(default)]
    pub other_values: Vec<f64>,
}

/// What is different from the files.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Changes {
    /// Other values of free parameters, by name.
    pub values: BTreeMap<String, f64>,
    /// Other figures of the machine.
    pub machine: Vec<MachineChange>,
}

/// Another figure of the machine.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MachineChange {
    /// Where it stands.
    pub place: String,
    pub to: NewFigure,
}

/// What becomes of a figure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum NewFigure {
    /// It and all below it are multiplied.
    Times(f64),
    /// It is this.
    Is(f64),
}

impl Changes {
    /// One free parameter multiplied.
    pub fn of_factor(free: &Free, factor: f64) -> Changes {
        let values = free.value.map(|value| (free.name.clone(), value * factor));
        let to = NewFigure::Times(factor);
        let machine = free.machine.iter().map(|place| MachineChange { place: place.clone(), to });
        Changes { values: values.into_iter().collect(), machine: machine.collect() }
    }
}

impl Free {
    /// By which factors it is changed to tell its sensitivity.
    pub fn factors(&self) -> Vec<f64> {
        match self.value {
            Some(value) if !self.other_values.is_empty() => {
                self.other_values.iter().map(|other| other / value).collect()
            }
            _ => FACTORS.into(),
        }
    }

    /// Name, value and reason, for the report.
    pub fn describe(&self, file: &ExperimentFile, files: &dyn Sources) -> Result<FreeParameter, Error> {
        let fault = |problem: &str| file.fault(format!("free parameter `{}`: {problem}", self.name));
        let (value, origin) = match (&self.machine, self.value) {
            (Some(_), None) if !self.other_values.is_empty() => {
                return Err(fault("`other_values` go with a `value`"));
            }
            (Some(place), None) => {
                let text = machine_text(&super::plan::machine_name(file)?, files)?;
                let mut table = text.parse::<toml::Table>().map_err(|e| fault(e.message()))?;
                let figure =
                    find(&mut table, place).ok_or_else(|| fault("the machine has no such figure"))?;
                (leaves(figure), origin(figure))
            }
            (None, Some(value)) => (value.to_string(), None),
            _ => return Err(fault("it needs either a `value` or a place in the `machine`")),
        };
        let Some(reason) = self.reason.clone().or(origin) else {
            return Err(fault("it needs a `reason`"));
        };
        Ok(FreeParameter { name: self.name.clone(), value, reason })
    }
}

/// `{name}` in a load or in settings, replaced by the value of the parameter or of the sweep.
pub(super) fn fill(
    file: &ExperimentFile,
    text: &str,
    at: Option<&Place>,
    changes: &Changes,
) -> Result<String, Error> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(file.fault(format!("`{text}`: a `{{` is not closed")));
        };
        let swept = file.sweep.as_ref().filter(|sweep| sweep.name == name).and(at);
        let parameter = file.free.iter().find(|free| free.name == name);
        let value = parameter.and_then(|free| Some(changes.values.get(name).copied().unwrap_or(free.value?)));
        let Some(value) = swept.map(Place::to_string).or(value.map(|v| v.to_string())) else {
            return Err(file.fault(format!(
                "`{text}`: nothing is called {{{name}}}; give it a value: a [[free]] with this name"
            )));
        };
        out += before;
        out += &value;
        rest = behind;
    }
    Ok(out + rest)
}

/// The file of a machine with other figures.
pub(super) fn changed_machine(
    file: &ExperimentFile,
    name: &str,
    changes: &[MachineChange],
    files: &dyn Sources,
) -> Result<String, Error> {
    let mut table = machine_table(file, name, &machine_text(name, files)?)?;
    for MachineChange { place, to } in changes {
        let figure = find(&mut table, place).ok_or_else(|| no_figure(file, name, place))?;
        match to {
            NewFigure::Times(factor) => scale(figure, *factor),
            NewFigure::Is(number) => match figure {
                toml::Value::Integer(old) => *old = number.round() as i64,
                toml::Value::Float(old) => *old = *number,
                _ => return Err(no_figure(file, name, place)),
            },
        }
    }
    Ok(table.to_string())
}

/// A number in the text of a machine's file.
pub(super) fn machine_figure(
    file: &ExperimentFile,
    name: &str,
    place: &str,
    text: &str,
) -> Result<f64, Error> {
    match find(&mut machine_table(file, name, text)?, place) {
        Some(toml::Value::Integer(number)) => Ok(*number as f64),
        Some(toml::Value::Float(number)) => Ok(*number),
        _ => Err(no_figure(file, name, place)),
    }
}

fn machine_table(file: &ExperimentFile, name: &str, text: &str) -> Result<toml::Table, Error> {
    let parsed = text.parse::<toml::Table>();
    parsed.map_err(|error| file.fault(format!("machine {name}: {}", error.message())))
}

fn no_figure(file: &ExperimentFile, machine: &str, place: &str) -> Error {
    file.fault(format!("machine {machine}, {place}: it has no such figure"))
}

/// The value at a place such as `noise.kthread.0.run`.
fn find<'a>(table: &'a mut toml::Table, place: &str) -> Option<&'a mut toml::Value> {
    let mut keys = place.split('.');
    let mut value = table.get_mut(keys.next()?)?;
    for key in keys {
        value = match value {
            toml::Value::Table(table) => table.get_mut(key)?,
            toml::Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Multiplies every number in it; times and sizes stay whole.
fn scale(value: &mut toml::Value, factor: f64) {
    match value {
        toml::Value::Integer(number) => *number = (*number as f64 * factor).round() as i64,
        toml::Value::Float(number) => *number *= factor,
        toml::Value::Array(list) => list.iter_mut().for_each(|value| scale(value, factor)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| scale(value, factor)),
        _ => {}
    }
}

/// Every number in it with its key, which is its unit.
fn leaves(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) => {
            let parts = table.iter().filter(|(_, value)| !value.is_str());
            let parts = parts.map(|(key, value)| match value {
                toml::Value::Table(_) => format!("{key} {}", leaves(value)),
                _ => format!("{value} {key}"),
            });
            parts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn origin(value: &toml::Value) -> Option<String> {
    Some(value.get("origin")?.as_str()?.to_owned())
}
