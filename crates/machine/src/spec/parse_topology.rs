//! The `[topology]` of a machine file.

use super::error::SpecError;
use super::layout::Layout;
use super::origin::Origin;
use super::parse::read_origin;
use super::reader::Field;
use scheduler::{CpuId, CpuMask, LevelKind, Topology, TopologyLevel};

/// One level with what the file says beyond the scheduler's view of it.
struct Level<'a> {
    field: Field<'a>,
    level: TopologyLevel,
    grows_to: Option<usize>,
}

pub(super) fn read_topology(
    field: &Field<'_>,
    origins: &mut Vec<Origin>,
) -> Result<(Topology, Layout), SpecError> {
    let table = field.table(&["cpus", "levels", "nodes", "origin"])?;
    let cpus = table.required("cpus")?.number(1, CpuMask::BITS as u64, "CPUs")? as usize;
    origins.push(read_origin(&table, format!("{cpus} CPUs"))?);
    let levels_field = table.required("levels")?;
    let levels: Vec<Level<'_>> =
        levels_field.elements()?.iter().map(|l| read_level(l, cpus)).collect::<Result<_, _>>()?;
    check_order(&levels_field, &levels, cpus)?;
    let nodes = table.optional("nodes").map(|n| read_nodes(&n, &levels, cpus)).transpose()?;
    let grows_to = levels.iter().map(|l| l.grows_to).collect();
    let topology = Topology::of(cpus, levels.into_iter().map(|l| l.level).collect());
    let layout = Layout::new(&topology, nodes, grows_to);
    Ok((topology, layout))
}

fn read_level<'a>(field: &Field<'a>, cpus: usize) -> Result<Level<'a>, SpecError> {
    let table = field.table(&["kind", "distance", "spans", "grows_to"])?;
    let kind_field = table.required("kind")?;
    let distance = table.optional("distance");
    let kind = match kind_field.text()? {
        "smt" => LevelKind::Smt,
        "cluster" => LevelKind::Cluster,
        "mc" => LevelKind::Mc,
        "package" => LevelKind::Package,
        "numa" => LevelKind::Numa {
            distance: table.required("distance")?.number(11, 254, "(SLIT distance)")? as u16,
        },
        _ => return Err(kind_field.error("is no kind of level", "use smt, cluster, mc, package or numa")),
    };
    if let (Some(distance), false) = (distance, matches!(kind, LevelKind::Numa { .. })) {
        return Err(distance.error("belongs to numa levels only", "leave it out"));
    }
    let spans = read_partition(&table.required("spans")?, cpus)?;
    let grows_to = table.optional("grows_to").map(|g| read_growth(&g, &spans, cpus)).transpose()?;
    Ok(Level { field: field.clone(), level: TopologyLevel { kind, spans }, grows_to })
}

/// Whole copies of the machine only, so that the levels below still fit into the spans.
fn read_growth(field: &Field<'_>, spans: &[CpuMask], cpus: usize) -> Result<usize, SpecError> {
    let size = field.number(1, CpuMask::BITS as u64, "CPUs")? as usize;
    if spans.len() != 1 {
        let advice = "leave it out: a larger machine has more of these spans";
        return Err(field.error("belongs to a level with one span of all CPUs", advice));
    }
    if !size.is_multiple_of(cpus) {
        return Err(field.error(
            format!("{size} CPUs are no multiple of the machine's {cpus}"),
            format!("give {cpus} or a multiple"),
        ));
    }
    Ok(size)
}

/// Levels go from small to large, each span within one of the next level, and end with all CPUs.
fn check_order(field: &Field<'_>, levels: &[Level<'_>], cpus: usize) -> Result<(), SpecError> {
    let Some(last) = levels.last() else {
        return Err(field.error("has no level", "give at least one, the last with one span of all CPUs"));
    };
    for (below, above) in levels.iter().zip(&levels[1..]) {
        if below.level.kind >= above.level.kind {
            let advice = "order them smt, cluster, mc, package, numa by distance, each once";
            return Err(above.field.error("is not larger in kind than the level before it", advice));
        }
        let fits = |span: &CpuMask| above.level.spans.iter().any(|s| span.is_subset(s));
        if let Some(span) = below.level.spans.iter().find(|s| !fits(s)) {
            return Err(above.field.error(
                format!("cuts through the span {span} of the level before it"),
                "let every span hold whole spans of the smaller level",
            ));
        }
        let nested = match (below.grows_to, above.grows_to) {
            (Some(small), Some(large)) => large.is_multiple_of(small),
            (None, Some(_)) => below.level.spans.len() > 1,
            (_, None) => true,
        };
        if !nested {
            return Err(above.field.error(
                "grows_to does not hold whole spans of the level before it as that grows",
                "give the smaller level a grows_to that divides this one",
            ));
        }
    }
    if last.level.spans != [CpuMask::first_n(cpus)] {
        return Err(last.field.error(
            "is the last level and does not have one span of all CPUs",
            format!("add a level with spans = [\"{}\"]", CpuMask::first_n(cpus)),
        ));
    }
    if last.grows_to.is_some() {
        let advice = "leave it out, or add a larger level";
        return Err(last.field.error("is the last level and has a limit to its growth", advice));
    }
    Ok(())
}

/// Packages for distances, where they are no level of the scheduler.
fn read_nodes(field: &Field<'_>, levels: &[Level<'_>], cpus: usize) -> Result<Vec<CpuMask>, SpecError> {
    if levels.iter().any(|l| matches!(l.level.kind, LevelKind::Numa { .. })) {
        return Err(field.error("repeats what the numa levels say", "leave it out"));
    }
    let nodes = read_partition(field, cpus)?;
    let caches = levels.iter().filter(|l| l.level.kind.shares_cache());
    let torn = caches.flat_map(|l| &l.level.spans).find(|span| !nodes.iter().any(|n| span.is_subset(n)));
    match torn {
        Some(span) => Err(field.error(
            format!("cuts through {span}, which share a core or a cache"),
            "let every node hold whole spans",
        )),
        None => Ok(nodes),
    }
}

/// An array of CPU lists that hold every CPU once.
fn read_partition(field: &Field<'_>, cpus: usize) -> Result<Vec<CpuMask>, SpecError> {
    let mut seen = CpuMask::EMPTY;
    let mut spans = Vec::new();
    for element in field.elements()? {
        let span = read_cpu_list(&element, cpus)?;
        if let Some(cpu) = span.and(&seen).first() {
            return Err(element.error(format!("CPU {cpu} is in two spans"), "put every CPU into exactly one"));
        }
        seen = seen.or(&span);
        spans.push(span);
    }
    match CpuMask::first_n(cpus).without(&seen).first() {
        Some(cpu) => Err(field.error(format!("CPU {cpu} is in no span"), "put every CPU into exactly one")),
        None => Ok(spans),
    }
}

/// A list of CPUs that the machine has, one at least.
pub(super) fn read_cpu_list(field: &Field<'_>, cpus: usize) -> Result<CpuMask, SpecError> {
    let Some(list) = parse_cpu_list(field.text()?) else {
        return Err(field.error("is no CPU list", "write it as \"0-3,8\""));
    };
    match list.without(&CpuMask::first_n(cpus)).first() {
        Some(cpu) => Err(field.error(
            format!("names CPU {cpu}, the machine has {cpus}"),
            format!("use CPUs 0 to {}", cpus - 1),
        )),
        None => Ok(list),
    }
}

/// `0-3,8`; `None` where it is malformed, empty or names a CPU that no machine has.
fn parse_cpu_list(text: &str) -> Option<CpuMask> {
    let mut mask = CpuMask::EMPTY;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || usize::from(last) >= CpuId::LIMIT {
            return None;
        }
        (first..=last).for_each(|cpu| mask.insert(CpuId(cpu)));
    }
    Some(mask)
}
