//! What changed when settings changed in the middle of a run.

use super::table::{Align, Table};
use crate::numbers::{duration_ns, moment};
use schema::{CyclictestResult, RunResult};

/// The worst latency between two changes of the settings; empty if none changed while the run was under way.
#[must_use]
pub fn cyclictest_phases(result: &CyclictestResult, run: &RunResult) -> String {
    let phases = run.phases();
    if phases.len() < 2 {
        return String::new();
    }
    let mut table = Table::new(&[
        ("worst latency\nfrom", Align::Right),
        ("\nto", Align::Right),
        ("\nmax", Align::Right),
        ("\nsetting", Align::Left),
    ]);
    for phase in phases {
        let changes = run.kernel.changes.iter().filter(|change| change.at_ns == phase.from_ns);
        let settings: Vec<&str> = changes.map(|change| change.setting.as_str()).collect();
        let worst = result.max_over_time.between_ns(phase.from_ns, phase.to_ns);
        table.row([
            moment(phase.from_ns),
            moment(phase.to_ns),
            worst.map_or("-".to_owned(), duration_ns),
            settings.join(" "),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{LoadResult, example};

    #[test]
    fn each_stretch_has_its_worst_latency() {
        let mut run = example::run();
        let LoadResult::Cyclictest(cyclictest) = run.loads[0].clone() else { panic!("a cyclictest") };
        insta::assert_snapshot!(cyclictest_phases(&cyclictest, &run), @r"
        worst latency
                 from  to    max setting
                   0s  2s  117us NO_RT_PUSH_IPI
                   2s 10s 12.0us sched_latency_ns=12000000
        ");
        run.kernel.changes.retain(|change| change.at_ns == 0);
        assert_eq!(cyclictest_phases(&cyclictest, &run), "", "nothing changed");
    }
}
