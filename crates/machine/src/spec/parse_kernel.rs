//! The `[kernel]` of a machine file.

use super::entries;
use super::error::SpecError;
use super::kernel_locks::Rwsems;
use super::origin::Origin;
use super::parse::{read_figure, read_origin};
use super::reader::{Field, Table};
use super::stretch::{Operation, Points, Stretch, Stretches};
use scheduler::Nanos;

/// Longest piece of a stretch.
const MAX_NS: u64 = 1_000_000_000;
/// Keys that say where the points are: all of them, or none.
const POINTS: [&str; 3] = ["cond_every_ns", "might_every_ns", "longest_ns"];

/// What a file says of its kernel.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    pub stretches: Stretches,
    pub rwsems: Option<Rwsems>,
}

pub(super) fn read_kernel(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Kernel, SpecError> {
    let [stretch, rwsem] = entries::KERNEL;
    let table = field.table(&entries::KERNEL)?;
    let stretches = table.optional(stretch).map(|s| read_stretches(&s, origins)).transpose()?;
    let rwsems = table.optional(rwsem).map(|r| read_rwsems(&r, origins)).transpose()?;
    Ok(Kernel { stretches: stretches.unwrap_or_default(), rwsems })
}

fn read_rwsems(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Rwsems, SpecError> {
    let table = field.table(&entries::RWSEM)?;
    let mut hold = |key| Ok(Nanos(read_figure(&table.required(key)?, "ns", 1, MAX_NS, origins)?));
    let [mapping, address_space] = entries::RWSEM;
    Ok(Rwsems { mapping_hold: hold(mapping)?, address_space_hold: hold(address_space)? })
}

fn read_stretches(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Stretches, SpecError> {
    let table = field.table(&Operation::ALL.map(Operation::name))?;
    let mut stretches = Stretches::default();
    for operation in Operation::ALL {
        if let Some(field) = table.optional(operation.name()) {
            stretches.set(operation, read_stretch(&field, origins)?);
        }
    }
    Ok(stretches)
}

fn read_stretch(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Stretch, SpecError> {
    let table = field.table(&[
        POINTS[0],
        POINTS[1],
        POINTS[2],
        "atomic_percent",
        "atomic_mean_ns",
        "atomic_max_ns",
        "origin",
    ])?;
    let time = |key| table.required(key)?.number(1, MAX_NS, "ns").map(Nanos);
    let points = POINTS.iter().any(|key| table.optional(key).is_some());
    let points = points
        .then(|| {
            let [cond_every, might_every, longest] = [time(POINTS[0])?, time(POINTS[1])?, time(POINTS[2])?];
            at_most(&table, [POINTS[1], POINTS[0]], [might_every, cond_every])?;
            at_most(&table, [POINTS[0], POINTS[2]], [cond_every, longest])?;
            Ok(Points { cond_every, might_every, longest })
        })
        .transpose()?;
    let stretch = Stretch {
        points,
        atomic_percent: table.required("atomic_percent")?.number(0, 100, "percent")? as u32,
        atomic_mean: time("atomic_mean_ns")?,
        atomic_max: time("atomic_max_ns")?,
    };
    at_most(&table, ["atomic_mean_ns", "atomic_max_ns"], [stretch.atomic_mean, stretch.atomic_max])?;
    origins.push(read_origin(&table, in_words(stretch))?);
    Ok(stretch)
}

fn in_words(stretch: Stretch) -> String {
    let points = stretch.points.map_or_else(
        || "no points".to_owned(),
        |Points { cond_every, might_every, longest }| {
            let [cond, might] = [cond_every.0, might_every.0];
            format!("a point every {cond} ns ({might} ns with might_sleep), {} ns at most", longest.0)
        },
    );
    let Stretch { atomic_percent, atomic_mean, atomic_max, .. } = stretch;
    format!(
        "{points}; {atomic_percent} % atomic, {} ns on average, {} ns at most",
        atomic_mean.0, atomic_max.0
    )
}

/// A figure that must not be above another.
fn at_most(table: &Table<'_>, [low, high]: [&str; 2], [least, most]: [Nanos; 2]) -> Result<(), SpecError> {
    if least <= most {
        return Ok(());
    }
    Err(table.required(low)?.error(format!("is above {high}"), "lower it, or raise the other"))
}
