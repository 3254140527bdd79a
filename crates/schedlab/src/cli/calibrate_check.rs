//! `schedlab calibrate --check`: a machine file held against this computer.

use super::common::{Format, say_what_runs};
use super::output::{Failure, Stream, command_line};
use super::progress::Spinner;
use super::voice::Voice;
use lab::{Change, KernelConfig, NamedKernel};
use schedlab::Error;
use schedlab::calibration::{Check, Checked, measured_hz};
use schedlab::clocks::wall;
use schedlab::files::Disk;
use schedlab::recording::Host;
use schema::CheckSchema;
use schema::machine_check::MachineCheck;

/// How often each program runs on this computer, and with how many seeds in the simulation.
const RUNS: u32 = 3;

/// What is checked, and under which kernel.
#[derive(Debug, clap::Args)]
pub struct CheckOptions {
    /// Write no machine file, but run six small programs here and on the machine of this one, and print both.
    ///
    /// They are timers as cyclictest's, a ping-pong through pipes, a program started and awaited, a mutex
    /// with priority inheritance handed over, two hogs beside each other, and a thread that looks for stalls.
    /// The exit code is 1 where the simulation is further off than what is wanted of the figure.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["output", "name"])]
    pub check: Option<String>,
    /// Kernel under which the programs are simulated [default: this computer's, as often as it ticks].
    #[arg(long, value_name = "KERNEL", requires = "check", conflicts_with = "output")]
    kernel: Option<String>,
    /// A feature, rule or tunable on top of it: hz=250.
    #[arg(
        long,
        value_name = "SETTING",
        requires = "check",
        conflicts_with = "output",
        allow_hyphen_values = true
    )]
    set: Vec<String>,
    /// How often each program runs here, and with how many seeds in the simulation [default: 3].
    #[arg(
        long,
        value_name = "N",
        requires = "check",
        conflicts_with = "output",
        value_parser = clap::value_parser!(u32).range(1..=100),
    )]
    repeat: Option<u32>,
}

/// A kernel that ticks as this computer's does not, where both are known.
fn other_ticks(here: Option<u64>, simulated: Option<u64>) -> Option<String> {
    let (here, simulated) = here.zip(simulated)?;
    (here != simulated).then(|| {
        format!(
            "this computer ticks {here} times a second, the simulated kernel {simulated} times: --set hz={here} makes \
             them alike"
        )
    })
}

impl CheckOptions {
    pub fn execute(&self, machine: &str, format: Format, voice: Voice) -> Result<(), Failure> {
        let start = wall();
        let machine = lab::machine(machine, None, &Disk)?;
        let spinner = Spinner::new("{msg}", voice);
        let kernel = self.kernel(&spinner)?;
        say_what_runs([&kernel], voice);
        let (name, cpus) = (machine.spec().name.clone(), machine.spec().cpus() as u32);
        let repetitions = self.repeat.unwrap_or(RUNS);
        let seeds = (1..=u64::from(repetitions)).collect();
        let check = Check { machine, kernel, seeds, repetitions };
        let checked = check.run(&mut |what| spinner.says(&format!("running: {what}")));
        spinner.finish();
        let Checked { programs, mut warnings } = checked.map_err(Error::Check)?;
        let ticks_a_second = check.kernel.ticks_a_second();
        warnings.extend(other_ticks(Host::this().hz(), ticks_a_second));
        for warning in &warnings {
            voice.warn(warning);
        }
        let check = MachineCheck {
            schema: CheckSchema,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: Some(command_line()),
            machine: name,
            cpus,
            release: Host::this().release(),
            kernel: check.kernel.profile().to_owned(),
            settings: check.kernel.changes().iter().map(Into::into).collect(),
            ticks_a_second,
            repetitions: check.repetitions,
            seeds: check.seeds,
            took_ms: (wall() - start).0 / 1_000_000,
            warnings,
            programs,
        };
        match format {
            Format::Text => Stream::Output.text(&report::text::machine_check(&check))?,
            Format::Json => Stream::Output.exact(&check.to_json())?,
        }
        let missed = check.missed();
        if missed.is_empty() { Ok(()) } else { Err(Failure::OffFromHere(missed)) }
    }

    /// The kernel that was named, or this computer's.
    fn kernel(&self, spinner: &Spinner) -> Result<KernelConfig, Failure> {
        let host = Host::this();
        let mut kernel = match &self.kernel {
            Some(name) => KernelConfig::of_name(name).map_err(lab::Error::from)?,
            None => {
                let here = host.release().as_deref().and_then(NamedKernel::of_uname);
                let mut kernel = here.map(KernelConfig::new).unwrap_or_default();
                spinner.says("looking how often this kernel ticks");
                let hz = host.hz().or_else(measured_hz);
                if let Some(hz) = hz {
                    kernel.set(Change::parse(&format!("hz={hz}"))?).map_err(lab::Error::from)?;
                }
                kernel
            }
        };
        for setting in &self.set {
            kernel.set(Change::parse(setting)?).map_err(lab::Error::from)?;
        }
        Ok(kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_simulates_another_rate_of_ticks_is_told() {
        let told = other_ticks(Some(250), Some(1000)).expect("they differ");
        assert!(
            told.contains("ticks 250 times") && told.contains("kernel 1000 times: --set hz=250"),
            "{told}"
        );
        assert_eq!((other_ticks(Some(250), Some(250)), other_ticks(None, Some(250))), (None, None));
    }
}
