//! The `[speed]` of a machine file.

use super::error::SpecError;
use super::origin::Origin;
use super::parse::{read_figure, read_origin};
use super::parse_topology::read_cpu_list;
use super::reader::Field;
use super::speed::Speeds;
use scheduler::{CpuId, CpuMask, LevelKind, Topology};

pub(super) fn read_speed(
    field: &Field<'_>,
    topology: &Topology,
    origins: &mut Vec<Origin>,
) -> Result<Speeds, SpecError> {
    let table = field.table(&["smt_busy_percent", "cpus"])?;
    let mut speeds = Speeds::default();
    if let Some(factor) = table.optional("smt_busy_percent") {
        if !topology.levels.iter().any(|level| level.kind == LevelKind::Smt) {
            let problem = "speaks of hardware threads of a core, and the topology has no level of kind smt";
            return Err(factor.error(problem, "leave it out, or add the level"));
        }
        speeds.smt_busy_percent = read_figure(&factor, "percent", 1, 100, origins)? as u32;
    }
    if let Some(kinds) = table.optional("cpus") {
        speeds.cpu_percent = read_kinds(&kinds, topology.cpus, origins)?;
    }
    Ok(speeds)
}

/// Each names some CPUs and their speed; the others have 100.
fn read_kinds(field: &Field<'_>, cpus: usize, origins: &mut Vec<Origin>) -> Result<Vec<u32>, SpecError> {
    let (mut percents, mut seen) = (vec![100; cpus], CpuMask::EMPTY);
    for kind in field.elements()? {
        let table = kind.table(&["cpus", "percent", "origin"])?;
        let of_field = table.required("cpus")?;
        let of = read_cpu_list(&of_field, cpus)?;
        if let Some(cpu) = of.and(&seen).first() {
            return Err(of_field.error(format!("CPU {cpu} has a speed already"), "name every CPU once"));
        }
        seen = seen.or(&of);
        let percent = table.required("percent")?.number(1, 100, "percent")? as u32;
        origins.push(read_origin(&table, format!("{percent} percent for CPUs {of}"))?);
        of.iter().for_each(|cpu: CpuId| percents[cpu.index()] = percent);
    }
    Ok(percents)
}
