//! A recording as it was read, and what the user wants changed of it.

use super::accounted::Accounted;
use super::caveats::Caveats;
use super::ending::{ByClock, Ended, Ending};
use super::fidelity::{self, ReplayFidelity};
use super::file::ReadWorkload;
use super::groups::ReplayGroups;
use super::load::Replayed;
use super::overhead::Overhead;
use super::overrides::{self, Changed, Override};
use super::recording::{RecordedTask, Recording};
use super::seen_cpus;
use super::task_selector::TaskSelector;
use crate::run_trace::run_trace;
use machine::{MachineSpec, WakePaths, Window};
use scheduler::{CpuMask, Nanos};
use schema::{LogEvent, LogRecord, RecordedGroups, RecordedLocks};
use std::fmt;
use std::sync::Arc;
use trace::{SeenCpus, Stretch, Trace, infer_missing_switches};

/// An affinity that the trace does not show and the user knows, or one that it shows and the user changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownAffinity {
    /// Of which tasks. Their children have it, too, unless another one names them.
    pub whom: TaskSelector,
    /// Their CPUs.
    pub cpus: CpuMask,
}

/// As the user writes it: `cc1=0-3`.
impl fmt::Display for KnownAffinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KnownAffinity { whom, cpus } = self;
        match *cpus == CpuMask::ALL {
            true => write!(f, "{whom}=all"),
            false => write!(f, "{whom}={cpus}"),
        }
    }
}

/// The replay of a trace.
#[derive(Clone, Debug)]
pub struct Replay {
    pub(super) recording: Recording,
    /// As it was recorded, if the user changes tasks.
    pub(super) unchanged: Option<Arc<Recording>>,
    /// What the user changes, a sentence each.
    pub(super) changes: Vec<String>,
    /// Of the trace, after its repair; `None` for a workload file, which is nobody's recording any more.
    pub(super) accounted: Option<Accounted>,
    pub(super) kernel: Option<String>,
    pub(super) caveats: Caveats,
    /// Why the recorded command was done; of a workload file, its work.
    pub(super) ending: Ending,
    /// Whom the clock seems to have ended, unless it ends them here, too.
    by_clock: Option<ByClock>,
    tells_groups: bool,
    /// Of how many CPUs the recording is, if they are not all of the machine's.
    pub(super) seen_cpus: Option<u32>,
    /// By how much the recorded CPU times may be wrong in all.
    cpu_time_uncertain_ns: u64,
    pub(super) affinities: Vec<KnownAffinity>,
    pub(super) overhead: Overhead,
    /// What is compared with the recording, since its first event.
    pub(super) window: Window,
}

/// How to read a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// What waits for locks are.
    pub locks: RecordedLocks,
    /// The stretch of the recording with which a run is compared; it counts from the first event.
    pub window: Window,
    /// Whether its tasks are in the groups in which they were.
    pub groups: RecordedGroups,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            locks: RecordedLocks::default(),
            window: Window::ALL,
            groups: RecordedGroups::default(),
        }
    }
}

impl Replay {
    /// Reads the programs from a trace. Holes in the trace are repaired as far as they can be.
    pub fn new(trace: Trace) -> Replay {
        Replay::read(trace, ReadOptions::default())
    }

    /// The same, as the user wants it.
    pub fn read(mut trace: Trace, options: ReadOptions) -> Replay {
        let ReadOptions { locks, window, groups } = options;
        let stretch = stretch(&trace, window);
        let repair = infer_missing_switches(&mut trace);
        let mut recording = Recording::extract_with(&trace, locks);
        let mut impossible = Vec::new();
        if groups == RecordedGroups::Recorded {
            let recorded = ReplayGroups::recorded(&trace, &recording);
            (recording.groups, impossible) = (recorded.groups, recorded.impossible);
        }
        let accounted = Accounted::of(&trace, stretch);
        let cpu_time_uncertain_ns = accounted.uncertain_ns(repair.uncertain_ns);
        let seen_cpus = SeenCpus::of(&trace);
        let tells_groups = ReplayGroups::are_told(&trace, &recording);
        let ended = Ended::of(&trace, &recording, &accounted);
        let mut caveats = Caveats::of(&trace, &recording, repair, cpu_time_uncertain_ns);
        caveats.warnings.extend(impossible);
        caveats.warnings.extend(seen_cpus.iter().map(seen_cpus::warning));
        caveats.warnings.extend(ended.by_clock.iter().map(|by_clock| by_clock.warning.clone()));
        caveats.notes.extend(ended.note);
        Replay {
            caveats,
            ending: ended.by,
            by_clock: ended.by_clock,
            tells_groups,
            seen_cpus: seen_cpus.map(|cpus| cpus.seen.len() as u32),
            cpu_time_uncertain_ns,
            unchanged: None,
            changes: Vec::new(),
            accounted: Some(accounted),
            kernel: trace.meta.kernel.clone(),
            recording,
            affinities: Vec::new(),
            overhead: Overhead::default(),
            window,
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
            caveats: workload.caveats,
            ending: Ending::default(),
            by_clock: None,
            tells_groups: true,
            seen_cpus: None,
            cpu_time_uncertain_ns: 0,
            affinities: Vec::new(),
            overhead: Overhead::default(),
            window: Window::ALL,
        }
    }

    /// Whether there is a recording with which a run can be compared.
    #[must_use]
    pub fn has_original(&self) -> bool {
        self.accounted.is_some()
    }

    /// Says on which machine the trace was recorded: what its work around the tasks cost is taken out of the
    /// recorded bursts, because the simulated machine charges it again.
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
            let have = if tasks == 1 { "has" } else { "have" };
            let in_vain = self.in_vain(whom, *what);
            format!("changed: {whom}: {what} ({tasks} of the recorded tasks {have} this name or id){in_vain}")
        };
        let sentences: Vec<String> =
            overrides.iter().filter(|o| self.has_task(&o.whom)).map(sentence).collect();
        self.changes.extend(sentences);
        let is_told = |by_clock: &ByClock, what| by_clock.is_told(&self.recording, overrides, what);
        let by_work = self.by_clock.as_ref().is_some_and(|by_clock| is_told(by_clock, Changed::UntilDone));
        let told = self.by_clock.take_if(|by_clock| by_work || is_told(by_clock, Changed::UntilEnd));
        self.caveats.warnings.retain(|warning| told.as_ref().is_none_or(|told| *warning != told.warning));
        if by_work {
            self.ending = Ending::Work;
        }
        // Who says only what ends a task changes nothing of it.
        if overrides.iter().all(|o| o.what == Changed::UntilDone) {
            return self;
        }
        let changed = overrides::apply(&self.recording, overrides);
        let before = std::mem::replace(&mut self.recording, changed);
        self.unchanged.get_or_insert_with(|| Arc::new(before));
        self
    }

    /// That a change does nothing to some of these tasks.
    fn in_vain(&self, whom: &TaskSelector, what: Changed) -> String {
        let realtime = |task: &&RecordedTask| whom.is(task) && task.ends_real_time();
        match (what, self.recording.tasks.iter().filter(realtime).count()) {
            (Changed::Nice(_), count @ 1..) => {
                format!("; {count} of them under a real-time policy, where a nice value changes nothing")
            }
            _ => String::new(),
        }
    }

    /// Its tasks are in no groups but those that the user makes.
    #[must_use]
    pub fn without_groups(mut self) -> Replay {
        self.recording.groups = ReplayGroups::default();
        if let Some(unchanged) = &mut self.unchanged {
            Arc::make_mut(unchanged).groups = ReplayGroups::default();
        }
        self
    }

    /// Forgets how long the recorded machine took from wakeups to the woken tasks.
    #[must_use]
    pub fn without_paths(mut self) -> Replay {
        self.recording.paths = WakePaths::default();
        if let Some(unchanged) = &mut self.unchanged {
            Arc::make_mut(unchanged).paths = WakePaths::default();
        }
        self
    }

    /// Whether the user has changed something of what was recorded.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.unchanged.is_some() || self.affinities.iter().any(|known| self.is_change(known))
    }

    /// An affinity is knowledge that the trace lacks, if it can have been so; to be free of one is a change.
    fn is_change(&self, known: &KnownAffinity) -> bool {
        let mut meant = self.recording.tasks.iter().filter(|task| known.whom.is(task));
        known.cpus == CpuMask::ALL
            || meant.any(|task| task.placement.ran_on.and(&known.cpus) != task.placement.ran_on)
    }

    /// The replay of what was recorded, without the user's changes.
    #[must_use]
    pub fn as_recorded(mut self) -> Replay {
        if let Some(unchanged) = self.unchanged.take() {
            self.recording = Arc::unwrap_or_clone(unchanged);
        }
        self.changes.clear();
        let changes = std::mem::take(&mut self.affinities);
        self.affinities = changes.into_iter().filter(|known| !self.is_change(known)).collect();
        self
    }

    /// Whether another one plays the same, whatever it is compared with.
    #[must_use]
    pub fn plays_as(&self, other: &Replay) -> bool {
        self.recording == other.recording
            && self.affinities == other.affinities
            && self.overhead == other.overhead
    }

    /// Whether it has such a task.
    #[must_use]
    pub fn has_task(&self, whom: &TaskSelector) -> bool {
        self.recording.tasks.iter().any(|task| whom.is(task))
    }

    /// What was read from the trace.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Whether the recording says in which task groups its tasks were, or that they were in none.
    pub fn tells_groups(&self) -> bool {
        self.tells_groups
    }

    /// Whether the recording is of so many CPUs, and not of all that its machine has.
    pub fn is_of_part(&self, cpus: usize) -> bool {
        self.seen_cpus.is_some_and(|seen| seen as usize == cpus)
    }

    /// Number of CPUs of the recorded machine.
    pub fn cpus(&self) -> u32 {
        self.recording.cpus
    }

    /// System name, release and machine of the recording kernel, as in `uname`, where the file says so.
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// What must be known of the recording, tasks under SCHED_DEADLINE left out, which show in their
    /// policies.
    pub fn caveats(&self) -> &Caveats {
        &self.caveats
    }

    /// Compares a run with the recording, if there is one. `log` is the run's.
    pub fn fidelity(&self, replayed: &Replayed, log: &[LogRecord], cpus: usize) -> Option<ReplayFidelity> {
        let recorded = self.accounted.as_ref()?;
        let end = replayed.lead_in.saturating_add(self.recording.span);
        // Tasks keep the names that they had before.
        let is_told = |record: &&LogRecord| {
            record.time.0 >= replayed.lead_in.0 || matches!(record.event, LogEvent::Comm { .. })
        };
        let records = log.iter().take_while(|record| record.time.0 <= end.0).filter(is_told);
        let simulated = {
            // The trace of the run is large: it goes before the two are compared.
            let trace = run_trace(records, cpus);
            // Both by the clock of the run, as the trace is.
            let Window { from, to } = self.window.after(replayed.lead_in);
            let stretch = Stretch { from_ns: from.0, to_ns: to.min(end).max(from).0 };
            Accounted::counting(&trace, recorded.summary.wakeups_from, stretch)
        };
        let found = fidelity::compare(recorded, &simulated, &replayed.tasks);
        Some(ReplayFidelity { cpu_time_uncertain_ns: self.cpu_time_uncertain_ns, ..found })
    }
}

/// A stretch that counts from the first event, by the trace's clock.
fn stretch(trace: &Trace, window: Window) -> Stretch {
    let Window { from, to } = window.after(Nanos(trace.start_ns()));
    Stretch { from_ns: from.0, to_ns: to.0.min(trace.end_ns()).max(from.0) }
}
