//! Wakeups and forks: who makes them, whether they have an effect, and the steps they are.

use super::Walk;
use crate::replay::causes::Cause;
use crate::replay::devices;
use crate::replay::paths::Woken;
use crate::replay::recording::{Begin, FIRST_FAIR_PRIO, TaskIndex};
use crate::replay::ticks::TickSample;
use crate::replay::track::{By, Draft, DraftStep, Ending, Pending, Prio, State};
use crate::replay::whereabouts::Wait;
use crate::replay::work;
use machine::CountedFrom;
use trace::{Context, Event, PrevState, SchedPiSetprio, SchedWakeup};

impl Walk<'_> {
    pub(super) fn waking(&mut self, event: &Event, wakeup: &SchedWakeup) {
        let task = self.sighted(&wakeup.task);
        let last_cpu = wakeup.target_cpu.0;
        let (by, cause) = self.waker(event, task);
        let pending = Pending { at_ns: event.time_ns, by, cause, cpu: event.cpu.0, last_cpu };
        let before = self.tasks[task.index()].pending.replace(pending);
        self.cancel(before);
        if self.tasks[task.index()].state == State::Running {
            self.wakes_runner(task, pending);
        }
    }

    /// A wakeup finds its task running.
    fn wakes_runner(&mut self, task: TaskIndex, pending: Pending) {
        let Pending { at_ns, by: By::Task { place: by, certain: true }, .. } = pending else { return };
        if !self.mutexes.is_any() {
            return;
        }
        if let Some(cpu) = self.cpu_of(task) {
            let place = self.draft(cpu, task, at_ns, Draft::Nothing);
            let outranks = self.prio(task) < self.prio(by.task);
            self.mutexes.wakes_runner(at_ns, by, place, outranks);
        }
    }

    /// A wakeup ends a sleep.
    fn wakes_sleeper(&mut self, task: TaskIndex, pending: Pending) {
        let By::Task { place: by, .. } = pending.by else { return };
        let sleeps = |step: &Draft| matches!(step, Draft::Sleep(_));
        if let Some(step) = self.tasks[task.index()].steps.iter().rposition(sleeps) {
            let outranks = self.prio(task) < self.prio(by.task);
            self.mutexes.wakes_sleeper(pending.at_ns, pending.by, DraftStep { task, step }, outranks);
        }
    }

    /// The running task lends a priority to the owner of a mutex, or gives back its own.
    pub(super) fn inheritance(&mut self, event: &Event, whom: TaskIndex, pi: &SchedPiSetprio) {
        let cpu = event.cpu.index();
        let running = self.cpus[cpu].running.map(|(task, _)| task);
        let Some(task) = running.filter(|task| self.tasks[task.index()].pid == event.pid) else { return };
        if task == whom {
            if pi.newprio <= pi.oldprio {
                return;
            }
            self.draft(cpu, task, event.time_ns, Draft::GiveBack(pi.newprio));
            self.tasks[task.index()].given_back += 1;
            return;
        }
        let round = self.tasks[whom.index()].given_back;
        let lent = Draft::Lend { to: whom, prio: pi.newprio, round };
        let place = self.draft(cpu, task, event.time_ns, lent);
        if pi.newprio < pi.oldprio {
            self.mutexes.asks(place, whom);
        }
    }

    fn prio(&self, task: TaskIndex) -> i32 {
        self.tasks[task.index()].prio.map_or(FIRST_FAIR_PRIO, Prio::effective)
    }

    /// Who makes a wakeup, and why if it is an interrupt; a task gets a step drafted.
    fn waker(&mut self, event: &Event, sleeper: TaskIndex) -> (By, Cause) {
        let running =
            self.cpus[event.cpu.index()].running.map(|(task, _)| task).filter(|task| *task != sleeper);
        if let Some(sender) = self.sender(event, running, sleeper) {
            return (sender, Cause::Sender);
        }
        let in_interrupt = matches!(event.context, Context::Hardirq | Context::Softirq) || running.is_none();
        let cause = if in_interrupt { self.cause(event, sleeper) } else { Cause::Unknown };
        (self.by(event, sleeper, running, cause), cause)
    }

    fn by(&mut self, event: &Event, sleeper: TaskIndex, running: Option<TaskIndex>, cause: Cause) -> By {
        let (cpu, now_ns) = (event.cpu.index(), event.time_ns);
        // Whoever waits for a device waits for its answer, not for the thread that passes it on when there is
        // much to do.
        let awaits_device =
            self.tasks[sleeper.index()].awaits_device() || self.name(sleeper).is_some_and(work::is_worker);
        let serves_softirqs = |task: TaskIndex| self.name_starts(task, "ksoftirqd/") && !awaits_device;
        match (event.context, running) {
            (Context::Hardirq, _) | (_, None) => {
                By::Interrupt { below: self.interrupted(cpu, running, now_ns) }
            }
            (Context::Softirq, Some(task)) if !serves_softirqs(task) => {
                let of_rcu = self.name_starts(sleeper, "rcu_");
                let samples = if of_rcu { &mut self.by_ticks } else { &mut self.soft_wakeups };
                if !cause.is_from_outside() {
                    samples.push(TickSample { cpu: event.cpu.0, at_ns: now_ns });
                }
                By::Softirq { cpu: event.cpu.0 }
            }
            (_, Some(task)) if self.name_starts(task, "migration/") => By::Stopper,
            (context, Some(task)) => {
                self.divides(event, task, sleeper);
                let place = self.wakes_in_call(event, task, sleeper);
                devices::works_for(&mut self.tasks, task, sleeper);
                By::Task { place, certain: context != Context::Unknown }
            }
        }
    }

    /// Drafts the interrupt on top of a task. One that wakes several is drafted for each: which wakeups were
    /// one interrupt's is for those to tell who know the machine.
    fn interrupted(&mut self, cpu: usize, running: Option<TaskIndex>, now_ns: u64) -> Option<DraftStep> {
        Some(self.draft(cpu, running?, now_ns, Draft::Interrupted { by_timer: false }))
    }

    pub(super) fn name(&self, task: TaskIndex) -> Option<&str> {
        self.tasks[task.index()].last_comm.map(|comm| &self.trace.strings[comm])
    }

    fn name_starts(&self, task: TaskIndex, start: &str) -> bool {
        self.name(task).is_some_and(|name| name.starts_with(start))
    }

    pub(super) fn wakeup(&mut self, event: &Event, wakeup: &SchedWakeup) {
        let task = self.sighted(&wakeup.task);
        self.disturb(wakeup.target_cpu.index());
        let state = self.tasks[task.index()].state;
        let pending = match self.tasks[task.index()].pending.take() {
            // Kernels before 4.3 have no sched_waking.
            None if state != State::Running => {
                let ((by, cause), cpu) = (self.waker(event, task), event.cpu.0);
                Some(Pending { at_ns: event.time_ns, by, cause, cpu, last_cpu: cpu })
            }
            pending => pending,
        };
        let track = &mut self.tasks[task.index()];
        match state {
            State::Asleep => {}
            State::Unseen | State::Lost => {
                track.begin.get_or_insert(Begin::Asleep);
                track.sleep(None, PrevState::Unknown);
            }
            State::Running => {
                let before = std::mem::replace(&mut track.early, pending);
                self.counts.without_effect += 1;
                return self.cancel(before);
            }
            State::Runnable | State::Dead => {
                self.counts.without_effect += 1;
                return self.cancel(pending);
            }
        }
        let Some(pending) = pending else { return };
        let target = wakeup.target_cpu.index();
        let interrupts =
            target != pending.cpu as usize && (event.cpu.index() == target || self.cpus[target].idle);
        self.woken(task, pending, interrupts);
        if matches!(pending.by, By::Interrupt { .. }) && self.passes_idle_cpus(task, target) {
            self.tasks[task.index()].whereabouts.woken_beside_idle += 1;
        }
        let (at_ns, from_cpu, by_cpu) = (event.time_ns, pending.cpu, event.cpu.0);
        self.tasks[task.index()].woken = Some(Woken { at_ns, from_cpu, on_cpu: wakeup.target_cpu.0, by_cpu });
        self.waits(task, target, event.time_ns);
    }

    /// Inheritance gives a task another rank: who waits, may have waited for that.
    pub(super) fn another_rank(&mut self, task: TaskIndex, now_ns: u64) {
        self.tasks[task.index()].woken = None;
        if let Some(cpu) = self.cpu_of(task) {
            self.ways.switched(cpu as u32, now_ns);
        }
    }

    /// A task has been queued on `cpu`.
    fn waits(&mut self, task: TaskIndex, cpu: usize, now_ns: u64) {
        let own = self.prio(task);
        let running = self.cpus[cpu].running.map(|(running, _)| (running, self.prio(running)));
        let wait = Wait {
            idle_clock_ns: self.idle_clock(now_ns),
            real_time: own < FIRST_FAIR_PRIO,
            outranked: running.is_some_and(|(_, prio)| prio <= own),
            beside_lower: self.runs_lower_beside(cpu, own),
        };
        let outrun = running.filter(|(_, prio)| own < *prio && *prio < FIRST_FAIR_PRIO);
        let idle = self.idle_cpus > 0;
        let whereabouts = &mut self.tasks[task.index()].whereabouts;
        whereabouts.waits = Some(wait);
        if let (Some((running, _)), true) = (outrun, idle) {
            whereabouts.stays_with(running);
        }
    }

    /// A fair task that an interrupt has woken is queued where a fair one runs, although another CPU is idle.
    fn passes_idle_cpus(&self, task: TaskIndex, cpu: usize) -> bool {
        let is_fair = |task: TaskIndex| self.prio(task) >= FIRST_FAIR_PRIO;
        let busy = self.cpus[cpu].running.is_some_and(|(running, _)| is_fair(running));
        is_fair(task) && busy && self.idle_cpus > 0
    }

    /// Another CPU than that one runs something of a lower priority, or nothing. Only real-time tasks go
    /// there at once.
    pub(super) fn runs_lower_beside(&self, cpu: usize, prio: i32) -> bool {
        let lower = |(task, _): (TaskIndex, u64)| self.prio(task) > prio;
        let others = self.cpus.iter().enumerate().filter(|(other, _)| *other != cpu);
        prio < FIRST_FAIR_PRIO
            && others.into_iter().any(|(_, now)| now.idle || now.running.is_some_and(lower))
    }

    /// A sleep ends.
    fn woken(&mut self, task: TaskIndex, pending: Pending, interrupts: bool) {
        if let By::Task { place, .. } = pending.by {
            let step = &mut self.tasks[place.task.index()].steps[place.step];
            let same_call = matches!(step, Draft::Wake { same_call: true, .. });
            *step = Draft::Wake { task, interrupts, same_call };
        }
        if self.mutexes.is_any() {
            self.wakes_sleeper(task, pending);
        }
        let track = &mut self.tasks[task.index()];
        let cpu = (pending.cpu != pending.last_cpu).then_some(pending.cpu);
        let Pending { at_ns, by, cause, cpu: made_on, .. } = pending;
        track.wake(Ending { at_ns, by, cause, made_on, cpu });
        if self.name(task).is_some_and(work::serves_disks) {
            devices::serves(&mut self.tasks, task, self.asked_last);
        }
        let early = self.tasks[task.index()].early.take();
        self.cancel(early);
    }

    /// A sleeper comes onto a CPU, and no event has shown that its sleep is over.
    pub(super) fn unseen_wakeup(&mut self, task: TaskIndex, now_ns: u64) {
        let track = &mut self.tasks[task.index()];
        let known = track.pending.take().or_else(|| track.early.take());
        let unseen = Pending { at_ns: now_ns, by: By::Unseen, cause: Cause::Unknown, cpu: 0, last_cpu: 0 };
        self.woken(task, known.unwrap_or(unseen), false);
        if let Some(known) = known.filter(|_| self.counted_from == CountedFrom::Waking) {
            // Such a trace does not tell whether a task moved when it was woken or was pushed afterwards: one
            // that stayed was queued where it had slept.
            let Pending { at_ns, cpu, last_cpu, .. } = known;
            self.tasks[task.index()].woken =
                Some(Woken { at_ns, from_cpu: cpu, on_cpu: last_cpu, by_cpu: cpu });
        }
    }

    /// A wakeup had no effect: a replay will not make it.
    pub(super) fn cancel(&mut self, pending: Option<Pending>) {
        if let Some(By::Task { place, .. } | By::Interrupt { below: Some(place) }) =
            pending.map(|pending| pending.by)
        {
            self.tasks[place.task.index()].steps[place.step] = Draft::Nothing;
        }
    }

    /// Drafts a fork in the running task; the child's first wakeup tells the moment more exactly than the
    /// fork event.
    pub(super) fn fork(&mut self, event: &Event, parent: Option<TaskIndex>, child: TaskIndex) {
        let running = self.cpus[event.cpu.index()].running.map(|(task, _)| task);
        let by_interrupt = matches!(event.context, Context::Hardirq | Context::Softirq);
        let Some(running) = running.filter(|task| !by_interrupt && *task != child) else { return };
        let track = &self.tasks[child.index()];
        let begun = track.begin.is_some() && track.forked_by.is_none();
        if begun || track.state != State::Unseen || parent.is_some_and(|parent| parent != running) {
            return;
        }
        if let Some(place) = track.forked_by {
            self.tasks[place.task.index()].steps[place.step] = Draft::Nothing;
        }
        let place = self.draft(event.cpu.index(), running, event.time_ns, Draft::Fork(child));
        let track = &mut self.tasks[child.index()];
        (track.begin, track.forked_by) = (Some(Begin::Forked), Some(place));
    }

    /// A child begins with the priority of its parent, so a real-time one shows that its parent had that
    /// priority before the fork, though no event of the parent says so. A fair one shows nothing:
    /// SCHED_RESET_ON_FORK makes those, too.
    fn inherited_policy(&mut self, event: &Event, child: TaskIndex, prio: i32) {
        let cpu = event.cpu.index();
        let by_interrupt = matches!(event.context, Context::Hardirq | Context::Softirq);
        let running = self.cpus[cpu].running.map(|(task, _)| task);
        let Some(parent) = running.filter(|task| !by_interrupt && *task != child) else { return };
        if (0..FIRST_FAIR_PRIO).contains(&prio) && self.tasks[child.index()].state == State::Unseen {
            self.account(cpu, event.time_ns);
            self.counts.priority_changes += u64::from(self.tasks[parent.index()].had(prio));
        }
    }

    pub(super) fn wakeup_new(&mut self, event: &Event, wakeup: &SchedWakeup) {
        let child = self.sighted(&wakeup.task);
        self.disturb(wakeup.target_cpu.index());
        self.inherited_policy(event, child, wakeup.task.prio);
        self.fork(event, None, child);
        let start_ns = self.start_ns;
        let track = &mut self.tasks[child.index()];
        if track.state == State::Unseen {
            let (at, cpu) = (scheduler::Nanos(event.time_ns - start_ns), Some(wakeup.target_cpu.0));
            self.counts.appeared += u64::from(track.begin.is_none());
            track.begin.get_or_insert(Begin::Appears { at, cpu });
            track.state = State::Runnable;
            self.waits(child, wakeup.target_cpu.index(), event.time_ns);
        }
    }
}
