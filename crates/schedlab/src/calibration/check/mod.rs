//! `calibrate --check`: six small programs run on this computer, and in the simulation on a file's machine.
//!
//! A program is a [`Twin`]: what runs here, and a load that does the same. Both sides give samples, and one
//! and the same code makes figures of them ([`figures`]). What of a program is its own work, and no figure of
//! a machine, the load is told.

mod figures;
mod fork;
mod hand_over;
mod hogs;
mod pipe;
mod simulated;
mod stalls;
#[cfg(test)]
mod tests;
mod timers;
mod twin;

use super::host::Host;
use super::measure::Bench;
use super::{CalibrationError, favoured, warnings};
use figures::Figures;
use lab::{KernelConfig, NamedMachine};
use schema::machine_check::CheckedProgram;
use std::sync::Arc;
use thiserror::Error;
use twin::{Ran, Twin};

/// Why there is no comparison.
#[derive(Debug, Error)]
pub enum CheckError {
    /// A program does not run here.
    #[error(transparent)]
    Here(#[from] CalibrationError),
    /// The simulation of one fails.
    #[error("in the simulation, `{program}`: {source}")]
    There {
        /// Which.
        program: String,
        /// What the laboratory says.
        source: Box<lab::Error>,
    },
}

/// What is checked.
#[derive(Clone, Debug)]
pub struct Check {
    /// The machine of the file.
    pub machine: NamedMachine,
    /// Under which kernel it is simulated.
    pub kernel: KernelConfig,
    /// With which seeds.
    pub seeds: Vec<u64>,
    /// How often each program runs here.
    pub repetitions: u32,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// The programs, with their figures.
    pub programs: Vec<CheckedProgram>,
    /// Why these may mean less than they seem to.
    pub warnings: Vec<String>,
}

impl Check {
    /// Runs all programs, here and in the simulation. `progress` is told what comes next.
    ///
    /// # Errors
    /// A measurement that the system does not allow; a kernel that the simulation of a program refuses.
    pub fn run(&self, progress: &mut dyn FnMut(&str)) -> Result<Checked, CheckError> {
        let host = Host::here();
        let bench = Bench::new(&host);
        let mut warnings = warnings(&host);
        warnings.extend(other_cpus(host.cpus(), self.machine.spec().cpus()));
        let mut programs = Vec::new();
        for twin in twin::all(&host) {
            progress(twin.name());
            programs.push(self.one(&twin, &bench)?);
        }
        let unpinned = bench.unpin();
        unpinned.map_err(|source| CalibrationError::Measure { what: "on all CPUs again", source })?;
        Ok(Checked { programs, warnings })
    }

    fn one(&self, twin: &Arc<dyn Twin>, bench: &Bench<'_>) -> Result<CheckedProgram, CheckError> {
        let program = CheckedProgram {
            name: twin.name().to_owned(),
            about: twin.about(),
            told_ns: None,
            left_out: None,
            figures: Vec::new(),
        };
        let missing = twin.cpus().into_iter().find(|cpu| cpu.index() >= self.machine.spec().cpus());
        if let Some(cpu) = missing {
            let left_out = Some(format!("the machine of the file has no CPU {cpu}"));
            return Ok(CheckedProgram { left_out, ..program });
        }
        let mut here = Vec::new();
        let mut told_ns = None;
        for _ in 0..self.repetitions {
            let ran = favoured(|| twin.here(bench));
            let what = twin.name();
            match ran.map_err(|source| CalibrationError::Measure { what, source })? {
                Ran::Did { samples, own_ns } => {
                    here.push(Figures::of(twin.statistics(), samples));
                    // The least of them: what disturbs a program only ever adds.
                    told_ns = [told_ns, own_ns].into_iter().flatten().min();
                }
                Ran::Not(why) => return Ok(CheckedProgram { left_out: Some(why), ..program }),
            }
        }
        let seed = |seed: &u64| simulated::figures(self, twin, told_ns.unwrap_or(0), *seed);
        let there: Vec<Figures> = self.seeds.iter().map(seed).collect::<Result<_, _>>()?;
        Ok(CheckedProgram { told_ns, figures: figures::beside(twin.statistics(), &here, &there), ..program })
    }
}

/// A file of another machine.
fn other_cpus(here: usize, in_file: usize) -> Option<String> {
    (here != in_file).then(|| format!("this computer has {here} CPUs, the machine of the file has {in_file}"))
}
