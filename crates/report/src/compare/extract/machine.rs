//! Counters of the whole machine, then sums and maxima over the CPUs. Single CPUs are not compared: which one
//! a task lands on is chance.

use super::add;
use schema::{Better, CpuResult, Figures, IdleStateUse, RqLockStats, RunResult, Totals};

pub fn measure(run: &RunResult, figures: &mut Figures) {
    figures.group("totals", "");
    add(figures, Totals::FIGURES, &[&run.totals]);
    // Of a stretch of the run nothing is known.
    let frequency = run.frequency.as_ref().filter(|_| run.window.is_none());
    if let Some(energy) = frequency.and_then(|frequency| frequency.energy_uj) {
        figures.count("energy", "energy in uJ", Better::Lower, energy).headline();
    }
    if let Some(idle) = &run.idle {
        figures.group("idle", "idle state");
        for IdleStateUse { state, time_ns, .. } in idle.all_cpus() {
            figures.nanos(&format!("{state}.time"), &format!("{state}: time"), Better::Neutral, time_ns);
        }
    }
    figures.group("cpus", "");
    add(figures, CpuResult::FIGURES, &run.cpus.iter().collect::<Vec<_>>());
    figures.group("rq_lock", "rq lock");
    add(figures, RqLockStats::FIGURES, &run.cpus.iter().map(|cpu| &cpu.rq_lock).collect::<Vec<_>>());
}
