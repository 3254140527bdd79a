//! Task groups by name, each as its `cpu.stat` has it.

use schema::{Figures, GroupStat, RunResult};

/// Figures of the whole run: of a stretch of it nothing is known.
pub fn measure(run: &RunResult, figures: &mut Figures) {
    for group in run.groups.iter().filter(|_| run.window.is_none()) {
        figures.group(&format!("groups.{}", group.name), &format!("group {}:", group.name));
        super::add(figures, GroupStat::FIGURES, &[&group.stat]);
    }
}
