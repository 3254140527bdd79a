//! Plays one recorded task on the machine.

use super::objects::RunObjects;
use super::recording::{
    Begin, FIRST_FAIR_PRIO, FairPolicy, RecordedTask, ReplayStep, TaskIndex, ToldTask, Waking,
};
use super::stuck::Watch;
use super::work::Bench;
use crate::load::Remaining;
use crate::program::Observer;
use machine::{Behaviour, ChannelId, Env, Step, TaskSpec};
use scheduler::{CpuId, CpuMask, DlParams, GroupId, Nanos, Nice, Pid, Policy, RtPriority, TaskId};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A program that is over sleeps until then: long after any run, so that nothing of it is left to happen.
const LONG_AFTER: Nanos = Nanos::from_secs(366 * 24 * 3600);

/// A task of the recording as it is played on a certain machine.
#[derive(Clone, Debug)]
pub(super) struct PlayedTask {
    pub comm: Box<str>,
    pub prio: i32,
    pub round_robin: bool,
    pub fair: FairPolicy,
    /// Its affinity at the start; `None`: any CPU. Boxed, as the next: few tasks have one, and it is large.
    pub cpus: Option<Box<CpuMask>>,
    /// The affinity that it takes at its step [`ReplayStep::Pin`].
    pub pinned_to: Option<Box<CpuMask>>,
    /// Its parameters while it is a deadline task.
    pub deadline: Option<DlParams>,
    pub steps: Vec<ReplayStep>,
    pub told: Option<ToldTask>,
    /// The task group in which it begins; `None`: that of who forks it.
    pub group: Option<GroupId>,
    /// It is a thread of the kernel.
    pub kernel_thread: bool,
    /// Where its wakeups arrive, if it has any that are not timers.
    pub channel: Option<ChannelId>,
    /// Whether its wakeups and forks by others are to be left out.
    pub absent: bool,
}

impl PlayedTask {
    /// How the task is to be played; `steps` are its own, shortened.
    pub fn new(task: &RecordedTask, steps: Vec<ReplayStep>) -> PlayedTask {
        PlayedTask {
            comm: task.comm.clone(),
            prio: task.prio,
            round_robin: task.round_robin,
            fair: task.fair,
            deadline: task.deadline,
            cpus: None,
            pinned_to: None,
            steps,
            told: task.told,
            group: None,
            kernel_thread: task.told.is_some_and(|told| told.kernel_thread),
            channel: None,
            absent: task.is_stopper() || task.begin == Begin::Never,
        }
    }

    /// Whether the replay waits for the end of its program. A told program that does not exit was cut off by
    /// the end of the run, which is no end of its own.
    pub fn reports_its_end(&self) -> bool {
        self.told.is_none() || self.steps.last() == Some(&ReplayStep::Exit)
    }

    fn policy(&self, prio: i32) -> Policy {
        // Kernel priorities: -1 deadline, 0 to 98 real-time, 100 to 139 fair.
        let rt_priority = u8::try_from(99 - prio.max(0)).ok().and_then(RtPriority::new);
        if let Some(params) = self.deadline.filter(|_| prio < 0) {
            return Policy::Deadline(params);
        }
        match (rt_priority, self.fair) {
            (Some(priority), _) if self.round_robin => Policy::Rr(priority),
            (Some(priority), _) => Policy::Fifo(priority),
            (None, FairPolicy::Normal) => Policy::Normal,
            (None, FairPolicy::Batch) => Policy::Batch,
            (None, FairPolicy::Idle) => Policy::Idle,
        }
    }
}

fn nice(prio: i32) -> Nice {
    let nice = (prio - 120).clamp(-20, 19) as i8;
    if prio < FIRST_FAIR_PRIO { Nice::default() } else { Nice::new(nice).unwrap_or_default() }
}

/// A task to which others may lend a priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrower {
    task: TaskId,
    /// How often it has given one back.
    given_back: u32,
}

/// What the players of one replay share.
#[derive(Debug)]
pub(super) struct Shared {
    pub played_tasks: Vec<PlayedTask>,
    /// Those of the machine.
    pub cpus: CpuMask,
    /// The work of those that are workers.
    pub benches: RefCell<BTreeMap<TaskIndex, Bench>>,
    /// Who waits; `None` for told programs, which need not be those of a whole run.
    pub watch: RefCell<Option<Watch>>,
    /// What told steps share.
    pub objects: RunObjects,
    /// When the trace begins, after all its sleepers have fallen asleep.
    pub lead_in: Nanos,
    /// Pids of the tasks that have begun, by index.
    pub pids: RefCell<Vec<Option<Pid>>>,
    /// Of each task that lives, by index, what it has to do with priorities that others lend to it.
    pub borrowers: RefCell<Vec<Option<Borrower>>>,
    /// Bursts that were run to their end.
    pub bursts: Cell<u64>,
    /// When the last one of these ended.
    pub last_burst: Cell<Nanos>,
    pub remaining: Remaining,
}

impl Shared {
    /// Whether this is a worker that has not done all its pieces of work.
    fn has_work(&self, worker: TaskIndex) -> bool {
        self.benches.borrow().get(&worker).is_some_and(|bench| !bench.is_done())
    }

    /// Something happens that decides who waits. A replay that cannot go on any more is over.
    fn watch(&self, happens: impl FnOnce(&mut Watch)) {
        if let Some(watch) = &mut *self.watch.borrow_mut() {
            happens(watch);
            if watch.stuck_since().is_some() {
                self.remaining.none();
            }
        }
    }

    /// The piece of work under way gets to a rest; whether that need not wait.
    fn goes_on(&self, worker: TaskIndex, rest: u32) -> bool {
        self.benches.borrow_mut().get_mut(&worker).is_some_and(|bench| bench.reach(rest))
    }

    /// A piece of work comes to a worker, or will.
    fn bring(&self, worker: TaskIndex, work: Option<u32>, at: Nanos) {
        if let (Some(number), Some(bench)) = (work, self.benches.borrow_mut().get_mut(&worker)) {
            bench.bring(number, at);
        }
    }

    /// The task to be created for a part.
    pub fn task(self: &Rc<Shared>, index: TaskIndex) -> TaskSpec {
        let played = &self.played_tasks[index.index()];
        let player = Player {
            shared: self.clone(),
            index,
            next: 0,
            in_burst: false,
            over: false,
            takes_work: false,
            nice_to_set: None,
        };
        let mut spec = TaskSpec::new(&*played.comm, player);
        spec.policy = played.policy(played.prio);
        spec.nice = nice(played.prio);
        spec.cpus = played.cpus.as_deref().copied();
        spec.group = played.group;
        spec.kernel_thread = played.kernel_thread;
        spec.recorded_work = played.told.is_none_or(|told| told.recorded_work);
        if let Some(told) = played.told {
            // A fair task's is in its priority, where people change it.
            if spec.policy.is_rt() {
                spec.nice = told.nice;
            }
            spec.working_set_bytes = told.working_set_bytes;
            spec.reads_bytes_per_us = told.reads_bytes_per_us;
            spec.timer_slack = told.timer_slack;
        }
        spec
    }
}

/// See the module's head.
#[derive(Debug)]
struct Player {
    shared: Rc<Shared>,
    index: TaskIndex,
    /// The next step.
    next: usize,
    in_burst: bool,
    over: bool,
    /// It is a worker, and a piece of work has come.
    takes_work: bool,
    /// Second half of a change of priority.
    nice_to_set: Option<Nice>,
}

impl Behaviour for Player {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        let shared = self.shared.clone();
        let played = &shared.played_tasks[self.index.index()];
        if self.next == 0 {
            shared.pids.borrow_mut()[self.index.index()] = Some(env.pid);
            shared.borrowers.borrow_mut()[self.index.index()] =
                Some(Borrower { task: env.task, given_back: 0 });
        }
        shared.watch(|watch| watch.goes_on(self.index));
        if std::mem::take(&mut self.in_burst) {
            shared.bursts.set(shared.bursts.get() + 1);
            shared.last_burst.set(env.now);
            *env.iterations += 1;
        }
        if std::mem::take(&mut self.takes_work) {
            let begins = shared.benches.borrow_mut().get_mut(&self.index).and_then(Bench::take);
            match (begins, played.channel) {
                (Some(begins), _) => self.next = begins,
                (None, Some(channel)) => return self.takes_work(channel, env.now),
                (None, None) => {}
            }
        }
        if let Some(nice) = self.nice_to_set.take() {
            return Step::SetNice { target: None, nice };
        }
        while let Some(step) = played.steps.get(self.next) {
            self.next += 1;
            if let Some(step) = self.step(&shared, played, step, env) {
                return step;
            }
        }
        // The last piece of the recording may come before others, and end with it.
        if let (true, Some(channel)) = (shared.has_work(self.index), played.channel) {
            return self.takes_work(channel, env.now);
        }
        self.end(env);
        Step::SleepUntil(LONG_AFTER)
    }
}

impl Player {
    /// The machine's step for a recorded one, if it has to do anything.
    fn step(
        &mut self,
        shared: &Rc<Shared>,
        played: &PlayedTask,
        step: &ReplayStep,
        env: &Env<'_>,
    ) -> Option<Step> {
        Some(match step {
            ReplayStep::Run(length) => {
                self.in_burst = true;
                Step::Compute(*length)
            }
            ReplayStep::RunUntil(at) => {
                self.in_burst = true;
                Step::SpinUntil(shared.lead_in.saturating_add(*at))
            }
            ReplayStep::Wake { .. } => {
                self.next -= 1;
                let all = self.wakes_of_one_call(shared, played, env.now);
                match all[..] {
                    [] => return None,
                    [one] => Step::Send(one),
                    _ => Step::TrySendAll(all.into()),
                }
            }
            ReplayStep::Fork { child, .. } if shared.played_tasks[child.index()].absent => return None,
            // Where the trace does not tell how, what a fork costs beyond a thread is in the recorded bursts
            // of the parent.
            ReplayStep::Fork { child, kind } => {
                shared.watch(|watch| watch.is_born(*child));
                Step::Fork { child: Box::new(shared.task(*child)), kind: *kind }
            }
            ReplayStep::Submit { task, device, service, work } => {
                shared.bring(*task, *work, env.now.saturating_add(*service));
                let (device, done) =
                    (shared.objects.device(*device), shared.played_tasks[task.index()].channel?);
                shared.watch(|watch| watch.will_wake(*task));
                Step::Submit { device, service: *service, done }
            }
            ReplayStep::Sleep(
                Waking::Task | Waking::Outside { .. } | Waking::Tick { .. } | Waking::Served { .. },
            ) => self.receive(played.channel?, env.now),
            ReplayStep::Sleep(Waking::Rest { number, .. }) if shared.goes_on(self.index, *number) => {
                return None;
            }
            // The last piece of the recording need not be the last one here.
            ReplayStep::Sleep(Waking::Work { .. } | Waking::Rest { .. } | Waking::Never)
            | ReplayStep::Exit
                if shared.has_work(self.index) =>
            {
                self.takes_work(played.channel?, env.now)
            }
            ReplayStep::Sleep(Waking::Work { .. } | Waking::Rest { .. } | Waking::Never) => {
                self.end(env);
                Step::SleepUntil(LONG_AFTER)
            }
            ReplayStep::Sleep(Waking::At(at)) => Step::SleepUntil(shared.lead_in.saturating_add(*at)),
            ReplayStep::Sleep(Waking::After(span)) => Step::SleepFor(*span),
            ReplayStep::Told(step) => return shared.objects.step(step).ok(),
            ReplayStep::Lock { mutex, .. } => {
                shared.watch(|watch| watch.locks(self.index, *mutex, self.next, env.now));
                Step::Lock(shared.objects.mutex(*mutex))
            }
            ReplayStep::Unlock { mutex, .. } => {
                shared.watch(|watch| watch.unlocks(*mutex));
                Step::Unlock(shared.objects.mutex(*mutex))
            }
            ReplayStep::Yield => Step::Yield,
            ReplayStep::Lend { to, prio, round } => {
                let borrower = shared.borrowers.borrow()[to.index()].filter(|b| b.given_back <= *round)?;
                let policy = shared.played_tasks[to.index()].policy(*prio);
                Step::SetPolicy { target: Some(borrower.task), policy }
            }
            ReplayStep::GiveBack(prio) => {
                if let Some(borrower) = &mut shared.borrowers.borrow_mut()[self.index.index()] {
                    borrower.given_back += 1;
                }
                let same_call =
                    matches!(played.steps.get(self.next), Some(ReplayStep::Wake { same_call: true, .. }));
                let wakes =
                    if same_call { self.wakes_of_one_call(shared, played, env.now) } else { Vec::new() };
                Step::GiveBack { policy: self.own_policy(played, *prio), wakes: wakes.into() }
            }
            ReplayStep::SetPrio(prio) => {
                Step::SetPolicy { target: None, policy: self.own_policy(played, *prio) }
            }
            ReplayStep::Pin => Step::SetAffinity { target: None, cpus: played.pinned_to.clone()? },
            ReplayStep::Bind(cpu) => {
                let cpus = CpuMask::single(CpuId(u16::try_from(*cpu).ok()?));
                Step::SetAffinity { target: None, cpus: Box::new(cpus) }
            }
            ReplayStep::Unbind => {
                let cpus = played.cpus.as_deref().copied().unwrap_or(shared.cpus);
                Step::SetAffinity { target: None, cpus: Box::new(cpus) }
            }
            ReplayStep::Exec(comm) => Step::Exec(comm.clone()),
            ReplayStep::Marker(text) => Step::Marker(if env.traced { text.clone() } else { Box::default() }),
            ReplayStep::Interrupted { .. } => return None,
            ReplayStep::Exit => {
                shared.borrowers.borrow_mut()[self.index.index()] = None;
                self.end(env);
                Step::Exit
            }
        })
    }

    /// Sleeps until somebody wakes it.
    fn receive(&self, channel: ChannelId, now: Nanos) -> Step {
        self.shared.watch(|watch| watch.waits(self.index, self.next, now));
        Step::Receive(channel)
    }

    /// Sleeps until work comes.
    fn takes_work(&mut self, channel: ChannelId, now: Nanos) -> Step {
        self.takes_work = true;
        self.receive(channel, now)
    }

    /// The policy that gives it this priority; the nice value of a fair one comes with the next step.
    fn own_policy(&mut self, played: &PlayedTask, prio: i32) -> Policy {
        let policy = played.policy(prio);
        self.nice_to_set = (!policy.is_rt()).then(|| nice(prio));
        policy
    }

    /// The wakes from the next step on that are one system call.
    fn wakes_of_one_call(&mut self, shared: &Shared, played: &PlayedTask, now: Nanos) -> Vec<ChannelId> {
        let mut channels = Vec::new();
        let first = self.next;
        while let Some(ReplayStep::Wake { task, work, same_call, .. }) = played.steps.get(self.next)
            && (*same_call || self.next == first)
        {
            self.next += 1;
            shared.bring(*task, *work, now);
            if let Some(channel) = shared.played_tasks[task.index()].channel {
                shared.watch(|watch| watch.will_wake(*task));
                channels.push(channel);
            }
        }
        channels
    }

    /// Its program is over; counted once.
    fn end(&mut self, env: &Env<'_>) {
        let reports = self.shared.played_tasks[self.index.index()].reports_its_end();
        if reports && !std::mem::replace(&mut self.over, true) {
            self.shared.remaining.observe(env, &[]);
            self.shared.watch(|watch| watch.ends(self.index, env.now));
        }
    }
}
