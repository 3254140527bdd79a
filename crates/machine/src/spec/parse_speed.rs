//! The `[speed]` of a machine file.

use super::entries;
use super::error::SpecError;
use super::origin::Origin;
use super::parse::{read_figure, read_origin};
use super::parse_topology::read_cpu_list;
use super::reader::Field;
use super::speed::{CpuSpeed, Speeds};
use scheduler::{CpuId, CpuMask, FULL_CAPACITY, LevelKind, Topology};

/// Highest priority: the firmware's figure has eight bits.
const MAX_PRIORITY: u64 = 255;

pub(super) fn read_speed(
    field: &Field<'_>,
    topology: &Topology,
    origins: &mut Vec<Origin>,
) -> Result<Speeds, SpecError> {
    let table = field.table(&entries::SPEED)?;
    let mut speeds = Speeds::default();
    if let Some(factor) = table.optional("smt_busy_percent") {
        if !topology.levels.iter().any(|level| level.kind == LevelKind::Smt) {
            let problem = "speaks of hardware threads of a core, and the topology has no level of kind smt";
            return Err(factor.error(problem, "leave it out, or add the level"));
        }
        speeds.smt_busy_percent = read_figure(&factor, "percent", 1, 100, origins)? as u32;
    }
    if let Some(kinds) = table.optional("cpus") {
        read_kinds(&kinds, topology.cpus, &mut speeds, origins)?;
    }
    Ok(speeds)
}

/// Each names some CPUs, their speed, and how much they are preferred; the others have the full speed.
fn read_kinds(
    field: &Field<'_>,
    cpus: usize,
    into: &mut Speeds,
    origins: &mut Vec<Origin>,
) -> Result<(), SpecError> {
    let (mut speeds, mut seen) = (vec![CpuSpeed::FULL; cpus], CpuMask::EMPTY);
    let (mut priorities, mut preferred) = (vec![0; cpus], CpuMask::EMPTY);
    for kind in field.elements()? {
        let table = kind.table(&["cpus", "percent", "capacity", "priority", "origin"])?;
        let of_field = table.required("cpus")?;
        let of = read_cpu_list(&of_field, cpus)?;
        if let Some(cpu) = of.and(&seen).first() {
            return Err(of_field.error(format!("CPU {cpu} has a speed already"), "name every CPU once"));
        }
        seen = seen.or(&of);
        let (speed, mut text) = match (table.optional("percent"), table.optional("capacity")) {
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
        if let Some(field) = table.optional("priority") {
            if matches!(speed, CpuSpeed::Capacity(_)) {
                let problem = "stands beside capacity, and kernels that know capacities do not pack CPUs";
                return Err(field.error(problem, "keep one of them; with priority the speed is a percent"));
            }
            let priority = field.number(1, MAX_PRIORITY, "as a priority")?;
            text = format!("{text}, priority {priority}");
            of.iter().for_each(|cpu| priorities[cpu.index()] = priority as u16);
            preferred = preferred.or(&of);
        }
        origins.push(read_origin(&table, format!("{text} for CPUs {of}"))?);
        of.iter().for_each(|cpu: CpuId| speeds[cpu.index()] = speed);
    }
    let told = |speed: &CpuSpeed| matches!(speed, CpuSpeed::Capacity(_));
    if speeds.iter().any(told) && speeds.iter().all(|speed| speed.is_less()) {
        let problem = "gives capacity 1024 to no CPU, and capacities are parts of the best one's";
        return Err(field.error(problem, "give the best CPUs 1024, and the others their part of it"));
    }
    if let Some(cpu) = CpuMask::first_n(cpus).without(&preferred).first().filter(|_| !preferred.is_empty()) {
        let problem = format!("gives a priority to some CPUs, and none to CPU {cpu}");
        return Err(field.error(problem, "give one to each, or to none"));
    }
    into.cpus = speeds;
    if !preferred.is_empty() {
        into.priorities = priorities;
    }
    Ok(())
}
