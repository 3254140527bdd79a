//! Counters of the whole machine, then sums and maxima over the CPUs. Single CPUs are not compared: which one
//! a task lands on is chance.

use schema::{CpuResult, Figure, Figures, Fold, RqLockStats, RunResult, Totals};

pub fn measure(run: &RunResult, figures: &mut Figures) {
    figures.group("totals", "");
    add(figures, Totals::FIGURES, &[&run.totals]);
    figures.group("cpus", "");
    add(figures, CpuResult::FIGURES, &run.cpus.iter().collect::<Vec<_>>());
    figures.group("rq_lock", "rq lock");
    add(figures, RqLockStats::FIGURES, &run.cpus.iter().map(|cpu| &cpu.rq_lock).collect::<Vec<_>>());
}

/// Those that are metrics by themselves, in their order, of all parts together.
fn add<T>(figures: &mut Figures, declared: &[Figure<T>], parts: &[&T]) {
    let mut declared: Vec<(u8, &Figure<T>)> =
        declared.iter().filter_map(|figure| Some((figure.place?, figure))).collect();
    declared.sort_by_key(|(place, _)| *place);
    for (_, figure) in declared {
        let values = parts.iter().map(|part| (figure.of)(part));
        let value = match figure.fold {
            Fold::Sum => values.sum(),
            Fold::Max => values.max().unwrap_or(0),
        };
        figures.declared(figure, value);
    }
}
