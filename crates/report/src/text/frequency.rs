//! The table of frequencies and energy.

use super::table::Align::Right;
use super::table::{Heading, Table};
use crate::numbers::duration_ns;
use schema::FrequencyResult;

pub(super) const COLUMNS: [Heading; 4] =
    [("cpu", Right), ("busy", Right), ("mean MHz", Right), ("energy", Right)];

/// How fast CPUs ran that have several frequencies, and what that took; the last row sums that up.
#[must_use]
pub fn frequency(result: Option<&FrequencyResult>) -> String {
    let Some(FrequencyResult { cpus, energy_uj, .. }) = result else { return String::new() };
    let mut table = Table::new(&COLUMNS);
    let energy = |uj: Option<u64>| uj.map_or("-".to_owned(), millijoules);
    for cpu in cpus {
        let mean = (cpu.mean_khz + 500) / 1_000;
        table.row([cpu.cpu.to_string(), duration_ns(cpu.busy_ns), mean.to_string(), energy(cpu.energy_uj)]);
    }
    if energy_uj.is_some() {
        table.row(["all".to_owned(), String::new(), String::new(), energy(*energy_uj)]);
    }
    table.render()
}

fn millijoules(uj: u64) -> String {
    format!("{}.{:03}mJ", uj / 1_000, uj % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::CpuFrequency;

    #[test]
    fn one_row_a_cpu_and_their_sum() {
        let cpu = |cpu, uj| CpuFrequency { cpu, busy_ns: 1_500_000, mean_khz: 1_402_400, energy_uj: uj };
        let result = |cpus, energy_uj| FrequencyResult { cpus, energy_uj, origins: Vec::new() };
        let known = result(vec![cpu(0, Some(187)), cpu(10, Some(2_000_001))], Some(2_000_188));
        insta::assert_snapshot!(frequency(Some(&known)), @r"
        cpu   busy mean MHz     energy
          0 1.50ms     1402    0.187mJ
         10 1.50ms     1402 2000.001mJ
        all                 2000.188mJ
        ");
        let unknown = result(vec![cpu(0, None)], None);
        insta::assert_snapshot!(frequency(Some(&unknown)), @r"
        cpu   busy mean MHz energy
          0 1.50ms     1402      -
        ");
        assert_eq!(frequency(None), "");
    }
}
