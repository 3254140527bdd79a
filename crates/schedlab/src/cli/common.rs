//! Options that `run` and `compare` share.

use super::window::Stretch;
use clap::ValueEnum;
use lab::{
    Change, Experiment, KernelConfig, LoadSource, LoadSpec, MachineChoice, NamedKernel, Reading,
    STANDARD_STREAM, TaskOptions, WakeupCosts, machine, machine_file, task_options,
};
use machine::{MachineSpec, Window};
use report::text::Rows;
use schedlab::files::Disk;
use schedlab::{Error, clocks};
use scheduler::{CpuMask, Nanos};
use std::path::PathBuf;
use workload::replay::{KnownAffinity, Locks, Override, TaskSelector};
use workload::rtapp::Dialect;
use workload::units;

// As typed. (A doc comment here would become the help text of both commands.)
#[derive(Debug, clap::Args)]
pub struct Common {
    /// What runs: a quoted command line ('cyclictest -t8 -p90'), an rt-app file or a trace; several run
    /// together.
    ///
    /// A word is taken for a file if it exists or ends as one (.json, .dat, .data, .txt, .trace, .ftrace,
    /// .gz, .pftrace, .perfetto-trace); `-` is standard input.
    /// `schedlab list loads` shows the command lines that are known.
    #[arg(value_name = "LOAD", required = true)]
    loads: Vec<String>,
    /// Machine, by name (`schedlab list machines`) or TOML file [default: laptop].
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Number of CPUs [default: the machine's; with a trace and no --machine, the recording's].
    #[arg(long, value_name = "N", value_parser = cpus)]
    cpus: Option<usize>,
    /// Kernel: a profile (`schedlab list kernels`), a release (5.14) or a distribution (debian12) [default:
    /// 6.1; with a trace, the recording's].
    ///
    /// A release or distribution without a profile of its own runs as the nearest one; a note says what is
    /// known to differ.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<String>,
    /// A feature, rule or tunable on top of it: NO_RT_PUSH_IPI, search=linear; with a time, 2s:RT_PUSH_IPI.
    ///
    /// Settings take effect in the order given. A time without a unit is in seconds.
    #[arg(long, value_name = "[TIME:]SETTING")]
    set: Vec<String>,
    /// Simulated time, seconds without a unit [default: until the loads end; 10s where none does].
    ///
    /// Without this option the run ends when all loads that come to an end have done so, at the latest a
    /// minute after the longest time that one of them states. Endless loads are background then.
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
    /// Machine on which a trace was recorded [default: the machine of the run, of a comparison's base].
    ///
    /// What its kernel did around the tasks is taken out of their recorded CPU time, because the simulated
    /// kernel does it again.
    #[arg(long, value_name = "NAME|FILE")]
    recorded_on: Option<String>,
    /// How long a replay takes from a wakeup to the woken task: as in the recording, or as the machine file
    /// says.
    ///
    /// `recorded` holds on the machine of the recording (see --recorded-on), where nothing came between the
    /// two, and never makes it shorter than the machine's costs. Elsewhere those of the machine hold.
    #[arg(long, value_name = "FROM", value_enum, default_value_t = CostsFrom::Recorded)]
    wakeup_costs: CostsFrom,
    /// CPUs that a task of a trace and its children may use; `all` frees what is bound.
    ///
    /// TASK is a name, a pattern of names (cc*), or a recorded pid. A trace does not show affinities, only
    /// some traces of them. Children have what their parent has unless another --affinity names them.
    #[arg(long, value_name = "TASK=CPUS", value_parser = task_options::affinity)]
    affinity: Vec<KnownAffinity>,
    /// Gives a task of a recording another policy: fifo:PRIORITY, rr:PRIORITY, other, batch or idle.
    ///
    /// For the whole recording. Its descendants have it, too, unless another --policy names them.
    #[arg(long, value_name = "TASK=POLICY", value_parser = task_options::policy)]
    policy: Vec<Override>,
    /// Gives a fair task of a recording, and its descendants, another nice value.
    #[arg(long, value_name = "TASK=NICE", value_parser = task_options::nice, allow_hyphen_values = true)]
    nice: Vec<Override>,
    /// Makes the CPU work of a task of a recording so many times as long; all=1.5: as on a slower machine.
    #[arg(long, value_name = "TASK=FACTOR", value_parser = task_options::scale)]
    scale: Vec<Override>,
    /// Waits of a recording that end by interrupts: `absolute`, at their recorded times; `relative`, after as
    /// long.
    ///
    /// Without it, waits for devices (state D, or what block events show) and for answers over the network
    /// are relative, and those whose cause the trace does not show are absolute. TASK=absolute or
    /// TASK=relative says it of one task.
    #[arg(long, value_name = "[TASK=]HOW", value_parser = task_options::outside)]
    outside: Vec<Override>,
    /// Waits for locks of a recording: `recorded`, no others arise; `inferred`, at mutexes found in it;
    /// `auto`.
    ///
    /// Mutexes with priority inheritance show in who lends a priority to whom, plain ones in who wakes whom.
    /// Inferred, either may come first to one, and waits arise as well as vanish. With priority inheritance
    /// CPU time is then less exact, because spinning is part of it; so `auto` infers plain ones, where nearly
    /// every lock shows, and no others.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = RecordedLocks::Auto)]
    locks: RecordedLocks,
    /// Leaves the work of a task of a recording out; whom it wakes and forks, it still does.
    #[arg(long, value_name = "TASK", value_parser = task_options::without)]
    without: Vec<Override>,
    /// Tell of these tasks only: a name, a pattern of names (cc*) or a pid; may be repeated.
    #[arg(long, value_name = "TASK", value_parser = str::parse::<TaskSelector>)]
    task: Vec<TaskSelector>,
    #[command(flatten)]
    stretch: Stretch,
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

/// Where costs come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum CostsFrom {
    /// The recording.
    Recorded,
    /// The machine file.
    Machine,
}

/// Which program would read an rt-app file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RtAppDialect {
    /// Repeated keys all count, as with the wrapper workgen.
    Workgen,
    /// Of a repeated key the last value counts, as with rt-app alone.
    RtApp,
}

/// What waits for locks are in a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RecordedLocks {
    /// Plain mutexes are inferred where nearly every lock shows; the others as recorded.
    Auto,
    /// As they were recorded.
    Recorded,
    /// All mutexes that show are inferred.
    Inferred,
}

impl RecordedLocks {
    pub fn meant(self) -> Locks {
        match self {
            RecordedLocks::Auto => Locks::Auto,
            RecordedLocks::Recorded => Locks::Recorded,
            RecordedLocks::Inferred => Locks::Inferred,
        }
    }
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
    /// How files were read.
    pub reading: Reading,
    /// Where traces were recorded, if the user says so.
    recorded_on: Option<MachineSpec>,
    /// The tasks to tell of; empty: all.
    pub tasks: Vec<TaskSelector>,
    /// The stretch to tell of; `None`: all of a run.
    pub window: Option<Window>,
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
        let dialect = match self.dialect {
            RtAppDialect::Workgen => Dialect::Workgen,
            RtAppDialect::RtApp => Dialect::RtApp,
        };
        if self.loads.iter().filter(|load| *load == STANDARD_STREAM).count() > 1 {
            return Err(Error::StdinTwice);
        }
        let overrides = [&self.policy, &self.nice, &self.scale, &self.outside, &self.without];
        let overrides = overrides.into_iter().flatten().cloned().collect();
        let tasks = TaskOptions { affinities: self.affinity.clone(), overrides };
        let wakeup_costs = match self.wakeup_costs {
            CostsFrom::Recorded => WakeupCosts::Recorded,
            CostsFrom::Machine => WakeupCosts::Machine,
        };
        let window = self.stretch.window()?;
        let reading = Reading { dialect, locks: self.locks.meant(), tasks, window, wakeup_costs };
        let loads: Vec<LoadSpec> = self
            .loads
            .iter()
            .map(|text| LoadSpec::open_as(text, &reading, &Disk))
            .collect::<Result<_, _>>()?;
        reading.tasks.check(&loads)?;
        if self.locks == RecordedLocks::Inferred && !loads.iter().any(LoadSpec::has_mutexes) {
            return Err(Error::NoMutexes);
        }
        let recorded = || loads.iter().filter_map(LoadSpec::recorded_kernel).find_map(NamedKernel::of_uname);
        let mut kernel = match &self.kernel {
            Some(name) => KernelConfig::of_name(name).map_err(lab::Error::from)?,
            None => recorded().map_or_else(KernelConfig::default, KernelConfig::new),
        };
        for text in &self.set {
            kernel.set(Change::parse(text)?).map_err(lab::Error::from)?;
        }
        Ok(Meant {
            machine: MachineChoice { name: self.machine.clone(), cpus: self.cpus },
            recorded_on: self.recorded_on.as_ref().map(|name| machine(name, None, &Disk)).transpose()?,
            loads,
            reading,
            tasks: self.task.clone(),
            window,
            kernel,
            seed: self.seed,
            duration: self.duration,
            check: self.check,
        })
    }

    /// The files that are read for them.
    pub fn files(&self) -> Vec<PathBuf> {
        let loads = self.loads.iter().filter(|load| LoadSource::of(load, &Disk) == LoadSource::File);
        let machines = [&self.machine, &self.recorded_on].into_iter().flatten();
        loads.map(PathBuf::from).chain(machines.filter_map(|name| machine_file(name, &Disk))).collect()
    }

    /// How much of a table to print.
    pub fn rows(&self) -> Rows {
        if self.full { Rows::All } else { Rows::Folded }
    }
}

impl Meant {
    /// Loads that know where they were recorded: on this machine unless the user says otherwise.
    pub fn recorded(&self, loads: Vec<LoadSpec>, machine: &MachineSpec) -> Vec<LoadSpec> {
        let origin = self.recorded_on.as_ref().unwrap_or(machine);
        loads.into_iter().map(|load| load.recorded_on(origin)).collect()
    }

    /// The experiment on this machine, which is also the one of the recordings unless the user says
    /// otherwise.
    pub fn on(self, machine: MachineSpec, kernel: KernelConfig) -> Experiment {
        Experiment {
            loads: self.recorded(self.loads.clone(), &machine),
            machine,
            kernel,
            seed: self.seed,
            duration: self.duration,
            check: self.check,
            record: false,
            fidelity: true,
            dumps: Vec::new(),
            tasks: self.tasks,
            window: self.window,
            clock: clocks::wall,
        }
    }
}

fn cpus(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=CpuMask::BITS).contains(number));
    number.ok_or_else(|| format!("a machine has 1 to {} CPUs", CpuMask::BITS))
}

fn positive(text: &str) -> Result<Nanos, String> {
    units::positive_duration(text, Nanos::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use lab::{DEFAULT_MACHINE, DEFAULT_PROFILE};

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn the_help_tells_the_defaults() {
        let help = Typed::command().term_width(1000).render_help().to_string();
        assert!(help.contains(&format!("[default: {DEFAULT_MACHINE}]")), "{help}");
        assert!(help.contains(&format!("[default: {DEFAULT_PROFILE}; ")), "{help}");
    }
}
