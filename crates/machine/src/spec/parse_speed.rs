//! The `[speed]` of a machine file.

use super::error::SpecError;
use super::origin::Origin;
use super::parse::{read_figure, read_origin};
use super::parse_topology::read_cpu_list;
use super::reader::Field;
use super::speed::{CpuSpeed, Speeds};
use scheduler::{CpuId, CpuMask, FULL_CAPACITY, LevelKind, Topology};

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
        speeds.cpus = read_kinds(&kinds, topology.cpus, origins)?;
    }
    Ok(speeds)
}

/// Each names some CPUs and their speed; the others have the full one.
fn read_kinds(field: &Field<'_>, cpus: usize, origins: &mut Vec<Origin>) -> Result<Vec<CpuSpeed>, SpecError> {
    let (mut speeds, mut seen) = (vec![CpuSpeed::FULL; cpus], CpuMask::EMPTY);
    for kind in field.elements()? {
        let table = kind.table(&["cpus", "percent", "capacity", "origin"])?;
        let of_field = table.required("cpus")?;
        let of = read_cpu_list(&of_field, cpus)?;
        if let Some(cpu) = of.and(&seen).first() {
            return Err(of_field.error(format!("CPU {cpu} has a speed already"), "name every CPU once"));
        }
        seen = seen.or(&of);
        let (speed, text) = match (table.optional("percent"), table.optional("capacity")) {
            (_, None) => {
                let percent = table.required("percent")?.number(1, 100, "percent")? as u32;
                (CpuSpeed::Percent(percent), format!("{percent} percent"))
            }
            (None, Some(told)) => {
                let capacity = told.number(1, FULL_CAPACITY, "of 1024")? as u16;
                (CpuSpeed::Capacity(capacity), format!("capacity {capacity} of 1024"))
            }
            (Some(_), Some(told)) => {
                let problem = "stands beside percent, and both say how fast the CPUs are";
                return Err(
                    told.error(problem, "keep capacity if the firmware tells the kernel, else percent")
                );
            }
        };
        origins.push(read_origin(&table, format!("{text} for CPUs {of}"))?);
        of.iter().for_each(|cpu: CpuId| speeds[cpu.index()] = speed);
    }
    let told = |speed: &CpuSpeed| matches!(speed, CpuSpeed::Capacity(_));
    if speeds.iter().any(told) && speeds.iter().all(|speed| speed.is_less()) {
        let problem = "gives capacity 1024 to no CPU, and capacities are parts of the best one's";
        return Err(field.error(problem, "give the best CPUs 1024, and the others their part of it"));
    }
    Ok(speeds)
}
