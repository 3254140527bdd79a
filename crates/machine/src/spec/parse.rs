//! A machine description from its TOML file.

use super::cold::read_cold;
use super::costs::{ByDistance, Costs, Distance};
use super::entries;
use super::error::SpecError;
use super::idle::read_idle_monitor;
use super::idle_states::read_idle;
use super::memory::read_memory;
use super::origin::{Origin, OriginKind};
use super::parse_frequency::read_frequency;
use super::parse_kernel::read_kernel;
use super::parse_noise::read_noise;
use super::parse_speed::read_speed;
use super::parse_topology::read_topology;
use super::reader::{Field, Table, read_file};
use super::{CacheModel, MachineSpec};
use scheduler::Nanos;

/// Longest time that one piece of work may cost.
const MAX_COST_NS: u64 = 1_000_000_000;
/// Longest time that a cache line or an interrupt may be under way.
const MAX_LINE_NS: u64 = 1_000_000;

impl MachineSpec {
    /// Reads a machine file. `file` is its name for messages. Fails at the first thing that is wrong, naming
    /// line and field.
    pub fn parse(text: &str, file: &str) -> Result<MachineSpec, SpecError> {
        read_file(text, file, read_machine)
    }
}

fn read_machine(root: Field<'_>) -> Result<MachineSpec, SpecError> {
    let root = root.table(&entries::FILE)?;
    let name = root.required("name")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.text()?.chars().all(letter) {
        return Err(name.error("is no name", "use letters, digits and -_. only"));
    }
    let mut origins = Vec::new();
    let idle_monitor =
        root.optional("idle_monitor").map(|i| read_idle_monitor(&i, &mut origins)).transpose()?;
    let idle_monitor = idle_monitor.unwrap_or_default();
    let idle = root.optional("idle").map(|i| read_idle(&i, idle_monitor, &mut origins)).transpose()?;
    let rcu_callback = root.optional("rcu_callback");
    let rcu_callback =
        rcu_callback.map(|f| read_figure(&f, "ns", 1, MAX_COST_NS, &mut origins)).transpose()?.map(Nanos);
    let (topology, layout) = read_topology(&root.required("topology")?, &mut origins)?;
    let distances = layout.distances(&topology);
    let costs = read_costs(&root.required("costs")?, &distances, &mut origins)?;
    let cache = read_cache(&root.required("cache")?, &distances, &mut origins)?;
    let cold = root.optional("cold").map(|c| read_cold(&c, &mut origins)).transpose()?;
    let speeds = root.optional("speed").map(|s| read_speed(&s, &topology, &mut origins)).transpose()?;
    let speeds = speeds.unwrap_or_default();
    let mut topology =
        topology.with_capacities(speeds.capacities()).with_priorities(speeds.priorities.clone());
    let memory = root.optional("memory").map(|m| read_memory(&m, &mut origins)).transpose()?;
    if let Some(field) = root.optional("frequency") {
        topology.frequencies = read_frequency(&field, topology.cpus, &speeds, &mut origins)?;
    }
    let kernel = root.optional("kernel").map(|k| read_kernel(&k, &mut origins)).transpose()?;
    let kernel = kernel.unwrap_or_default();
    let noise = root.optional("noise").map(|n| read_noise(&n, &mut origins)).transpose()?;
    Ok(MachineSpec {
        name: name.text()?.into(),
        meaning: root.required("meaning")?.text()?.into(),
        topology,
        costs,
        cache,
        cold,
        speeds,
        memory,
        idle_monitor,
        idle,
        rcu_callback,
        rwsems: kernel.rwsems,
        stretches: kernel.stretches,
        noise: noise.unwrap_or_default(),
        origins,
        layout,
    })
}

fn read_costs(
    field: &Field<'_>,
    distances: &[Distance],
    origins: &mut Vec<Origin>,
) -> Result<Costs, SpecError> {
    let table = field.table(&entries::costs())?;
    let mut costs = Costs::default();
    for cost in Costs::FIXED {
        let ns = read_figure(&table.required(cost.name)?, "ns", 0, MAX_COST_NS, origins)?;
        if let Some(slot) = costs.fixed_mut(cost.name) {
            *slot = Nanos(ns);
        }
    }
    for cost in Costs::BY_DISTANCE {
        let figures = read_by_distance(&table.required(cost.name)?, distances, origins)?;
        if let Some(slot) = costs.by_distance_mut(cost.name) {
            *slot = figures;
        }
    }
    let [ticket_spinner, ipi_stolen] = entries::COST_PERCENTS;
    let percent = read_figure(&table.required(ticket_spinner)?, "percent", 0, 1_000, origins)?;
    costs.ticket_spinner_percent = percent as u32;
    if let Some(figure) = table.optional(ipi_stolen) {
        costs.ipi_stolen_percent = read_figure(&figure, "percent", 0, 100, origins)? as u32;
    }
    Ok(costs)
}

/// One figure for each distance that the machine has, and for no other.
fn read_by_distance(
    field: &Field<'_>,
    distances: &[Distance],
    origins: &mut Vec<Origin>,
) -> Result<ByDistance, SpecError> {
    let table = field.table(&Distance::ALL.map(Distance::name))?;
    let mut figures = ByDistance::default();
    for distance in Distance::ALL {
        if let Some(figure) = at_distance(&table, distance.name(), distance, distances)? {
            *figures.at_mut(distance) = Nanos(read_figure(&figure, "ns", 0, MAX_LINE_NS, origins)?);
        }
    }
    Ok(figures)
}

/// Losses are stated for the levels that the machine has, and for no other.
fn read_cache(
    field: &Field<'_>,
    distances: &[Distance],
    origins: &mut Vec<Origin>,
) -> Result<CacheModel, SpecError> {
    let table = field.table(&entries::CACHE)?;
    let mut model = CacheModel {
        refill_ps_per_byte: read_figure(&table.required("refill_ps_per_byte")?, "ps", 0, 1_000_000, origins)?,
        tau: Nanos(read_figure(&table.required("tau")?, "ns", 1, 10_000_000_000, origins)?),
        ..CacheModel::default()
    };
    let losses = [
        (Distance::Smt, "smt_lost_percent", &mut model.smt_lost_percent),
        (Distance::SharedCache, "shared_cache_lost_percent", &mut model.shared_cache_lost_percent),
    ];
    for (distance, key, slot) in losses {
        if let Some(figure) = at_distance(&table, key, distance, distances)? {
            *slot = read_figure(&figure, "percent", 0, 100, origins)? as u32;
        }
    }
    Ok(model)
}

/// The field that speaks of `distance`: it must be there if two CPUs of the machine are that far apart, and
/// must not if none are.
fn at_distance<'a>(
    table: &Table<'a>,
    key: &str,
    distance: Distance,
    distances: &[Distance],
) -> Result<Option<Field<'a>>, SpecError> {
    if distances.contains(&distance) {
        return table.required(key).map(Some);
    }
    match table.optional(key) {
        Some(field) => {
            Err(field.error("is a distance that no two CPUs of this machine have", "leave it out"))
        }
        None => Ok(None),
    }
}

/// `{ UNIT = number, origin = "…" }`.
pub(super) fn read_figure(
    field: &Field<'_>,
    unit: &str,
    min: u64,
    max: u64,
    origins: &mut Vec<Origin>,
) -> Result<u64, SpecError> {
    let table = field.table(&[unit, "origin"])?;
    let value = table.required(unit)?.number(min, max, unit)?;
    origins.push(read_origin(&table, format!("{value} {unit}"))?);
    Ok(value)
}

/// The `origin` of a table whose content is `value` in words.
pub(super) fn read_origin(table: &Table<'_>, value: String) -> Result<Origin, SpecError> {
    let field = table.required("origin")?;
    let (word, text) = field.text()?.split_once(':').unwrap_or_default();
    let kind = OriginKind::ALL.into_iter().find(|k| k.name() == word.trim());
    match kind {
        Some(kind) if !text.trim().is_empty() => {
            Ok(Origin { field: table.field().path().into(), value, kind, text: text.trim().into() })
        }
        _ => Err(field.error(
            "does not say where the figure comes from",
            "start with measured:, published: or assumed:, then say how, where or on what ground",
        )),
    }
}
