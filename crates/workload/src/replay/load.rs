//! The replay of a trace as a load.

use super::accounted::Accounted;
use super::fidelity::{self, ReplayFidelity};
use super::file::ReadWorkload;
use super::objects::Made;
use super::overhead::Overhead;
use super::overrides::{self, Override};
use super::player::{Part, Stage};
use super::recording::{Begin, Message, Recorded, RecordedTask, Recording, TaskIndex, Waking};
use super::roles::{RecordedCommand, Role, Roles};
use super::whom::Whom;
use crate::load::{BuiltLoad, Length, Load, LoadError, LoadResult, Remaining, Results};
use crate::run_trace::run_trace;
use machine::{ChannelSpec, MachineSpec, Outside, Record, Setup};
use scheduler::{CpuId, CpuMask, Nanos, Pid};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use trace::{Repair, Severity, Trace, infer_missing_switches};

/// Between the starts of two tasks that only come to fall asleep.
const LEAD_IN_STEP: Nanos = Nanos::from_micros(40);

/// What its CPUs were about when a told run ended (an interrupt, a switch, an exit), they finished.
const LAST_WORK: Nanos = Nanos::from_micros(2);

/// An affinity that the trace does not show and the user knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownAffinity {
    /// Of which tasks.
    pub whom: Whom,
    /// Their CPUs.
    pub cpus: CpuMask,
}

/// The replay of a trace.
#[derive(Clone, Debug)]
pub struct Replay {
    recording: Recording,
    /// As it was recorded, if the user changes tasks.
    unchanged: Option<Arc<Recording>>,
    /// What the user changes, a sentence each.
    changes: Vec<String>,
    /// Of the trace, after its repair; `None` for a workload file, which is nobody's recording any more.
    accounted: Option<Accounted>,
    kernel: Option<String>,
    repair: Repair,
    import_notes: Vec<String>,
    affinities: Vec<KnownAffinity>,
    overhead: Overhead,
}

/// What a replay says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayResult {
    /// Bursts of CPU time in the trace, those of tasks that are not replayed left out.
    pub bursts: u64,
    /// Of these, how many were run to their end.
    pub bursts_completed: u64,
    /// Length of the recording.
    pub recorded: Nanos,
    /// From the beginning of the trace to the end of the last burst; `None` if some bursts were not run.
    pub time: Option<Nanos>,
    /// Virtual time at which the trace begins: before that, its sleepers fall asleep.
    pub lead_in: Nanos,
    /// The command that was recorded, if the trace shows it.
    pub command: Option<RecordedCommand>,
    /// The tasks that are replayed.
    pub tasks: Vec<ReplayedTask>,
}

/// A task of the trace in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedTask {
    /// Recorded task id.
    pub recorded: trace::Pid,
    /// How many tasks had this id before it.
    pub incarnation: u32,
    /// Recorded name, the last one.
    pub comm: Box<str>,
    /// To whom it belongs.
    pub role: Role,
    /// Whether its program ends in an exit.
    pub exits: bool,
    /// When it exited, since the trace's first event; `None` if it did not, or for a workload file.
    pub recorded_exit: Option<Nanos>,
    /// Its pid in the run; `None` if it never ran.
    pub pid: Option<Pid>,
}

impl Replay {
    /// Reads the programs from a trace. Holes in the trace are repaired as far as they can be.
    pub fn new(mut trace: Trace) -> Replay {
        let repair = infer_missing_switches(&mut trace);
        let serious = trace.notes.iter().filter(|note| note.kind.severity() != Severity::Info);
        Replay {
            recording: Recording::extract(&trace),
            unchanged: None,
            changes: Vec::new(),
            accounted: Some(Accounted::of(&trace)),
            kernel: trace.meta.kernel.clone(),
            repair,
            import_notes: serious.map(ToString::to_string).collect(),
            affinities: Vec::new(),
            overhead: Overhead::default(),
        }
    }

    /// Plays what a workload file says.
    #[must_use]
    pub fn of_workload(workload: ReadWorkload) -> Replay {
        Replay {
            recording: workload.recording,
            unchanged: None,
            changes: Vec::new(),
            accounted: None,
            kernel: workload.kernel,
            repair: Repair::default(),
            import_notes: Vec::new(),
            affinities: Vec::new(),
            overhead: Overhead::default(),
        }
    }

    /// Whether there is a recording with which a run can be compared.
    #[must_use]
    pub fn has_original(&self) -> bool {
        self.accounted.is_some()
    }

    /// Says on which machine the trace was recorded: what its work around the tasks cost is taken out of the recorded
    /// bursts, because the simulated machine charges it again.
    #[must_use]
    pub fn recorded_on(mut self, machine: &MachineSpec) -> Replay {
        self.overhead = Overhead::of(machine);
        self
    }

    /// Adds affinities that the trace does not show; of two for one task the later one counts.
    #[must_use]
    pub fn with_affinities(mut self, affinities: Vec<KnownAffinity>) -> Replay {
        self.affinities.extend(affinities);
        self
    }

    /// Changes tasks, on top of what has been changed before.
    #[must_use]
    pub fn with_overrides(mut self, overrides: &[Override]) -> Replay {
        if overrides.is_empty() {
            return self;
        }
        let sentence = |Override { whom, what }: &Override| {
            let tasks = self.recording.tasks.iter().filter(|task| whom.is(task)).count();
            format!("changed: {whom}: {what} ({tasks} of the recorded tasks have this name or id)")
        };
        let sentences: Vec<String> =
            overrides.iter().filter(|o| self.has_task(&o.whom)).map(sentence).collect();
        self.changes.extend(sentences);
        let changed = overrides::apply(&self.recording, overrides);
        let before = std::mem::replace(&mut self.recording, changed);
        self.unchanged.get_or_insert_with(|| Arc::new(before));
        self
    }

    /// Whether the user has changed something of what was recorded; an affinity that is a list of CPUs counts as knowledge
    /// that the trace lacks, to be free of one as a change.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.unchanged.is_some() || self.affinities.iter().any(|known| known.cpus == CpuMask::ALL)
    }

    /// The replay of what was recorded, without the user's changes.
    #[must_use]
    pub fn as_recorded(&self) -> Replay {
        let mut replay = self.clone();
        if let Some(unchanged) = replay.unchanged.take() {
            replay.recording = Recording::clone(&unchanged);
        }
        replay.changes.clear();
        replay.affinities.retain(|known| known.cpus != CpuMask::ALL);
        replay
    }

    /// Whether it has such a task.
    #[must_use]
    pub fn has_task(&self, whom: &Whom) -> bool {
        self.recording.tasks.iter().any(|task| whom.is(task))
    }

    /// What was read from the trace.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Number of CPUs of the recorded machine.
    pub fn cpus(&self) -> u32 {
        self.recording.cpus
    }

    /// System name, release and machine of the recording kernel, as in `uname`, where the file says so.
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// Compares a run with the recording, if there is one. `records` is the run's trace.
    pub fn fidelity(
        &self,
        result: &ReplayResult,
        records: &[Record],
        comms: &[machine::CommOf],
        cpus: usize,
    ) -> Option<ReplayFidelity> {
        let recorded = self.accounted.as_ref()?;
        let from = records.partition_point(|record| record.time < result.lead_in);
        let to = records
            .partition_point(|record| record.time <= result.lead_in.saturating_add(self.recording.span));
        let simulated = Accounted::of(&run_trace(&records[from..to], comms, cpus));
        Some(fidelity::compare(recorded, &simulated, &result.tasks))
    }

    fn parts(&self, setup: &mut Setup) -> Result<Vec<Part>, LoadError> {
        let mut parts = Vec::with_capacity(self.recording.tasks.len());
        for task in &self.recording.tasks {
            let mut part = Part::new(task, self.overhead.without(task));
            let pinned_to = task.placement.pinned_to.map(|cpu| CpuMask::single(cpu_on(setup, cpu)));
            match self.known_affinity(task).or(task.placement.allowed.as_ref()) {
                Some(cpus) => part.cpus = Some(allowed(cpus, &part.comm, setup.cpus())?),
                None if part.steps.contains(&Recorded::Pin) => part.pinned_to = pinned_to,
                None => part.cpus = pinned_to,
            }
            if !part.absent && part.steps.iter().any(is_message) {
                part.channel = Some(setup.channel(ENDLESS_CHANNEL));
            }
            parts.push(part);
        }
        Ok(parts)
    }

    fn known_affinity(&self, task: &RecordedTask) -> Option<&CpuMask> {
        self.affinities.iter().rev().find(|known| known.whom.is(task)).map(|known| &known.cpus)
    }

    /// Creates the tasks that no other task creates, and the interrupts from outside.
    fn populate(&self, stage: &Rc<Stage>, setup: &mut Setup) {
        let mut sleepers = 0;
        for (n, (task, part)) in self.recording.tasks.iter().zip(&stage.parts).enumerate() {
            let spec = |at, cpu: Option<u32>, setup: &mut Setup| {
                let cpu = cpu.map(|cpu| cpu_on(setup, cpu));
                setup.spawn_on(at, cpu, stage.task(TaskIndex(n as u32)));
            };
            if part.absent {
                continue;
            }
            match task.begin {
                Begin::Never | Begin::Forked => {}
                Begin::Asleep => {
                    let cpu = task.placement.ran_on.first().map(|cpu| u32::from(cpu.0));
                    spec(LEAD_IN_STEP * sleepers, cpu, setup);
                    sleepers += 1;
                }
                Begin::Runnable { cpu } => spec(stage.lead_in, Some(cpu), setup),
                Begin::Appears { at, cpu } => spec(stage.lead_in.saturating_add(at), cpu, setup),
            }
            let Some(channel) = part.channel else { continue };
            for step in &part.steps {
                if let Recorded::Sleep(Waking::Outside { at, cpu }) = step {
                    let at = stage.lead_in.saturating_add(*at);
                    let cpu = cpu.map(|cpu| cpu_on(setup, cpu));
                    setup.outside(Outside { at, cpu, channel, every: None });
                }
            }
        }
        for Message { at, cpu, channel } in &self.recording.messages {
            let at = stage.lead_in.saturating_add(*at).saturating_sub(self.overhead.interrupt_entry);
            let (cpu, channel) = (Some(cpu_on(setup, *cpu)), stage.made.channel(*channel));
            setup.outside(Outside { at, cpu, channel, every: None });
        }
    }
}

/// Tokens are never lost and never block their sender.
const ENDLESS_CHANNEL: ChannelSpec = ChannelSpec {
    capacity: u32::MAX,
    writers_wake_at: u32::MAX - 1,
    sync: false,
    softirq: false,
    send_cost: Nanos::ZERO,
    receive_cost: Nanos::ZERO,
};

fn is_message(step: &Recorded) -> bool {
    matches!(step, Recorded::Sleep(Waking::Task | Waking::Outside { .. }))
}

/// The CPU that stands for a recorded one: itself, or if the machine has fewer, one of those it has.
fn cpu_on(setup: &Setup, cpu: u32) -> CpuId {
    CpuId((cpu as usize % setup.cpus().max(1)) as u16)
}

fn allowed(cpus: &CpuMask, comm: &str, count: usize) -> Result<CpuMask, LoadError> {
    let on_machine = cpus.and(&CpuMask::first_n(count));
    if on_machine.is_empty() {
        let message = format!(
            "task {comm} of the trace is to run on CPUs {cpus} only: the machine has CPUs 0 to {}",
            count.saturating_sub(1)
        );
        return Err(LoadError::Usage { load: "replay".into(), message });
    }
    Ok(on_machine)
}

impl Load for Replay {
    fn length(&self) -> Length {
        Length::Time(self.lead_in().saturating_add(self.recording.span))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.changes.clone();
        notes.extend(self.import_notes.iter().cloned());
        let Repair { switches, uncertain_ns } = self.repair;
        if switches > 0 {
            notes.push(format!(
                "{switches} switches are missing in the trace and were inferred: CPU times may be wrong by {} in all",
                Nanos(uncertain_ns)
            ));
        }
        if let Some(hz) = self.recording.hz {
            notes
                .push(format!("the recording kernel ticked {hz} times a second: hz={hz} replays its slices"));
        }
        notes.extend(self.recording.counts.sentences());
        let pinned = self.recording.tasks.iter().filter(|task| task.placement.pinned_to.is_some()).count();
        if pinned > 0 {
            notes.push(format!(
                "{pinned} tasks are taken to be pinned to one CPU, by name or because they waited there beside idle CPUs; a trace does not show affinities"
            ));
        }
        notes
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        if self.recording.idle_polls {
            setup.hold_cpu_dma_latency();
        }
        // A trace has the kernel threads of the machine on which it was recorded.
        setup.bring_kernel_threads();
        let parts = self.parts(setup)?;
        let reports = parts.iter().filter(|part| !part.absent && part.reports_its_end()).count() as u32;
        let remaining = Remaining::new(reports);
        let stage = Rc::new(Stage {
            pids: RefCell::new(vec![None; parts.len()]),
            parts,
            made: Made::make(&self.recording.objects, setup),
            lead_in: self.lead_in(),
            bursts: Cell::default(),
            last_burst: Cell::default(),
            remaining: remaining.clone(),
        });
        self.populate(&stage, setup);
        let Roles { of_tasks, command } = Roles::of(&self.recording);
        let exits = self.accounted.as_ref().map(|accounted| &accounted.exits);
        let replayed = |(task, role): (&RecordedTask, Role)| ReplayedTask {
            recorded: task.pid,
            incarnation: task.incarnation,
            comm: task.last_comm().into(),
            role,
            exits: task.exits(),
            recorded_exit: exits.and_then(|exits| exits.get(&(task.pid, task.incarnation))).copied(),
            pid: None,
        };
        let tasks = self.recording.tasks.iter().zip(of_tasks).map(replayed).collect();
        let mut lasts_until = Nanos::ZERO;
        if self.recording.is_told() {
            lasts_until = self.recording.span.saturating_add(LAST_WORK);
            setup.look_at(lasts_until);
        }
        let played = Played { stage, tasks, command, recorded: self.recording.span };
        Ok(BuiltLoad::new(remaining, played).lasting_until(lasts_until))
    }
}

impl Replay {
    /// Long enough for every task that sleeps when the trace begins to fall asleep.
    fn lead_in(&self) -> Nanos {
        if self.recording.is_told() {
            return Nanos::ZERO;
        }
        let sleepers = self.recording.tasks.iter().filter(|task| task.begin == Begin::Asleep).count() as u64;
        LEAD_IN_STEP * (sleepers + 25)
    }
}

#[derive(Debug)]
struct Played {
    stage: Rc<Stage>,
    /// All tasks of the recording, without what the run made of them.
    tasks: Vec<ReplayedTask>,
    command: Option<RecordedCommand>,
    recorded: Nanos,
}

impl Results for Played {
    fn result(&self) -> LoadResult {
        let stage = &self.stage;
        let pids = stage.pids.borrow();
        let present = stage.parts.iter().zip(&self.tasks).zip(pids.iter());
        let present = present.filter(|((part, _), _)| !part.absent);
        let runs =
            |part: &Part| part.steps.iter().filter(|step| matches!(step, Recorded::Run(_))).count() as u64;
        let bursts = stage.parts.iter().filter(|part| !part.absent).map(runs).sum();
        let completed = stage.bursts.get();
        LoadResult::Replay(ReplayResult {
            bursts,
            bursts_completed: completed,
            recorded: self.recorded,
            time: (completed == bursts).then(|| stage.last_burst.get().saturating_sub(stage.lead_in)),
            lead_in: stage.lead_in,
            command: self.command.clone(),
            tasks: present.map(|((_, task), pid)| ReplayedTask { pid: *pid, ..task.clone() }).collect(),
        })
    }
}
