//! Options that `run` and `compare` share.

use super::typed::Typed;
use super::voice::Voice;
use super::window::StretchOptions;
use clap::ValueEnum;
use lab::{
    Change, Experiment, KernelConfig, NamedKernel, NamedMachine, Reading, StoredResult, TaskOptions,
    deadlines, groups, load_text, machine, machine_file, task_options,
};
use machine::Window;
use report::text::Rows;
use schedlab::files::Disk;
use schedlab::{Error, clocks};
use scheduler::{CpuMask, Nanos};
use schema::{
    DeadlineText, ExperimentText, FileText, GroupText, KernelChange, MachineText, MemberText, WakeupCosts,
};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;
use workload::replay::{KnownAffinity, Override, TaskSelector};
use workload::units;

// As typed. (A doc comment here would become the help text of both commands.)
#[derive(Debug, clap::Args)]
pub struct Common {
    /// What runs: a quoted command line ('cyclictest -t8 -p90'), an rt-app file or a trace; several run
    /// together.
    ///
    /// A word is taken for a file if it exists or ends as one (.json, .workload, .dat, .data, .txt, .trace,
    /// .ftrace, .gz, .pftrace, .perfetto-trace; .jsonl, which cannot be run); `-` is standard input.
    /// `schedlab list loads` shows the command lines that are known. A result (`--format json`) alone is run
    /// again, as it says itself.
    #[arg(value_name = "LOAD", required = true)]
    loads: Vec<String>,
    /// Machine, by name (`schedlab list machines`) or TOML file [default: laptop].
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Number of CPUs [default: the machine's; with a trace and no --machine, the recording's].
    #[arg(long, value_name = "N", value_parser = cpus)]
    cpus: Option<u32>,
    /// Kernel: a profile (`schedlab list kernels`), a release (5.14) or a distribution (debian12) [default:
    /// 6.18.y; with a trace, the recording's].
    ///
    /// A release or distribution without a profile of its own runs as the nearest one; a note says what is
    /// known to differ.
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<String>,
    /// A feature, rule or tunable on top of it: NO_RT_PUSH_IPI, search=linear; with a time, 2s:RT_PUSH_IPI.
    ///
    /// Settings take effect in the order given. A time without a unit is in seconds.
    #[arg(long, value_name = "[TIME:]SETTING", allow_hyphen_values = true)]
    set: Vec<String>,
    /// A task group, with what is written into the files of its cgroup:
    /// web=cpu.max:200000/100000,cpu.weight:300.
    ///
    /// The files are cpu.max, cpu.max.burst, cpu.weight, cpu.weight.nice, cpu.shares, cpu.idle,
    /// cpu.uclamp.min, cpu.uclamp.max, cpu.rt_runtime_us, cpu.rt_period_us, cpuset.cpus and
    /// cpuset.cpus.partition; times are in microseconds, as there, unless they have another unit. A path
    /// (a/b) is a group in another one, which is made if it is not described. May be repeated.
    #[arg(long, value_name = "NAME[=FILE:VALUE,...]", value_parser = groups::group)]
    group: Vec<GroupText>,
    /// Tasks that are in a group, and those that they fork: a name, a pattern of names (cc*) or a pid.
    ///
    /// A name is that with which a task begins, in a recording any of its names. Of several that mean a task
    /// the last counts; a forked task that none means is where its parent is.
    #[arg(long = "in", value_name = "NAME=TASK", value_parser = groups::member)]
    member: Vec<MemberText>,
    /// Tasks that are SCHED_DEADLINE ones, and those of this name that others fork: a name, a pattern of
    /// names (cc*) or a pid, of any load; a name is that with which a task begins.
    ///
    /// Run time, deadline and period are written as 10ms/30ms/100ms, or 10ms/100ms where the deadline is the
    /// end of the period; microseconds without a unit. With `,reclaim` behind it they use what others leave
    /// of a CPU, too. Of several that mean a task the last counts.
    #[arg(long, value_name = "TASK=R/D/P", value_parser = deadlines::deadline)]
    deadline: Vec<DeadlineText>,
    /// Each load is a session of its own with a group of its own (sched_autogroup_enabled=1), for tasks that
    /// are in no other group.
    #[arg(long)]
    autogroup: bool,
    /// CPUs in no sched domain (isolcpus=): 2-3,8. Nothing balances them; tasks get there by their affinity.
    #[arg(long, value_name = "CPUS", value_parser = groups::isolcpus)]
    isolcpus: Option<String>,
    /// CPUs that stop their tick beside a single task (nohz_full=): 2-3,8. Timers and kernel threads stay
    /// away.
    #[arg(long, value_name = "CPUS", value_parser = groups::nohz_full)]
    nohz_full: Option<String>,
    /// Simulated time, seconds without a unit [default: until the loads end; 10s where none does].
    ///
    /// Without this option the run ends when all loads that come to an end have done so, at the latest a
    /// minute after the longest time that one of them states. Endless loads are background then.
    #[arg(long = "for", value_name = "TIME", value_parser = positive, allow_hyphen_values = true)]
    duration: Option<Nanos>,
    /// Everything random derives from it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Check the scheduler's invariants after every event; slow.
    #[arg(long)]
    check: bool,
    /// Check only the invariants of a moment, after every Nth event: 1000 takes little longer than a run.
    #[arg(long, value_name = "N", conflicts_with = "check")]
    check_every: Option<NonZeroU32>,
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
    /// Task groups of a recording: `recorded`, those that its recorder wrote down, with weights and limits;
    /// `flat`, none but those of --group and --in.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = RecordedGroups::Recorded)]
    groups: RecordedGroups,
    /// Lets a task of a recording that ran until a certain time do so here, too: it computes until it ended,
    /// by the clock.
    ///
    /// From its last sleep on, however much CPU time it gets: a program that stops by the clock computes more
    /// where more CPUs are. Without it, a task repeats its recorded amount of work.
    #[arg(long, value_name = "TASK", value_parser = task_options::until_end)]
    until_end: Vec<Override>,
    /// Says that a task of a recording ends when its work is done, although it looks as if the clock had
    /// ended it: tasks that end at one moment may have shared out their work. When the replay is done has a
    /// grade then.
    #[arg(long, value_name = "TASK", value_parser = task_options::until_done)]
    until_done: Vec<Override>,
    /// Leaves the work of a task of a recording out; whom it wakes and forks, it still does.
    #[arg(long, value_name = "TASK", value_parser = task_options::without)]
    without: Vec<Override>,
    /// Tell of these tasks only: a name, a pattern of names (cc*) or a pid; may be repeated.
    #[arg(long, value_name = "TASK", value_parser = str::parse::<TaskSelector>)]
    task: Vec<TaskSelector>,
    #[command(flatten)]
    stretch: StretchOptions,
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

/// In which task groups the tasks of a replay are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RecordedGroups {
    /// In those of the recording, where it tells any.
    Recorded,
    /// In none but those that are named.
    Flat,
}

impl RecordedGroups {
    pub fn meant(self) -> schema::RecordedGroups {
        match self {
            RecordedGroups::Recorded => schema::RecordedGroups::Recorded,
            RecordedGroups::Flat => schema::RecordedGroups::Flat,
        }
    }
}

impl RecordedLocks {
    pub fn meant(self) -> schema::RecordedLocks {
        match self {
            RecordedLocks::Auto => schema::RecordedLocks::Auto,
            RecordedLocks::Recorded => schema::RecordedLocks::Recorded,
            RecordedLocks::Inferred => schema::RecordedLocks::Inferred,
        }
    }
}

/// As meant.
#[derive(Debug)]
pub struct Meant {
    /// What was asked for.
    pub text: ExperimentText,
    /// How files are read.
    pub reading: Reading,
    /// What is to run.
    pub experiment: Experiment,
    /// The command line of a result that is run again, if it has one.
    pub command: Option<String>,
    /// Why a result that is run again may not come out as it was.
    pub warning: Option<String>,
    /// The files that are read for it.
    pub files: Vec<PathBuf>,
}

impl Common {
    /// What these options mean, with files of Linux to show; `typed` are the options that were typed. A
    /// result in place of the loads means what it says itself.
    pub fn meaning(&self, dumps: &[String], typed: &Typed) -> Result<Meant, Error> {
        let reading = self.reading()?;
        if let [word] = self.loads.as_slice()
            && let Some(result) = StoredResult::open(word, &Disk)?
        {
            typed.say_nothing_of_a_run(word)?;
            let experiment = Experiment { clock: Some(clocks::wall), ..result.repeat(&Disk)? };
            let mut files = files(&result.experiment, &experiment);
            files.push(word.into());
            return Ok(Meant {
                warning: result.other_version(),
                text: result.experiment,
                reading,
                experiment,
                command: result.command,
                files,
            });
        }
        let text = self.text(dumps, &reading)?;
        let experiment = Experiment { clock: Some(clocks::wall), ..Experiment::open(&text, &Disk)? };
        reading.check(&experiment.loads)?;
        let files = files(&text, &experiment);
        Ok(Meant { text, reading, experiment, command: None, warning: None, files })
    }

    /// As text.
    fn text(&self, dumps: &[String], reading: &Reading) -> Result<ExperimentText, Error> {
        let change = |text: &String| Change::parse(text).map(|change| KernelChange::from(&change));
        let settings = self.set.iter().filter(|word| groups::autogroup(word).is_none());
        let recorded_on = MachineText { name: self.recorded_on.clone(), ..MachineText::default() };
        let file = FileText { recorded_on: Some(recorded_on), ..reading.text() };
        Ok(ExperimentText {
            loads: self.loads.iter().map(|word| load_text(word, &file, &Disk)).collect(),
            machine: MachineText { name: self.machine.clone(), cpus: self.cpus, content: None },
            kernel: self.kernel.clone(),
            settings: settings.map(change).collect::<Result<_, _>>()?,
            groups: groups::on_top(&self.group, &[]),
            members: self.member.clone(),
            deadlines: self.deadline.clone(),
            autogroup: self
                .set
                .iter()
                .filter_map(|word| groups::autogroup(word))
                .next_back()
                .unwrap_or(self.autogroup),
            isolcpus: self.isolcpus.clone(),
            nohz_full: self.nohz_full.clone(),
            seed: self.seed,
            // Files say them: nobody writes them by hand.
            redraws: Vec::new(),
            duration_ns: self.duration.map(|duration| duration.0),
            stretch: self.stretch.stretch()?,
            tasks: self.task.iter().map(TaskSelector::word).collect(),
            dumps: dumps.to_vec(),
            check: self.check || self.check_every.is_some(),
            check_every: self.check_every,
            why: false,
            without_fidelity: false,
        })
    }

    fn reading(&self) -> Result<Reading, Error> {
        let overrides = [
            &self.policy,
            &self.nice,
            &self.scale,
            &self.outside,
            &self.until_end,
            &self.until_done,
            &self.without,
        ];
        let overrides = overrides.into_iter().flatten().cloned().collect();
        Ok(Reading {
            dialect: match self.dialect {
                RtAppDialect::Workgen => schema::RtAppDialect::Workgen,
                RtAppDialect::RtApp => schema::RtAppDialect::RtApp,
            },
            locks: self.locks.meant(),
            groups: self.groups.meant(),
            tasks: TaskOptions { affinities: self.affinity.clone(), overrides },
            wakeup_costs: match self.wakeup_costs {
                CostsFrom::Recorded => WakeupCosts::Recorded,
                CostsFrom::Machine => WakeupCosts::Machine,
            },
            window: self.stretch.stretch()?.map(Window::from),
        })
    }

    /// The machine on which recordings were made, if the user says so.
    pub fn recorded_on(&self) -> Result<Option<NamedMachine>, Error> {
        Ok(self.recorded_on.as_ref().map(|name| machine(name, None, &Disk)).transpose()?)
    }

    /// The only load, if it is a recording.
    pub fn recording_alone(&self) -> Result<Option<&str>, Error> {
        let [word] = self.loads.as_slice() else { return Ok(None) };
        Ok(lab::is_recorded(word, &Disk)?.then_some(word))
    }

    /// The stretch to look at.
    pub fn window(&self) -> Result<Option<Window>, Error> {
        Ok(self.stretch.stretch()?.map(Window::from))
    }

    /// The tasks to tell of.
    pub fn tasks(&self) -> &[TaskSelector] {
        &self.task
    }

    /// How much of a table to print.
    pub fn rows(&self) -> Rows {
        if self.full { Rows::All } else { Rows::Folded }
    }
}

/// Says, before the runs begin, of which kernels another one runs in their place. What that changes is a note
/// of the result.
pub fn say_what_runs<'k>(kernels: impl IntoIterator<Item = &'k KernelConfig>, voice: Voice) {
    let mut said = BTreeSet::new();
    for kernel in kernels.into_iter().map(KernelConfig::named).filter(|kernel| !kernel.is_exact()) {
        if let Some(headline) = kernel.headline().filter(|headline| said.insert(headline.clone())) {
            voice.note(&format!("{headline}; what differs stands below the result"));
        }
    }
}

/// The same with what that changes, where the result has no such note.
pub fn say_what_differs(kernel: &KernelConfig, voice: Voice) {
    let other = Some(kernel.named()).filter(|kernel| !kernel.is_exact());
    if let Some(note) = other.and_then(NamedKernel::note) {
        voice.note(&note);
    }
}

/// The files that are read for an experiment.
fn files(text: &ExperimentText, experiment: &Experiment) -> Vec<PathBuf> {
    let loads = text.loads.iter().filter(|load| load.file.is_some()).map(|load| PathBuf::from(&load.load));
    let recorded_on = text.loads.iter().filter_map(|load| load.file.as_ref()?.recorded_on.as_ref());
    let machines = recorded_on.filter_map(|machine| machine_file(machine.name.as_deref()?, &Disk));
    loads.chain(machines).chain(experiment.machine.file()).collect()
}

fn cpus(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=CpuMask::BITS as u32).contains(number));
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
