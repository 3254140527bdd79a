//! Counters of the whole machine, then sums and maxima over the CPUs. Single CPUs are not compared: which one
//! a task lands on is chance.

use super::add;
use schema::{Better, CpuResult, Figures, RqLockStats, RunResult, Totals};

pub fn measure(run: &RunResult, figures: &mut Figures) {
    figures.group("totals", "");
    add(figures, Totals::FIGURES, &[&run.totals]);
    figures.group("cpus", "");
    add(figures, CpuResult::FIGURES, &run.cpus.iter().collect::<Vec<_>>());
    if let Some(energy) = run.frequency.as_ref().and_then(|frequency| frequency.energy_uj) {
        figures.count("energy_uj", "energy in uJ", Better::Lower, energy);
    }
    figures.group("rq_lock", "rq lock");
    add(figures, RqLockStats::FIGURES, &run.cpus.iter().map(|cpu| &cpu.rq_lock).collect::<Vec<_>>());
}
