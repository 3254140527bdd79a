//! The `[frequency]` of a machine file.

use super::entries;
use super::error::SpecError;
use super::origin::Origin;
use super::parse::read_origin;
use super::parse_topology::read_cpu_list;
use super::reader::Field;
use super::speed::Speeds;
use scheduler::frequency::{FrequencyDomain, PerfLevel};
use scheduler::{CpuId, CpuMask};

const MOST_MHZ: u64 = 20_000;
const MOST_MILLIWATTS: u64 = 1_000_000;

/// CPUs that change their frequency together, and the frequencies at which they can run. The highest is the
/// one for which their speed is told.
pub(super) fn read_frequency(
    field: &Field<'_>,
    cpus: usize,
    speeds: &Speeds,
    origins: &mut Vec<Origin>,
) -> Result<Vec<FrequencyDomain>, SpecError> {
    let table = field.table(&entries::FREQUENCY)?;
    let list = table.required("domains")?;
    let (mut domains, mut seen) = (Vec::<FrequencyDomain>::new(), CpuMask::EMPTY);
    for element in list.elements()? {
        let table = element.table(&["cpus", "levels", "origin"])?;
        let of_field = table.required("cpus")?;
        let of = read_cpu_list(&of_field, cpus)?;
        if let Some(cpu) = of.and(&seen).first() {
            let problem = format!("CPU {cpu} is in a frequency domain already");
            return Err(of_field.error(problem, "name every CPU once"));
        }
        seen = seen.or(&of);
        let first = of.first().unwrap_or(CpuId(0));
        if let Some(other) = of.iter().find(|cpu| speeds.of(*cpu) != speeds.of(first)) {
            let problem = format!("CPUs {first} and {other} have different speeds, and run at one frequency");
            return Err(of_field.error(problem, "give each kind of CPU a domain of its own"));
        }
        let levels = read_levels(&table.required("levels")?)?;
        if let Some(before) =
            domains.last().filter(|before| has_energy(&before.levels) != has_energy(&levels))
        {
            let problem = format!("says of other CPUs than {} what they take", before.cpus);
            return Err(element.error(problem, "give all levels of the machine an mw, or none"));
        }
        origins.push(read_origin(&table, format!("{} frequencies of CPUs {of}", levels.len()))?);
        domains.push(FrequencyDomain { cpus: of, levels });
    }
    Ok(domains)
}

fn has_energy(levels: &[PerfLevel]) -> bool {
    levels.iter().any(|level| level.milliwatts.is_some())
}

fn read_levels(field: &Field<'_>) -> Result<Vec<PerfLevel>, SpecError> {
    let mut levels: Vec<PerfLevel> = Vec::new();
    for element in field.elements()? {
        let table = element.table(&["mhz", "mw"])?;
        let mhz = table.required("mhz")?;
        let khz = 1_000 * mhz.number(1, MOST_MHZ, "MHz")? as u32;
        let milliwatts = table.optional("mw").map(|mw| mw.number(1, MOST_MILLIWATTS, "mW")).transpose()?;
        let milliwatts = milliwatts.map(|mw| mw as u32);
        if let Some(below) = levels.last() {
            if khz <= below.khz {
                return Err(mhz.error("is no higher than the one before", "begin with the lowest frequency"));
            }
            if milliwatts.is_some() != below.milliwatts.is_some() {
                let problem = "has an mw where another level has none, or none where another has one";
                return Err(element.error(problem, "give all levels of the machine an mw, or none"));
            }
        }
        levels.push(PerfLevel { khz, milliwatts });
    }
    if levels.is_empty() {
        return Err(field.error("names no frequency", "give one at least, such as { mhz = 1800, mw = 200 }"));
    }
    Ok(levels)
}
