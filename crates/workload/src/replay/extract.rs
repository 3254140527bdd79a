//! From a trace to the programs of its tasks.

use super::affinity;
use super::causes::{Answer, Cause, NamedDevice};
use super::counts::Counts;
use super::devices::{self, Requests, Served};
use super::groups::ReplayGroups;
use super::mutexes::{self, Mutexes};
use super::programs;
use super::recording::{
    Begin, Brought, FairPolicy, Interrupt, RecordedTask, Recording, ReplayStep, TaskIndex, Waking,
};
use super::roles;
use super::throttling::Throttling;
use super::ticks::{self, TickPhases};
use super::timers;
use super::track::{By, Draft, Ending, Sleep, Timer, Track};
use super::walk::Walk;
use super::work;
use crate::units;
use machine::{ForkKind, Objects};
use scheduler::{CpuMask, Nanos};
use schema::RecordedLocks;
use std::collections::BTreeMap;
use trace::{IdleKind, TaskFacts, TaskPolicy, Trace};

/// Programs that hold `/dev/cpu_dma_latency` at 0 unless told otherwise, by the names of their tasks.
const LATENCY_HOLDERS: [&str; 1] = ["cyclictest"];

impl Recording {
    /// Extracts the programs of all tasks. Whatever the trace contains, this gives a recording; what could
    /// not be understood is in its counts. Traces with holes give better programs after
    /// [`trace::infer_missing_switches`].
    ///
    /// The CPU time of each task is what `sched_stat_runtime` says. For stays of which the trace has none it
    /// is the one of
    /// [`trace::summarise`], its time at the edges of the trace included. Where the trace does not show the
    /// beginning or the end of a stay on a CPU, the proven part counts here and not there.
    pub fn extract(trace: &Trace) -> Recording {
        Recording::extract_with(trace, RecordedLocks::default())
    }

    /// The same, with waits for locks as the user wants them.
    pub fn extract_with(trace: &Trace, locks: RecordedLocks) -> Recording {
        if let Some(told) = programs::told(trace) {
            return told;
        }
        let walk = Walk::all(trace);
        let (counted_from, ways) = (walk.counted_from, walk.ways);
        let Walk { mut tasks, mut counts, mut by_ticks, mut soft_wakeups, ticks, mutexes, kernel, .. } = walk;
        if !trace.events.iter().any(|event| event.kind.is_wakeup()) {
            // Nobody knows who left his CPU to a woken task.
            by_ticks.clear();
        }
        let hz = ticks::told(trace).or_else(|| ticks::find(&by_ticks)).or_else(|| ticks::find(&ticks));
        soft_wakeups.extend(by_ticks);
        let ticks = hz.map(|hz| TickPhases::find(hz, trace.cpus as usize, &ticks, &soft_wakeups));
        // Who works for others sets no timers.
        for track in tasks.iter_mut().filter(|track| !is_worker(trace, track)) {
            timers::find(&mut track.sleeps);
        }
        settle(&mut tasks);
        let paths = ways.paths(counted_from, &tasks);
        let workers: Vec<bool> = tasks.iter().map(|track| is_worker(trace, track)).collect();
        let finish = Finish {
            trace,
            start_ns: trace.start_ns(),
            requests: Requests::of(&tasks, &workers, &kernel, &trace.strings),
            ticks: ticks.unwrap_or_default(),
            work: work::brought_by_steps(&tasks, &workers),
            workers,
            locks,
            mutexes: Mutexes::find(&tasks, &mutexes, locks),
        };
        let mut recorded: Vec<RecordedTask> = (0u32..)
            .map(TaskIndex)
            .zip(&tasks)
            .map(|(n, track)| finish.task(n, track, &mut counts))
            .collect();
        affinity::infer(&mut recorded, &tasks, trace.cpus);
        affinity::hand_down(&mut recorded);
        let span = Nanos(trace.end_ns() - trace.start_ns());
        let holds = |task: &RecordedTask| LATENCY_HOLDERS.contains(&&*task.comm);
        let holder = recorded.iter().any(holds);
        counts.latency_holders = u64::from(holder && trace.idle.is_none());
        let idle_polls = trace.idle.map_or(holder, |idle| idle == IdleKind::Polls);
        let Mutexes { handed_over, uncontended, left, spins: rtmutex_spins, .. } = finish.mutexes;
        (counts.handed_over, counts.uncontended, counts.not_inferred) = (handed_over, uncontended, left);
        let objects = Objects {
            devices: finish.requests.devices(),
            mutexes: finish.mutexes.specs(),
            ..Objects::default()
        };
        let told_command = trace.host.command.as_ref().map(|command| command.pid);
        let messages = Vec::new();
        let ticks_at = finish.ticks.since(trace.start_ns());
        Recording {
            groups: ReplayGroups::default(),
            cpus: trace.cpus,
            span,
            hz,
            ticks_at,
            command: told_command.or_else(|| roles::perfs_child(&tasks, &trace.strings)),
            idle_polls,
            rtmutex_spins,
            throttling: Throttling::in_trace(trace),
            paths,
            tasks: recorded,
            objects,
            messages,
            counts,
        }
    }
}

/// Where a timer explains a sleep: its interrupt is what was on top of the task that ran then, also if the
/// trace let it seem to be that task's own step.
fn settle(tasks: &mut [Track]) {
    let explained = |sleep: &Sleep| match (sleep.timer, sleep.end?.by) {
        (Some(_), By::Task { place, .. }) => Some(place),
        (Some(_), By::Interrupt { below }) => below,
        _ => None,
    };
    let all: Vec<_> = tasks.iter().flat_map(|track| track.sleeps.iter().filter_map(explained)).collect();
    for place in all {
        tasks[place.task.index()].steps[place.step] = Draft::Interrupted { by_timer: true };
    }
}

fn is_worker(trace: &Trace, track: &Track) -> bool {
    track.last_comm.is_some_and(|comm| work::is_worker(&trace.strings[comm]))
}

struct Finish<'a> {
    trace: &'a Trace,
    start_ns: u64,
    requests: Requests,
    ticks: TickPhases,
    /// Which tasks are workers.
    workers: Vec<bool>,
    /// Which of their pieces of work a step brings, by its task and number.
    work: BTreeMap<(TaskIndex, usize), u32>,
    locks: RecordedLocks,
    mutexes: Mutexes,
}

impl Finish<'_> {
    fn task(&self, index: TaskIndex, track: &Track, counts: &mut Counts) -> RecordedTask {
        let steps = self.steps(index, track, counts);
        let prio = track.first_prio.unwrap_or(120);
        let mut task = RecordedTask {
            pid: track.pid,
            incarnation: track.incarnation,
            comm: self.comm(track).into(),
            begin: track.begin.unwrap_or(Begin::Never),
            prio,
            round_robin: track.round_robin,
            fair: FairPolicy::Normal,
            deadline: None,
            steps,
            cpu_time: Nanos(track.cpu_time_ns),
            exited: track.exited_ns.map(|ns| self.time(ns)),
            arrivals: track.arrivals,
            placement: super::recording::Placement {
                ran_on: track.whereabouts.ran_on,
                passed_idle_cpus: match track.whereabouts.has_settled() {
                    true => Nanos(track.whereabouts.passed_idle_ns),
                    false => Nanos::ZERO,
                },
                allowed: self.allowed(track),
                pinned: None,
            },
            told: None,
        };
        task.round_robin |= self.facts(track).is_some_and(|facts| facts.policy == TaskPolicy::Rr);
        task.fair = match self.facts(track).filter(|_| (100..140).contains(&prio)).map(|facts| facts.policy) {
            Some(TaskPolicy::Batch) => FairPolicy::Batch,
            Some(TaskPolicy::Idle) => FairPolicy::Idle,
            _ => FairPolicy::Normal,
        };
        task.merge_runs();
        // Many drafts come to nothing.
        task.steps.shrink_to_fit();
        task
    }

    fn steps(&self, index: TaskIndex, track: &Track, counts: &mut Counts) -> Vec<ReplayStep> {
        let mut steps = Vec::with_capacity(track.steps.len());
        for (n, draft) in track.steps.iter().enumerate() {
            if track.whereabouts.since_step == Some(n) {
                steps.push(ReplayStep::Pin);
            }
            let edit = self.mutexes.edit(index, n);
            if let (Draft::Sleep(number), None) = (draft, edit) {
                steps.extend(self.requests.before(index, *number));
            }
            let step = self.step(index, n, track, *draft, counts);
            match edit {
                Some(edit) => edit.apply(*draft, step, &mut steps),
                None => steps.extend(step),
            }
            steps.extend(self.requests.at(index, n));
        }
        if self.mutexes.is_any() {
            mutexes::one_at_a_time(&mut steps);
        }
        steps
    }

    /// The name at the start; a task that never calls exec has the name that it took later on, as programs
    /// name their threads.
    fn comm(&self, track: &Track) -> &str {
        let execs = track.steps.iter().any(|step| matches!(step, Draft::Exec(_)));
        let listed = self.trace.threads.get(&track.pid).map(|thread| thread.comm);
        let comm = if execs { track.first_comm } else { track.last_comm };
        comm.or(listed).map_or("<...>", |comm| &self.trace.strings[comm])
    }

    /// What the recorder wrote down about the task: about the first one with this id.
    fn facts(&self, track: &Track) -> Option<&TaskFacts> {
        self.trace.facts.get(&track.pid).filter(|_| track.incarnation == 0)
    }

    /// The CPUs that the recorder saw allowed. A task that may use all CPUs may use all of a larger machine,
    /// too.
    fn allowed(&self, track: &Track) -> Option<CpuMask> {
        let cpus = units::cpu_list(&self.facts(track)?.cpus).ok()?;
        let all = cpus.weight() >= self.trace.cpus && cpus == CpuMask::first_n(cpus.weight() as usize);
        Some(if all { CpuMask::ALL } else { cpus })
    }

    /// The step that the draft with this number becomes.
    fn step(
        &self,
        index: TaskIndex,
        number: usize,
        track: &Track,
        draft: Draft,
        counts: &mut Counts,
    ) -> Option<ReplayStep> {
        let text = |id| Box::from(&self.trace.strings[id]);
        Some(match draft {
            Draft::Run(ns) => ReplayStep::Run(Nanos(ns)),
            Draft::Wake { task, interrupts, same_call } => {
                let work = self.work.get(&(index, number)).copied();
                ReplayStep::Wake { task, interrupts, work, same_call }
            }
            Draft::Fork(child) => {
                counts.forks += 1;
                ReplayStep::Fork { child, kind: ForkKind::Thread }
            }
            Draft::Sleep(number) => {
                let sleep = &track.sleeps[number];
                let waking = self.waking(sleep, counts)?;
                let works = self.workers[index.index()];
                let number = number as u32;
                ReplayStep::Sleep(if works { worked(sleep, number, waking, counts) } else { waking })
            }
            // What takes turns by slices has little use for yields: its slice ended soon after a preemption.
            Draft::Yield if track.round_robin => return None,
            Draft::Yield => {
                counts.yields += 1;
                ReplayStep::Yield
            }
            Draft::Bind(cpu) => {
                counts.bound += 1;
                ReplayStep::Bind(cpu)
            }
            Draft::Unbind => ReplayStep::Unbind,
            Draft::Lend { .. } | Draft::GiveBack(_) if self.locks == RecordedLocks::Inferred => return None,
            Draft::Lend { to, prio, round } => ReplayStep::Lend { to, prio, round },
            Draft::GiveBack(prio) => ReplayStep::GiveBack(prio),
            Draft::SetPrio(prio) => ReplayStep::SetPrio(prio),
            Draft::Exec(filename) => ReplayStep::Exec(comm_of(&self.trace.strings[filename])),
            Draft::Marker(id) => ReplayStep::Marker(text(id)),
            Draft::Interrupted { by_timer } => ReplayStep::Interrupted { by_timer },
            Draft::Exit => ReplayStep::Exit,
            Draft::Sends | Draft::Nothing => return None,
        })
    }

    /// What ends a sleep; `None` if it is none of the task's own.
    fn waking(&self, sleep: &Sleep, counts: &mut Counts) -> Option<Waking> {
        let Some(end) = sleep.end else { return Some(Waking::Never) };
        if let By::Task { certain: false, .. } = end.by {
            counts.context_guessed += 1;
        }
        if let Some(served) = devices::served(sleep) {
            *match served {
                Served::Answered(Answer { device: NamedDevice::Network(_), .. }) => &mut counts.by_response,
                Served::Answered(_) => &mut counts.by_named_device,
                Served::Itself => &mut counts.by_device,
                Served::OnBehalf => &mut counts.by_device_for_another,
            } += 1;
            return Some(Waking::Served { at: self.time(end.at_ns), cpu: end.cpu });
        }
        if let (None, Some(tick_ns)) = (sleep.timer, self.tick_of(&end)) {
            counts.by_tick += 1;
            return Some(Waking::Tick { at: self.time(tick_ns), cpu: end.cpu });
        }
        let slept = sleep.slept_ns.map(|slept_ns| Nanos(end.at_ns.saturating_sub(slept_ns)));
        let count = match (sleep.timer, end.by, end.cause) {
            (Some(Timer::At(_)), ..) => &mut counts.by_periodic_timer,
            (Some(Timer::After(_)), ..) => &mut counts.by_relative_timer,
            (None, By::Task { .. }, Cause::Sender) => &mut counts.by_loopback,
            (None, By::Task { .. }, _) => &mut counts.by_task,
            (None, By::Stopper, _) => &mut counts.by_stopper,
            (None, _, cause) if cause.is_own_timer() && slept.is_some() => &mut counts.by_shown_timer,
            (None, _, Cause::Network) => &mut counts.by_network,
            (None, _, Cause::Device) => &mut counts.by_other_device,
            (None, By::Interrupt { .. }, _) => &mut counts.by_interrupt,
            (None, By::Softirq { .. }, _) => &mut counts.by_softirq,
            (None, By::Unseen, _) => &mut counts.unseen,
        };
        *count += 1;
        match (sleep.timer, end.by, slept) {
            (Some(Timer::At(ns)), ..) => Some(Waking::At(self.time(ns))),
            (Some(Timer::After(ns)), ..) => Some(Waking::After(Nanos(ns))),
            (None, By::Task { .. }, _) => Some(Waking::Task),
            (None, By::Stopper, _) => None,
            (None, _, Some(slept)) if end.cause.is_own_timer() => Some(Waking::After(slept)),
            (None, By::Interrupt { .. } | By::Softirq { .. } | By::Unseen, slept) => {
                Some(Waking::Outside { at: self.time(end.at_ns), cpu: end.cpu, slept })
            }
        }
    }

    /// The tick in whose interrupt a sleep ended, if it did. Where the trace does not show the cause, a soft
    /// interrupt near a tick is taken for its.
    fn tick_of(&self, end: &Ending) -> Option<u64> {
        match (end.cause, end.by) {
            (Cause::Wheel { .. }, _) => self.ticks.before(end.made_on, end.at_ns),
            (Cause::Unknown, By::Softirq { cpu }) => self.ticks.tick_of(cpu, end.at_ns),
            _ => None,
        }
    }

    fn time(&self, ns: u64) -> Nanos {
        Nanos(ns.saturating_sub(self.start_ns))
    }
}

/// The same sleep of a worker, which takes whatever work comes.
fn worked(sleep: &Sleep, number: u32, waking: Waking, counts: &mut Counts) -> Waking {
    let by = match waking {
        Waking::Task => Brought::Task,
        Waking::Served { at, cpu } => Brought::Served(Interrupt { at, cpu }),
        Waking::Tick { at, cpu } => Brought::Tick(Interrupt { at, cpu }),
        Waking::Outside { at, cpu, .. } => Brought::Outside(Interrupt { at, cpu }),
        other => return other,
    };
    if !work::awaits_work(sleep) {
        return Waking::Rest { number, by };
    }
    counts.work += 1;
    Waking::Work { number, by }
}

/// The name that a task takes from the path of its program: the file's, 15 bytes at most.
fn comm_of(path: &str) -> Box<str> {
    const TASK_COMM_LEN: usize = 15;
    let name = path.rsplit('/').next().unwrap_or(path);
    name.char_indices()
        .take_while(|(at, c)| at + c.len_utf8() <= TASK_COMM_LEN)
        .map(|(_, c)| c)
        .collect::<String>()
        .into()
}
