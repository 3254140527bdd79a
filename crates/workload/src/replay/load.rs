//! The replay of a trace as a load.

use super::affinity::per_cpu_thread;
use super::deadline;
use super::devices;
use super::ending::Ending;
use super::fitting::{self, Fitted};
use super::objects::RunObjects;
use super::place::Place;
use super::player::{PlayedTask, Shared};
use super::reading::{KnownAffinity, Replay};
use super::recording::{
    Begin, Brought, Evidence, Interrupt, Message, Pinned, RecordedTask, ReplayStep, TaskIndex, Waking,
};
use super::roles::{RecordedCommand, Role, Roles};
use super::stayed;
use super::stuck::{self, Watch};
use super::work::Bench;
use crate::groups::{Members, group_at};
use crate::load::{BuiltLoad, Length, Load, LoadError, Remaining, Results, seconds};
use machine::{Arrival, ChannelSpec, Outside, PartitionKind, Setup, ToldStep};
use scheduler::{CpuId, CpuMask, GroupId, Nanos, Pid};
use schema::{LoadResult, ReplayResult, Seconds};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Between the starts of two tasks that only come to fall asleep.
const LEAD_IN_STEP: Nanos = Nanos::from_micros(40);

/// What its CPUs were about when a told run ended (an interrupt, a switch, an exit), they finished.
const LAST_WORK: Nanos = Nanos::from_micros(2);

/// What a run made of recorded tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// Virtual time at which the trace begins: before that, its sleepers fall asleep.
    pub lead_in: Nanos,
    /// The command that was recorded, if the trace shows it.
    pub command: Option<RecordedCommand>,
    /// Why the command was done when it was.
    pub ending: Ending,
    /// Not all of the recorded machine's CPUs were recorded.
    pub of_some_cpus: bool,
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
    /// [`Replayed::lead_in`] of its trace.
    pub lead_in: Nanos,
}

impl Replay {
    fn played_tasks(
        &self,
        setup: &mut Setup,
        fitted: &mut Fitted,
        place: &Place<'_>,
    ) -> Result<Vec<PlayedTask>, LoadError> {
        let mut played_tasks = Vec::with_capacity(self.recording.tasks.len());
        let left_out = fitted.leave_out(&self.recording.tasks);
        let known = self.known_affinities();
        let tasks = self.recording.tasks.iter().zip((0..).map(TaskIndex));
        for (((task, index), left_out), known) in tasks.zip(left_out).zip(known) {
            let mut played = PlayedTask::new(task, self.overhead.without(task));
            played.absent |= left_out;
            played.group = place.group_of(index, task, setup);
            // No partition keeps such a thread away from its CPU.
            played.kernel_thread |= setup.is_divided() && has_its_cpu(&task.comm);
            match (known, task.placement.allowed, task.placement.pinned) {
                _ if played.absent => {}
                (Some(known), _, _) => {
                    played.cpus =
                        Some(fitted.known(known).ok_or_else(|| no_cpu(known, setup.cpus()))?.into());
                    played.steps.retain(|step| !binds(step));
                }
                (None, Some(cpus), _) => played.cpus = Some(fitted.affinity(&cpus).into()),
                (None, None, Some(Pinned { cpu, .. })) => {
                    let cpus = Some(fitted.affinity(&mask(cpu)).into());
                    let later = played.steps.contains(&ReplayStep::Pin);
                    *(if later { &mut played.pinned_to } else { &mut played.cpus }) = cpus;
                }
                (None, None, None) => {}
            }
            if !played.absent {
                fitted.bind(&mut played.steps);
            }
            if !played.absent && played.steps.iter().any(is_message) {
                played.channel = Some(setup.channel(ENDLESS_CHANNEL));
            }
            played_tasks.push(played);
        }
        Ok(played_tasks)
    }

    /// What the user says, by task. Affinity goes from parent to child.
    fn known_affinities(&self) -> Vec<Option<&KnownAffinity>> {
        let tasks = &self.recording.tasks;
        let named = |task| self.affinities.iter().rev().find(|known| known.whom.is(task));
        let mut all: Vec<_> = tasks.iter().map(named).collect();
        let mut parents: Vec<usize> = (0..all.len()).filter(|n| all[*n].is_some()).collect();
        while let Some(parent) = parents.pop() {
            for child in tasks[parent].steps.iter().filter_map(ReplayStep::child).map(TaskIndex::index) {
                if all[child].is_none() {
                    all[child] = all[parent];
                    parents.push(child);
                }
            }
        }
        all
    }

    /// Creates the tasks that no other task creates, and the interrupts from outside.
    fn populate(&self, shared: &Rc<Shared>, setup: &mut Setup) {
        let mut sleepers = 0;
        for (n, (task, played)) in self.recording.tasks.iter().zip(&shared.played_tasks).enumerate() {
            let spec = |at, cpu: Option<u32>, setup: &mut Setup| {
                let cpu = cpu.map(|cpu| cpu_on(setup, cpu));
                setup.spawn_on(at, cpu, shared.task(TaskIndex(n as u32)));
            };
            if played.absent {
                continue;
            }
            match task.begin {
                Begin::Never | Begin::Forked => {}
                Begin::Asleep => {
                    let cpu = task.placement.ran_on.first().map(|cpu| u32::from(cpu.0));
                    spec(LEAD_IN_STEP * sleepers, cpu, setup);
                    sleepers += 1;
                }
                Begin::Runnable { cpu } => spec(shared.lead_in, Some(cpu), setup),
                Begin::Appears { at, cpu } => spec(shared.lead_in.saturating_add(at), cpu, setup),
            }
            let Some(channel) = played.channel else { continue };
            for step in &played.steps {
                if let Some(FromOutside { at, by, cpu }) = FromOutside::of(step) {
                    let at = shared.lead_in.saturating_add(at);
                    let cpu = cpu.map(|cpu| cpu_on(setup, cpu));
                    setup.outside(Outside { at, by, cpu, channel, every: None });
                }
            }
        }
        for Message { at, by, cpu, channel } in &self.recording.messages {
            let at = shared.lead_in.saturating_add(*at);
            let (cpu, channel) = (Some(cpu_on(setup, *cpu)), shared.objects.channel(*channel));
            setup.outside(Outside { at, by: *by, cpu, channel, every: None });
        }
    }
}

/// Tokens are never lost and never block their sender.
const ENDLESS_CHANNEL: ChannelSpec = ChannelSpec::new(u32::MAX);

/// Whether it is a kernel thread of one CPU, by its name in a recording or in a run of ours.
fn has_its_cpu(comm: &str) -> bool {
    let ours = || comm.strip_prefix("kworker/").is_some_and(|number| number.parse::<u32>().is_ok());
    per_cpu_thread(comm).is_some() || ours()
}

/// Whether a task changes its own affinity.
fn binds(step: &ReplayStep) -> bool {
    matches!(step, ReplayStep::Bind(_) | ReplayStep::Unbind | ReplayStep::Told(ToldStep::SetAffinity { .. }))
}

fn is_message(step: &ReplayStep) -> bool {
    use Waking::{Outside, Rest, Served, Task, Tick, Work};
    matches!(
        step,
        ReplayStep::Sleep(Task | Outside { .. } | Tick { .. } | Served { .. } | Work { .. } | Rest { .. })
    )
}

/// An interrupt that ends a sleep at its recorded time.
pub(super) struct FromOutside {
    pub at: Nanos,
    by: Arrival,
    cpu: Option<u32>,
}

impl FromOutside {
    /// The one that ends this step, if one does.
    pub fn of(step: &ReplayStep) -> Option<FromOutside> {
        let ReplayStep::Sleep(waking) = step else { return None };
        let (interrupt, by) = match *waking {
            Waking::Outside { at, cpu, .. } => (Interrupt { at, cpu }, Arrival::Own),
            Waking::Work { by: Brought::Outside(interrupt), .. }
            | Waking::Rest { by: Brought::Outside(interrupt), .. } => (interrupt, Arrival::Own),
            Waking::Tick { at, cpu } => (Interrupt { at, cpu }, Arrival::Tick),
            Waking::Work { by: Brought::Tick(interrupt), .. }
            | Waking::Rest { by: Brought::Tick(interrupt), .. } => (interrupt, Arrival::Tick),
            _ => return None,
        };
        Some(FromOutside { at: interrupt.at, by, cpu: interrupt.cpu })
    }
}

/// The affinity to one recorded CPU; empty above the largest number that a simulated machine can have.
fn mask(cpu: u32) -> CpuMask {
    let known = u16::try_from(cpu).ok().filter(|cpu| usize::from(*cpu) < CpuId::LIMIT);
    known.map_or(CpuMask::EMPTY, |cpu| CpuMask::single(CpuId(cpu)))
}

/// The CPU that stands for a recorded one: itself, or if the machine has fewer, one of those it has.
fn cpu_on(setup: &Setup, cpu: u32) -> CpuId {
    CpuId((cpu as usize % setup.cpus().max(1)) as u16)
}

/// Of the CPUs that the user names, the machine has none.
fn no_cpu(known: &KnownAffinity, cpus: usize) -> LoadError {
    let message = format!("affinity {known}: {}; name some of them", fitting::there_are(cpus));
    LoadError::Usage { load: "replay".into(), message }
}

impl Load for Replay {
    fn length(&self) -> Length {
        Length::Time(self.lead_in().saturating_add(self.recording.span))
    }

    fn warnings(&self) -> Vec<String> {
        deadline::warning(&self.recording).into_iter().chain(self.caveats.warnings.iter().cloned()).collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.changes.clone();
        notes.extend(self.caveats.notes.iter().cloned());
        notes.extend(self.recording.counts.sentences());
        if !self.recording.is_told() {
            notes.extend(self.recording.objects.devices.iter().map(devices::note));
        }
        notes.extend(self.pinned());
        notes.extend(self.nobodys_recording());
        notes.extend(stayed::note(&self.recording, &self.known_affinities()));
        notes
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        self.build_in(setup, &Members::none(), None)
    }
}

impl Replay {
    /// As [`Load::build`], with its tasks in task groups: `members` are meant by any of their recorded names;
    /// `session` is the group of those that are in no other.
    ///
    /// # Errors
    /// As [`Load::build`].
    pub fn build_in(
        &self,
        setup: &mut Setup,
        members: &Members,
        session: Option<GroupId>,
    ) -> Result<BuiltLoad, LoadError> {
        if self.recording.idle_polls {
            setup.hold_cpu_dma_latency();
        }
        // A trace has the kernel threads of the machine on which it was recorded.
        setup.bring_kernel_threads(self.recording.cpus as usize);
        let mut fitted = Fitted::new(self.recording.cpus as usize, setup.cpus());
        let place = Place { recorded: &self.recording.groups, members, session };
        // A partition divides the machine, whoever is in it.
        for group in &self.recording.groups.described {
            if group.settings().partition() != PartitionKind::Member {
                group_at(setup, group.path(), &self.recording.groups.described);
            }
        }
        let played_tasks = self.played_tasks(setup, &mut fitted, &place)?;
        // CPUs that the recorded machine did not have tick with its last one.
        let ticks_at = &self.recording.ticks_at;
        for cpu in 0..setup.cpus() {
            if let Some(at) = ticks_at.get(cpu).or(ticks_at.last()) {
                setup.tick_at(CpuId(cpu as u16), self.lead_in().saturating_add(*at));
            }
        }
        let reports =
            played_tasks.iter().filter(|played| !played.absent && played.reports_its_end()).count() as u32;
        let remaining = Remaining::new(reports);
        let lead_in = self.lead_in();
        let shared = Rc::new(Shared {
            watch: RefCell::new(Watch::of(&self.recording, &played_tasks)),
            pids: RefCell::new(vec![None; played_tasks.len()]),
            borrowers: RefCell::new(vec![None; played_tasks.len()]),
            benches: RefCell::new(benches(&played_tasks, lead_in)),
            played_tasks,
            cpus: CpuMask::first_n(setup.cpus()),
            objects: RunObjects::make(&self.recording.objects, setup),
            lead_in,
            bursts: Cell::default(),
            last_burst: Cell::default(),
            remaining: remaining.clone(),
        });
        self.populate(&shared, setup);
        let Roles { of_tasks, command } = Roles::of(&self.recording);
        let exit = |id| self.accounted.as_ref().and_then(|accounted| accounted.exit(id));
        let replayed = |(task, role): (&RecordedTask, Role)| ReplayedTask {
            lead_in,
            recorded: task.pid,
            incarnation: task.incarnation,
            comm: task.last_comm().into(),
            role,
            exits: task.exits(),
            recorded_exit: exit((task.pid, task.incarnation)),
            pid: None,
        };
        let tasks = self.recording.tasks.iter().zip(of_tasks).map(replayed).collect();
        let mut lasts_until = Nanos::ZERO;
        if self.recording.is_told() {
            lasts_until = self.recording.span.saturating_add(LAST_WORK);
            setup.look_at(lasts_until);
        }
        let (ending, recorded, notes) = (self.ending, self.recording.span, fitted.notes());
        let of_some_cpus = self.seen_cpus.is_some();
        let run = ReplayRun { shared, tasks, command, ending, of_some_cpus, recorded, notes };
        Ok(BuiltLoad::new(remaining, run).lasting_until(lasts_until))
    }
}

impl Replay {
    /// A file that was made of a recording is beside none.
    fn nobodys_recording(&self) -> Option<String> {
        let was_recorded = self.kernel.is_some() && !self.recording.is_told();
        (was_recorded && self.accounted.is_none()).then(|| {
            "how close it comes to the recording of which this file was made does not show here: `schedlab run` of \
             that recording says it"
                .to_owned()
        })
    }

    /// How many affinities were inferred, and on how much evidence.
    fn pinned(&self) -> Option<String> {
        let evidence =
            || self.recording.tasks.iter().filter_map(|task| Some(task.placement.pinned?.evidence));
        let waits: Vec<Nanos> = evidence()
            .filter_map(|evidence| if let Evidence::Waited(time) = evidence { Some(time) } else { None })
            .collect();
        let count = |what| evidence().filter(|evidence| *evidence == what).count();
        let names = count(Evidence::Name);
        let stayed = evidence().filter(|evidence| matches!(evidence, Evidence::Stayed(_))).count();
        let woken = evidence().filter(|evidence| matches!(evidence, Evidence::Woken(_))).count();
        let is_behind =
            |evidence: &Evidence| matches!(evidence, Evidence::Behind(_) | Evidence::BehindAll(_));
        let behind = evidence().filter(is_behind).count();
        let (children, parents) = (count(Evidence::Parent), count(Evidence::Children));
        let waited = waits.iter().min().zip(waits.iter().max()).map(|(least, most)| {
            format!(
                "{} because of waiting there beside an idle CPU ({:.3} to {:.3} s in all)",
                waits.len(),
                least.0 as f64 / 1e9,
                most.0 as f64 / 1e9
            )
        });
        let kinds = [
            (names > 0).then(|| format!("{names} by the name of a kernel thread")),
            waited,
            (stayed > 0)
                .then(|| format!("{stayed} for being woken beside those although another CPU was idle")),
            (woken > 0)
                .then(|| format!("{woken} for being woken on top of others although another CPU was idle")),
            (behind > 0).then(|| {
                format!("{behind} for waiting behind another one although a CPU ran something less important")
            }),
            (children > 0).then(|| format!("{children} because of the parent")),
            (parents > 0).then(|| format!("{parents} because of the children")),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let total = waits.len() + names + stayed + woken + behind + children + parents;
        (total > 0).then(|| {
            let tasks = if total == 1 { "task is" } else { "tasks are" };
            format!(
                "{total} {tasks} taken to be pinned to one CPU: {}; a trace does not show affinities",
                kinds.join(", ")
            )
        })
    }

    /// Long enough for every task that sleeps when the trace begins to fall asleep.
    fn lead_in(&self) -> Nanos {
        if self.recording.is_told() {
            return Nanos::ZERO;
        }
        let sleepers = self.recording.tasks.iter().filter(|task| task.begin == Begin::Asleep).count() as u64;
        LEAD_IN_STEP * (sleepers + 25)
    }
}

/// The work of those that are workers.
fn benches(played_tasks: &[PlayedTask], lead_in: Nanos) -> BTreeMap<TaskIndex, Bench> {
    let bench = |played: &PlayedTask| Bench::of(&played.steps, lead_in);
    (0u32..).map(TaskIndex).zip(played_tasks).filter_map(|(n, played)| Some((n, bench(played)?))).collect()
}

#[derive(Debug)]
struct ReplayRun {
    shared: Rc<Shared>,
    /// All tasks of the recording, without what the run made of them.
    tasks: Vec<ReplayedTask>,
    command: Option<RecordedCommand>,
    ending: Ending,
    of_some_cpus: bool,
    recorded: Nanos,
    notes: Vec<String>,
}

impl ReplayRun {
    /// The recorded tasks that are replayed, each with its pid in the run.
    fn present(&self) -> impl Iterator<Item = ReplayedTask> + '_ {
        let played_tasks = self.shared.played_tasks.iter().zip(&self.tasks).zip(0..);
        played_tasks.filter(|((played, _), _)| !played.absent).map(|((_, task), n): (_, usize)| {
            ReplayedTask { pid: self.shared.pids.borrow()[n], ..task.clone() }
        })
    }

    fn deadlock(&self) -> Option<String> {
        stuck::told(&self.shared, &self.tasks)
    }
}

impl Results for ReplayRun {
    fn result(&self, load: String) -> LoadResult {
        let shared = &self.shared;
        let runs = |played: &PlayedTask| {
            let is_run = |step: &&ReplayStep| matches!(step, ReplayStep::Run(_) | ReplayStep::RunUntil(_));
            played.steps.iter().filter(is_run).count() as u64
        };
        let bursts = shared.played_tasks.iter().filter(|played| !played.absent).map(runs).sum();
        let completed = shared.bursts.get();
        let finished = completed == bursts && self.deadlock().is_none();
        LoadResult::Replay(ReplayResult {
            load,
            tasks: u32::try_from(self.present().count()).unwrap_or(u32::MAX),
            bursts,
            bursts_completed: completed,
            recorded_s: Seconds::from_ns(self.recorded.0),
            seconds: seconds(finished.then(|| shared.last_burst.get().saturating_sub(shared.lead_in))),
            // When the tasks of the run exited, the machine tells.
            finish: None,
        })
    }

    /// That it could not go on, and what had to be changed because the machine has another number of CPUs
    /// than the recorded one.
    fn notes(&self, _load: &str) -> Vec<String> {
        self.deadlock().into_iter().chain(self.notes.iter().cloned()).collect()
    }

    fn replayed(&self) -> Option<Replayed> {
        Some(Replayed {
            lead_in: self.shared.lead_in,
            command: self.command.clone(),
            ending: self.ending,
            of_some_cpus: self.of_some_cpus,
            tasks: self.present().collect(),
        })
    }
}
