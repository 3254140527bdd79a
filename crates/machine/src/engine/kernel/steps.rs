//! Executing a step of a task: the system calls, their costs, and what happens after a sleep inside one.

use super::sim::{Progress, Sim, Then};
use crate::behaviour::Step;
use crate::engine::hardware::cpu::Mode;
use crate::engine::hardware::hw::{Hw, Once};
use crate::engine::record::recorder::RecordKind;
use crate::engine::userland::sections::InSections;
use crate::engine::userland::world::SpinAttempt;
use crate::objects::{Backoff, BarrierId, ChannelId, DeviceId, FutexId, SpinlockId};
use crate::outcome::RunError;
use crate::told::ToldMessage;
use scheduler::affinity::set_cpus_allowed;
use scheduler::policy::{sched_setscheduler, set_user_nice};
use scheduler::schedule::{Entry, sched_yield, schedule, set_current_state};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{CpuMask, MutexId, Nanos, TaskId, TaskState, ThisCpu};

/// What a step comes to once all is done that needs nobody to wait: most steps of most loads come to nothing
/// more, and no future is made for them.
#[derive(Debug)]
pub(crate) enum Path {
    /// The step is done, or under way: see the task's progress.
    Done,
    /// The task sleeps, or has been woken since: state and progress say so.
    Sleep,
    /// It wakes a task.
    Wake { task: TaskId, flags: WakeFlags },
    /// It wakes several, one after the other.
    WakeAll(Vec<TaskId>),
    /// It enters the kernel for a mutex that is not free.
    LockSlow(MutexId),
    /// It enters the kernel for a mutex that others want.
    UnlockSlow(MutexId),
    /// Another system call.
    Call(Step),
    /// Such a system call goes on.
    GoOn(Then),
    /// The run has failed and must not go on.
    Stop,
}

impl Sim {
    /// Starts a step of the current task.
    pub fn start(&self, me: ThisCpu<'_, Hw>, p: TaskId, step: Step) -> Path {
        match step {
            Step::Compute(length) => self.with(p, |t| t.compute(length)),
            Step::KernelCompute(length) => {
                self.set_progress(p, Progress::Kernel { left: length, then: Then::Return });
            }
            Step::SpinUntil(until) => {
                let late = self.hw().spec.noise.spin_overshoot;
                let late = late.map_or(Nanos::ZERO, |s| self.hw().dice(me.id, |rng| s.draw(rng)));
                self.set_progress(p, Progress::SpinUntil(until + late));
            }
            Step::SleepUntil(until) => return self.sleep_until(me, p, until),
            Step::SleepFor(span) => return self.sleep_until(me, p, self.hw().local_now() + span),
            Step::Lock(mutex) => return self.lock_mutex(me, p, mutex),
            Step::Unlock(mutex) => return self.unlock_mutex(me, p, mutex),
            Step::SpinLock(lock) => return self.spin_lock(me, p, self.first_attempt(lock)),
            Step::Sections(work) => self.with(p, |t| t.sections = Some(InSections::new(work))),
            Step::SpinUnlock(lock) => return self.spin_unlock(p, lock),
            Step::Send(channel) => {
                return self.in_kernel(me, p, self.channel(channel).send_cost, Then::Send(channel));
            }
            Step::Receive(channel) => {
                return self.in_kernel(me, p, self.channel(channel).receive_cost, Then::Receive(channel));
            }
            Step::Submit { device, service, done } => self.submit(device, service, done),
            Step::FutexWait(futex) => return self.futex_wait(me, p, futex),
            Step::Exit => {
                let now = self.hw().local_now();
                self.with(p, |t| t.exited = Some(now));
                let costs = &self.hw().spec.costs;
                let cost = if self.with(p, |t| t.family.thread) { costs.thread_exit } else { costs.exit };
                return self.in_kernel(me, p, cost, Then::Exit);
            }
            Step::Marker(text) => {
                self.syscall();
                self.hw().recorder.note(me, self.hw().local_now(), || RecordKind::Marker { text });
            }
            call => return Path::Call(call),
        }
        Path::Done
    }

    /// Goes on with a system call after its work in the kernel, or after a sleep.
    pub fn go_on(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Then) -> Path {
        match then {
            Then::Return => Path::Done,
            Then::Send(channel) => self.send(me, p, channel),
            Then::Receive(channel) => self.receive(me, p, channel),
            Then::SpinLock(attempt) => self.spin_lock(me, p, attempt),
            other => Path::GoOn(other),
        }
    }

    /// What is left of a step, for which others may have to be waited for.
    pub async fn follow(&self, me: ThisCpu<'_, Hw>, p: TaskId, path: Path) {
        match path {
            Path::Done => {}
            Path::Sleep => schedule(me, Entry::Call).await,
            Path::Wake { task, flags } => {
                try_to_wake_up(me, task, flags).await;
            }
            Path::WakeAll(tasks) => {
                for task in tasks {
                    self.wake(me, task, false).await;
                }
            }
            Path::LockSlow(mutex) => self.lock_slow(me, p, mutex).await,
            Path::UnlockSlow(mutex) => self.unlock_slow(me, p, mutex).await,
            Path::Call(call) => self.call(me, p, call).await,
            Path::GoOn(then) => self.go_on_waiting(me, p, then).await,
            // The engine stops at the next suspension; make sure that there is one.
            Path::Stop => self.hw().suspend(me.id, Mode::Spinning).await,
        }
    }

    async fn call(&self, me: ThisCpu<'_, Hw>, p: TaskId, call: Step) {
        match call {
            Step::TrySend(channel) => {
                self.put(me, channel, WakeFlags::default()).await;
            }
            Step::TrySendAll(channels) => {
                self.syscall();
                for channel in channels {
                    self.put(me, channel, WakeFlags::default()).await;
                }
            }
            Step::GiveBack { policy, wakes } => {
                self.syscall();
                let before = self.served(p);
                sched_setscheduler(me, p, policy).await;
                self.account_under(p, before);
                for channel in wakes {
                    self.put(me, channel, WakeFlags::default()).await;
                }
            }
            Step::FutexWake { futex, count } => self.futex_wake(me, futex, count).await,
            Step::BarrierWait(barrier) => self.barrier_wait(me, p, barrier).await,
            Step::Fork { child, kind } => self.fork(me, p, *child, kind).await,
            Step::Exec { comm } => self.exec(me, p, comm).await,
            Step::WaitChild => self.wait_child(me, p).await,
            Step::Yield => {
                self.syscall();
                sched_yield(me).await;
            }
            Step::SetPolicy { target, policy } => {
                self.syscall();
                let target = target.unwrap_or(p);
                let before = self.served(target);
                sched_setscheduler(me, target, policy).await;
                self.account_under(target, before);
            }
            Step::SetNice { target, nice } => {
                self.syscall();
                let target = target.unwrap_or(p);
                let before = self.served(target);
                set_user_nice(me, target, nice).await;
                self.account_under(target, before);
            }
            Step::SetAffinity { target, cpus } => self.set_affinity(me, target.unwrap_or(p), cpus).await,
            other => unreachable!("`start` deals with {other:?}"),
        }
    }

    async fn go_on_waiting(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Then) {
        match then {
            Then::Lock(mutex) => self.lock_again(me, p, mutex).await,
            Then::Forked { child, vfork } => self.forked(me, p, child, vfork).await,
            Then::Execed => self.complete_vfork(me, p).await,
            Then::WaitChild => self.wait_child(me, p).await,
            Then::Exit => self.exit(me, p).await,
            other => unreachable!("`go_on` deals with {other:?}"),
        }
    }

    pub fn syscall(&self) {
        self.hw().charge_ns(self.hw().spec.costs.syscall);
    }

    /// A system call that works in the kernel for `cost`, with interrupts on, and then goes on.
    fn in_kernel(&self, me: ThisCpu<'_, Hw>, p: TaskId, cost: Nanos, then: Then) -> Path {
        self.syscall();
        if cost == Nanos::ZERO {
            return self.go_on(me, p, then);
        }
        self.set_progress(p, Progress::Kernel { left: cost, then });
        Path::Done
    }

    /// The current task sleeps; when it runs again it goes on with `then`.
    pub async fn block(&self, me: ThisCpu<'_, Hw>, p: TaskId, state: TaskState, then: Then) {
        self.falls_asleep(me, p, state, then);
        schedule(me, Entry::Call).await;
    }

    /// The same for a task whose state says already that it sleeps, or that it has been woken since.
    pub async fn leave_asleep(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Then) {
        self.set_progress(p, Progress::Resume(then));
        schedule(me, Entry::Call).await;
    }

    fn falls_asleep(&self, me: ThisCpu<'_, Hw>, p: TaskId, state: TaskState, then: Then) -> Path {
        set_current_state(me, state);
        self.set_progress(p, Progress::Resume(then));
        Path::Sleep
    }

    fn sleep_until(&self, me: ThisCpu<'_, Hw>, p: TaskId, until: Nanos) -> Path {
        let hw = self.hw();
        self.syscall();
        if until <= hw.local_now() {
            return Path::Done;
        }
        hw.charge_ns(hw.spec.costs.timer_program);
        let jitter = hw.spec.noise.timer_jitter;
        let jitter = jitter.map_or(Nanos::ZERO, |s| hw.dice(me.id, |rng| s.draw(rng)));
        let slot = self.with(p, |t| {
            let slack =
                if me.task(p).class.get() == scheduler::Class::Rt { Nanos::ZERO } else { t.timer_slack };
            (t.timer, until + slack + jitter)
        });
        // A timer cannot be programmed into the past: it fires at once then.
        hw.queue.set(slot.0, slot.1.max(hw.local_now()));
        set_current_state(me, TaskState::Interruptible);
        Path::Sleep
    }

    /// Wakes `p`; the waker's clock moves on.
    pub async fn wake(&self, me: ThisCpu<'_, Hw>, p: TaskId, sync: bool) {
        try_to_wake_up(me, p, WakeFlags { sync, interrupt: false }).await;
    }

    fn channel(&self, id: ChannelId) -> crate::objects::ChannelSpec {
        self.world.borrow().channels[id.0 as usize].spec
    }

    /// `task` waits for this channel.
    fn wake_at(&self, task: TaskId, id: ChannelId) -> Path {
        let spec = self.channel(id);
        Path::Wake { task, flags: WakeFlags { sync: spec.sync, interrupt: spec.softirq } }
    }

    fn send(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: ChannelId) -> Path {
        match self.put_message(id) {
            Put::Full => {
                self.world.borrow_mut().channels[id.0 as usize].writers.push_back(p);
                self.falls_asleep(me, p, TaskState::Interruptible, Then::Send(id))
            }
            Put::Stored { wake: Some(reader) } => self.wake_at(reader, id),
            Put::Stored { wake: None } => Path::Done,
        }
    }

    fn put_message(&self, id: ChannelId) -> Put {
        let channel = &mut self.world.borrow_mut().channels[id.0 as usize];
        if channel.messages >= channel.spec.capacity {
            return Put::Full;
        }
        channel.messages += 1;
        Put::Stored { wake: channel.readers.pop_front() }
    }

    fn receive(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: ChannelId) -> Path {
        let wake = {
            let channel = &mut self.world.borrow_mut().channels[id.0 as usize];
            channel.last_reader = Some(p);
            if channel.messages == 0 {
                channel.readers.push_back(p);
                None
            } else {
                channel.messages -= 1;
                let room = channel.messages <= channel.spec.writers_wake_at;
                Some(if room { channel.writers.pop_front() } else { None })
            }
        };
        match wake {
            None => self.falls_asleep(me, p, TaskState::Interruptible, Then::Receive(id)),
            Some(Some(writer)) => self.wake_at(writer, id),
            Some(None) => Path::Done,
        }
    }

    /// An interrupt brings a message whose cause is no step of a task.
    pub async fn message_from_outside(&self, me: ThisCpu<'_, Hw>, message: ToldMessage) {
        let now = self.hw().local_now();
        self.hw().recorder.note(me, now, || RecordKind::Message { message });
        self.message_by_interrupt(me, message.channel).await;
    }

    /// An interrupt brings a message.
    pub async fn message_by_interrupt(&self, me: ThisCpu<'_, Hw>, channel: ChannelId) {
        if !self.put(me, channel, FROM_INTERRUPT).await {
            self.outside_lost.set(self.outside_lost.get() + 1);
        }
    }

    /// A device takes a request: the interrupt comes when it is served.
    fn submit(&self, device: DeviceId, service: Nanos, done: ChannelId) {
        self.syscall();
        let now = self.hw().local_now();
        let served = self.world.borrow_mut().devices[device.0 as usize].serve(now, service);
        self.hw().at(served, Once::Served(done));
    }

    /// Puts a message without waiting for room; whether there was any.
    pub async fn put(&self, me: ThisCpu<'_, Hw>, id: ChannelId, flags: WakeFlags) -> bool {
        match self.put_message(id) {
            Put::Full => return false,
            Put::Stored { wake: Some(reader) } => {
                try_to_wake_up(me, reader, flags).await;
            }
            Put::Stored { wake: None } => {}
        }
        true
    }

    fn futex_wait(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: FutexId) -> Path {
        self.syscall();
        self.world.borrow_mut().futexes[id.0 as usize].push(p, me.task(p).normal_prio.get());
        self.falls_asleep(me, p, TaskState::Interruptible, Then::Return)
    }

    async fn futex_wake(&self, me: ThisCpu<'_, Hw>, id: FutexId, count: u32) {
        self.syscall();
        for _ in 0..count {
            let next = self.world.borrow_mut().futexes[id.0 as usize].pop();
            let Some(waiter) = next else { break };
            self.wake(me, waiter, false).await;
        }
    }

    async fn barrier_wait(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: BarrierId) {
        let opened = {
            let barrier = &mut self.world.borrow_mut().barriers[id.0 as usize];
            if barrier.waiting.len() + 1 == barrier.parties as usize {
                Some(std::mem::take(&mut barrier.waiting))
            } else {
                barrier.waiting.push(p);
                None
            }
        };
        self.syscall();
        let Some(mut waiting) = opened else {
            return self.block(me, p, TaskState::Interruptible, Then::Return).await;
        };
        for waiter in waiting.drain(..) {
            self.wake(me, waiter, false).await;
        }
        // Keep the room for the next round, unless somebody waits there already.
        let barrier = &mut self.world.borrow_mut().barriers[id.0 as usize];
        if barrier.waiting.is_empty() {
            barrier.waiting = waiting;
        }
    }

    /// A user-space spinlock: try, spin a little, after enough tries sleep for a growing time (fair-class
    /// 12.4).
    pub fn spin_lock(&self, me: ThisCpu<'_, Hw>, p: TaskId, attempt: SpinAttempt) -> Path {
        let backoff = {
            let lock = &mut self.world.borrow_mut().spinlocks[attempt.lock.0 as usize];
            let now = self.hw().now.get();
            lock.settle(now);
            let is_taken = lock.is_taken(me.id, now);
            if !is_taken {
                lock.owner = Some(p);
                lock.learn(attempt.slept == Nanos::ZERO);
                self.with(p, |t| t.locks_held += 1);
            }
            self.cross_plans(me.id, lock, now);
            if !is_taken {
                return Path::Done;
            }
            lock.backoff
        };
        if attempt.tries_left > 0 {
            self.set_progress(p, Progress::Spinning(attempt));
            return Path::Done;
        }
        if backoff == Backoff::Event {
            return self.await_release(me, p, attempt);
        }
        let slept = self.with(p, |t| match attempt.slept {
            Nanos::ZERO => FIRST_SLEEP,
            before => before + t.rng.between(Nanos::ZERO, before),
        });
        let slept = if slept > LONGEST_SLEEP { FIRST_SLEEP } else { slept };
        let tries_left = {
            let lock = &mut self.world.borrow_mut().spinlocks[attempt.lock.0 as usize];
            lock.sleeps += 1;
            lock.spins_per_delay
        };
        self.set_progress(p, Progress::Resume(Then::SpinLock(SpinAttempt { tries_left, slept, ..attempt })));
        self.sleep_until(me, p, self.hw().local_now() + slept)
    }

    /// The task sleeps until the spinlock is released, then spins again.
    fn await_release(&self, me: ThisCpu<'_, Hw>, p: TaskId, attempt: SpinAttempt) -> Path {
        self.syscall();
        let tries_left = {
            let lock = &mut self.world.borrow_mut().spinlocks[attempt.lock.0 as usize];
            lock.sleeps += 1;
            lock.waiters.push(p);
            lock.spins_per_delay
        };
        let then = Then::SpinLock(SpinAttempt { tries_left, ..attempt });
        self.falls_asleep(me, p, TaskState::Interruptible, then)
    }

    pub fn spin_unlock(&self, p: TaskId, id: SpinlockId) -> Path {
        let waiters = {
            let lock = &mut self.world.borrow_mut().spinlocks[id.0 as usize];
            if lock.owner != Some(p) {
                let (pid, comm) = self.with(p, |t| (t.pid, t.comm.clone()));
                self.fail(RunError::NotOwner { pid, comm, lock: format!("spinlock {}", id.0) });
                return Path::Done;
            }
            lock.owner = None;
            std::mem::take(&mut lock.waiters)
        };
        self.with(p, |t| t.locks_held -= 1);
        if waiters.is_empty() {
            return Path::Done;
        }
        self.syscall();
        Path::WakeAll(waiters)
    }

    async fn set_affinity(&self, me: ThisCpu<'_, Hw>, target: TaskId, cpus: CpuMask) {
        self.syscall();
        if cpus.and(&self.k.online).is_empty() {
            let (pid, comm) = self.with(target, |t| (t.pid, t.comm.clone()));
            return self.fail(RunError::EmptyAffinity { pid, comm, asked: cpus, cpus: self.k.cpus() });
        }
        set_cpus_allowed(me, target, cpus).await;
    }
}

impl Sim {
    /// What a sleeping task waits for, in words for a message.
    pub fn waits_for(&self, p: TaskId) -> String {
        match self.with(p, |t| t.progress) {
            Progress::Resume(Then::Lock(id)) => format!("mutex {}", self.mutexes[id.index()].name),
            Progress::Resume(Then::Send(id)) => format!("room in channel {}", id.0),
            Progress::Resume(Then::Receive(id)) => format!("a message on channel {}", id.0),
            Progress::Resume(Then::WaitChild) => "a child to exit".into(),
            Progress::Resume(Then::SpinLock(attempt)) => format!("spinlock {}", attempt.lock.0),
            _ => "a futex, a barrier or a vforked child".into(),
        }
    }
}

/// A wakeup by a timer or a device.
pub(crate) const FROM_INTERRUPT: WakeFlags = WakeFlags { sync: false, interrupt: true };

/// What became of a message.
enum Put {
    /// The channel is full.
    Full,
    /// It is in; this reader sleeps for it.
    Stored { wake: Option<TaskId> },
}

/// One try of a spinning test-and-set with its pause: 100 tries take 2 to 4 µs (fair-class 12.4).
const TRY: Nanos = Nanos(30);
/// A few tries at a time, so that a release is noticed soon.
const TRIES_PER_LOOK: u32 = 10;
const FIRST_SLEEP: Nanos = Nanos::from_millis(1);
const LONGEST_SLEEP: Nanos = Nanos::from_secs(1);

impl SpinAttempt {
    /// How long it tries before it looks around.
    pub fn stint(self) -> Nanos {
        TRY * u64::from(self.tries_left.min(TRIES_PER_LOOK))
    }

    /// What is left of it after trying for so long.
    pub fn after(self, spun: Nanos) -> SpinAttempt {
        let tried = (spun.0 / TRY.0).max(1) as u32;
        SpinAttempt { tries_left: self.tries_left - tried, ..self }
    }
}

impl crate::engine::userland::world::Spinlock {
    /// spins_per_delay: +100 after an acquisition that never slept, −1 after one that did, 10 to 1000.
    pub fn learn(&mut self, never_slept: bool) {
        let next = if never_slept { self.spins_per_delay + 100 } else { self.spins_per_delay - 1 };
        self.spins_per_delay = next.clamp(10, 1000);
    }
}
