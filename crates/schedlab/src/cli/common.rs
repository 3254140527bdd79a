//! Options that `run` and `compare` share.

use clap::ValueEnum;
use report::text::Rows;
use schedlab::{Change, DEFAULT_PROFILE, Error, KernelConfig, LoadSpec, MachineChoice};
use scheduler::Nanos;
use workload::rtapp::Dialect;
use workload::units;

// As typed. (A doc comment here would become the help text of both commands.)
#[derive(Debug, clap::Args)]
pub struct Common {
    /// What runs: a quoted command line ('cyclictest -t8 -p90'), an rt-app file or a trace; several run together.
    ///
    /// A word is taken for a file if it exists or ends as one (.json, .dat, .data, .txt, .trace, .ftrace, .gz).
    /// `schedlab list loads` shows the command lines that are known.
    #[arg(value_name = "LOAD", required = true)]
    loads: Vec<String>,
    /// Machine, by name (`schedlab list machines`) or TOML file [default: laptop].
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Number of CPUs [default: the machine's; with a trace and no --machine, the recording's].
    #[arg(long, value_name = "N")]
    cpus: Option<usize>,
    /// Kernel profile (`schedlab list kernels`).
    #[arg(long, value_name = "PROFILE", default_value = DEFAULT_PROFILE)]
    kernel: String,
    /// A feature, rule or tunable on top of it: NO_RT_PUSH_IPI, search=linear; with a time, 2s:RT_PUSH_IPI.
    ///
    /// Settings take effect in the order given. A time without a unit is in seconds.
    #[arg(long, value_name = "[TIME:]SETTING")]
    set: Vec<String>,
    /// Simulated time, seconds without a unit [default: until the loads end; 10s where none does].
    ///
    /// Without this option the run ends when all loads that come to an end have done so, at the latest a minute
    /// after the longest time that one of them states. Endless loads are background then.
    #[arg(long = "for", value_name = "TIME", value_parser = positive)]
    duration: Option<Nanos>,
    /// Everything random derives from it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Check the scheduler's invariants after every event; slow.
    #[arg(long)]
    check: bool,
    /// How to read rt-app files.
    #[arg(long, value_name = "DIALECT", value_enum, default_value_t = RtAppDialect::Workgen)]
    dialect: RtAppDialect,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print long tables in full.
    #[arg(long)]
    full: bool,
}

/// Form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// Tables.
    Text,
    /// The schema of docs/schema.md.
    Json,
}

/// Which program would read an rt-app file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RtAppDialect {
    /// Repeated keys all count, as with the wrapper workgen.
    Workgen,
    /// Of a repeated key the last value counts, as with rt-app alone.
    RtApp,
}

/// As meant.
#[derive(Debug)]
pub struct Meant {
    /// Opened.
    pub loads: Vec<LoadSpec>,
    /// Not resolved yet: a configuration of a comparison may replace parts of it.
    pub machine: MachineChoice,
    /// With all settings.
    pub kernel: KernelConfig,
    /// Of the first run.
    pub seed: u64,
    /// If one was asked for.
    pub duration: Option<Nanos>,
    /// Whether to check invariants.
    pub check: bool,
}

impl Common {
    /// What these options mean.
    pub fn meaning(&self) -> Result<Meant, Error> {
        let mut kernel = KernelConfig::of_profile(&self.kernel)?;
        for text in &self.set {
            kernel.set(Change::parse(text)?)?;
        }
        let dialect = match self.dialect {
            RtAppDialect::Workgen => Dialect::Workgen,
            RtAppDialect::RtApp => Dialect::RtApp,
        };
        let loads =
            self.loads.iter().map(|text| LoadSpec::open_in(text, dialect)).collect::<Result<_, _>>()?;
        Ok(Meant {
            loads,
            machine: MachineChoice { name: self.machine.clone(), cpus: self.cpus },
            kernel,
            seed: self.seed,
            duration: self.duration,
            check: self.check,
        })
    }

    /// How much of a table to print.
    pub fn rows(&self) -> Rows {
        if self.full { Rows::All } else { Rows::Folded }
    }
}

fn positive(text: &str) -> Result<Nanos, String> {
    units::positive_duration(text, Nanos::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use schedlab::DEFAULT_MACHINE;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn the_help_tells_the_default_machine() {
        let help = Typed::command().term_width(1000).render_help().to_string();
        assert!(help.contains(&format!("[default: {DEFAULT_MACHINE}]")), "{help}");
    }
}
