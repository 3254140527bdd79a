//! A platform for unit tests: locks are always free (but in [`Lab::race`]), time stands still until a test
//! moves it, and interrupts wait in a queue until [`Lab::settle`] delivers them. Every event is recorded.

use crate::check::{Past, violations};
use crate::class::Class;
use crate::dl::{DlParams, dl_timer};
use crate::fair::GroupParams;
use crate::fork::{NewTask, new_task, wake_up_new_task_on};
use crate::platform::{Access, Cost, Ipi, Line, Lock, Platform};
use crate::registry::Config;
use crate::schedule::{Entry, schedule};
use crate::stop::{cpu_stopper_thread, create_stopper, migration_cpu_stop};
use crate::tick::{hrtick, scheduler_tick};
use crate::wakeup::{WakeFlags, sched_ttwu_pending, try_to_wake_up};
use crate::{
    Clamps, CpuId, CpuMask, Event, GroupId, LevelKind, Nanos, Nice, Partitions, Pid, Policy, Reason,
    RtPriority, Scheduler, TaskId, TaskState, ThisCpu, Topology, TopologyLevel, fair, rt,
};
pub use race::{Dice, RacePath};

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use race::RaceLocks;

mod race;

/// An interrupt on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    pub from: CpuId,
    pub to: CpuId,
    pub ipi: Ipi,
}

/// Names some locks.
pub type LockFilter = fn(Lock) -> bool;

/// The platform; see the module's head.
#[derive(Debug, Default)]
pub struct TestPlatform {
    pub now: Cell<Nanos>,
    /// What interrupts have taken of CPU 0.
    pub interrupt_time: Cell<Nanos>,
    pub events: RefCell<Vec<Event>>,
    pub ipis: RefCell<VecDeque<Sent>>,
    /// Every lock taken, in order.
    pub locks: RefCell<Vec<Lock>>,
    /// Every line touched, in order.
    pub lines: RefCell<Vec<Line>>,
    pub period_timer_at: Cell<Option<Nanos>>,
    /// The timer of HRTICK, of CPUs that have set it.
    pub hrticks: RefCell<Vec<(CpuId, Nanos)>>,
    /// The timer for deadline entities, of CPUs that have set it.
    pub dl_timers: RefCell<Vec<(CpuId, Nanos)>>,
    /// The exit latencies of CPUs that are in an idle state.
    pub idle_latencies: RefCell<Vec<(CpuId, Nanos)>>,
    /// Somebody decides when the ticks of idle CPUs stop.
    pub has_idle_governor: Cell<bool>,
    /// What the next dice show.
    pub dice: Cell<u64>,
    pub race: RaceLocks,
    /// What a touch of a line takes.
    pub touch_takes: Cell<Nanos>,
    /// A path that asks for such a lock stops before it: see [`Lab::meanwhile`].
    stop_before: Cell<Option<LockFilter>>,
    stopped_at: Cell<Option<Lock>>,
}

impl Platform for TestPlatform {
    fn now(&self) -> Nanos {
        self.now.get()
    }

    fn interrupt_time(&self, cpu: CpuId) -> Nanos {
        if cpu == CpuId(0) { self.interrupt_time.get() } else { Nanos::ZERO }
    }

    async fn acquire(&self, _me: CpuId, lock: Lock) {
        let mut stop = self.stop_before.get().is_some_and(|matches| matches(lock));
        self.stopped_at.set(stop.then_some(lock));
        poll_fn(|_| if mem::take(&mut stop) { Poll::Pending } else { Poll::Ready(()) }).await;
        self.locks.borrow_mut().push(lock);
        self.race.acquire(lock).await;
    }

    async fn try_acquire(&self, _me: CpuId, lock: Lock) -> bool {
        self.locks.borrow_mut().push(lock);
        self.race.step_aside().await;
        self.race.take(lock)
    }

    fn release(&self, _me: CpuId, lock: Lock) {
        self.race.release(lock);
    }

    async fn relax(&self, _me: CpuId) {
        assert!(self.race.is_on(), "a unit test has no other CPU to wait for");
        self.race.step_aside().await;
    }

    fn charge(&self, _cost: Cost) {}

    fn touch(&self, _me: CpuId, line: Line, _access: Access) {
        self.lines.borrow_mut().push(line);
        self.now.set(self.now.get() + self.touch_takes.get());
    }

    fn send_ipi(&self, from: CpuId, to: CpuId, ipi: Ipi) {
        self.ipis.borrow_mut().push_back(Sent { from, to, ipi });
    }

    fn random(&self, _me: CpuId, below: u64) -> u64 {
        self.dice.get().min(below - 1)
    }

    fn start_rt_period_timer(&self, at: Nanos) {
        self.period_timer_at.set(Some(at));
    }

    fn has_idle_governor(&self) -> bool {
        self.has_idle_governor.get()
    }

    fn idle_state_latency(&self, cpu: CpuId) -> Option<Nanos> {
        let latencies = self.idle_latencies.borrow();
        latencies.iter().find(|(of, _)| *of == cpu).map(|(_, latency)| *latency)
    }

    fn set_hrtick(&self, cpu: CpuId, at: Option<Nanos>) {
        let mut timers = self.hrticks.borrow_mut();
        timers.retain(|(of, _)| *of != cpu);
        timers.extend(at.map(|at| (cpu, at)));
    }

    fn set_dl_timer(&self, cpu: CpuId, at: Option<Nanos>) {
        let mut timers = self.dl_timers.borrow_mut();
        timers.retain(|(of, _)| *of != cpu);
        timers.extend(at.map(|at| (cpu, at)));
    }

    fn event(&self, _me: ThisCpu<'_, Self>, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

/// A scheduler on that platform, and the moves a test makes.
#[derive(Debug)]
pub struct Lab {
    pub k: Scheduler<TestPlatform>,
    next_pid: Cell<i32>,
    past: RefCell<Past>,
}

/// A group of 1024 shares, and no limits.
pub fn plain_group(parent: GroupId) -> GroupParams {
    GroupParams { parent, shares: 1024, idle: false, quota: None, clamps: Clamps::NONE, rt: None }
}

/// SCHED_FIFO at a user priority, 1 to 99.
pub fn fifo(priority: u8) -> Policy {
    Policy::Fifo(RtPriority::new(priority).expect("1 to 99"))
}

/// SCHED_RR at a user priority, 1 to 99.
pub fn rr(priority: u8) -> Policy {
    Policy::Rr(RtPriority::new(priority).expect("1 to 99"))
}

/// SCHED_DEADLINE with these milliseconds of run time, deadline and period.
pub fn deadline(runtime: u64, deadline: u64, period: u64) -> Policy {
    let ms = Nanos::from_millis;
    Policy::Deadline(DlParams::new(ms(runtime), ms(deadline), ms(period)).expect("legal parameters"))
}

/// [`crate::policy::sched_setscheduler`] where nothing is refused.
pub async fn sched_setscheduler(me: ThisCpu<'_, TestPlatform>, p: TaskId, policy: Policy) {
    crate::policy::sched_setscheduler(me, p, policy).await.expect("let in");
}

/// CPUs by number.
pub fn cpus(numbers: &[u16]) -> CpuMask {
    numbers.iter().map(|c| CpuId(*c)).collect()
}

/// A level of a machine with so many CPUs: spans of `size` of them, one after the other.
pub fn level(cpus: u16, kind: LevelKind, size: u16) -> TopologyLevel {
    let spans = (0..cpus / size).map(|n| (n * size..(n + 1) * size).map(CpuId).collect());
    TopologyLevel { kind, spans: spans.collect() }
}

impl Lab {
    /// A machine of `cpus` CPUs that share one cache, under a kernel profile and further settings.
    pub fn new(cpus: usize, profile: &str, settings: &[&str]) -> Lab {
        Lab::on(&Topology::flat(cpus), profile, settings)
    }

    pub fn on(topology: &Topology, profile: &str, settings: &[&str]) -> Lab {
        Lab::divided(topology, &Partitions::whole(topology.cpus), profile, settings)
    }

    /// The same on a machine that is divided so.
    pub fn divided(topology: &Topology, partitions: &Partitions, profile: &str, settings: &[&str]) -> Lab {
        let config = Config::of_profile(profile).expect("a known profile");
        for setting in settings {
            config.set(setting).expect("a legal setting");
        }
        let k = Scheduler::new(TestPlatform::default(), config, topology, partitions, 0);
        let past = RefCell::new(Past::of(&k));
        Lab { k, next_pid: Cell::new(1), past }
    }

    /// Gives each CPU its stopper, by CPU number.
    pub fn with_stoppers(&self) -> Vec<TaskId> {
        let create = |cpu| create_stopper(&self.k, CpuId(cpu), Pid(1_000 + i32::from(cpu)));
        (0..self.k.cpus() as u16).map(create).collect()
    }

    /// A CPU that executes its stopper.
    fn runs_stopper(&self) -> Option<u16> {
        (0..self.k.cpus() as u16).find(|cpu| self.k.task(self.running(*cpu)).class.get() == Class::Stop)
    }

    /// The path that CPU `cpu` executes.
    pub fn cpu(&self, cpu: u16) -> ThisCpu<'_, TestPlatform> {
        ThisCpu { k: &self.k, id: CpuId(cpu) }
    }

    /// Runs a path to its end: with free locks it never has to wait.
    pub fn run<T>(&self, path: impl Future<Output = T>) -> T {
        match pin!(path).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(out) => out,
            Poll::Pending => panic!("a path waits for a lock that is free"),
        }
    }

    /// Runs a path to its end, and each time before it takes a lock that `at` names, what other CPUs do while
    /// it waits. They cannot use a queue that the path holds.
    pub fn meanwhile<T>(
        &self,
        at: LockFilter,
        path: impl Future<Output = T>,
        mut others: impl FnMut(Lock),
    ) -> T {
        let mut path = pin!(path);
        loop {
            match self.run_up_to(at, path.as_mut()) {
                Ok(out) => return out,
                Err(lock) => others(lock),
            }
        }
    }

    /// Runs a path to its end, or until it is about to take a lock that `at` names.
    pub fn run_up_to<T>(&self, at: LockFilter, path: Pin<&mut impl Future<Output = T>>) -> Result<T, Lock> {
        self.k.platform.stop_before.set(Some(at));
        let polled = path.poll(&mut Context::from_waker(Waker::noop()));
        let stopped_at = self.k.platform.stopped_at.take();
        self.k.platform.stop_before.set(None);
        match (polled, stopped_at) {
            (Poll::Ready(out), _) => Ok(out),
            (Poll::Pending, Some(lock)) => Err(lock),
            (Poll::Pending, None) => panic!("a path waits for a lock that is free"),
        }
    }

    pub fn advance(&self, by: Nanos) {
        self.k.platform.now.set(self.k.platform.now.get() + by);
    }

    /// A new task becomes runnable on `cpu`; nothing is rescheduled yet.
    pub fn spawn_unsettled(&self, policy: Policy, nice: i8, cpu: u16, allowed: CpuMask) -> TaskId {
        self.spawn_as(policy, nice, cpu, allowed, false)
    }

    /// A thread of the kernel runs on `cpu`, and may run on these CPUs.
    pub fn spawn_kthread(&self, cpu: u16, allowed: CpuMask) -> TaskId {
        let p = self.spawn_as(Policy::Normal, 0, cpu, allowed, true);
        self.settle();
        p
    }

    fn spawn_as(&self, policy: Policy, nice: i8, cpu: u16, allowed: CpuMask, kernel_thread: bool) -> TaskId {
        let pid = Pid(self.next_pid.get());
        self.next_pid.set(pid.0 + 1);
        let nice = Nice::new(nice).expect("-20 to 19");
        let cpus_allowed = allowed.and(&self.k.online);
        let new = NewTask { pid, policy, nice, cpus_allowed, kernel_thread, group: crate::GroupId::ROOT };
        let p = new_task(&self.k, new);
        self.run(wake_up_new_task_on(self.cpu(cpu), p, Some(CpuId(cpu))));
        p
    }

    /// A new task becomes runnable on `cpu`, may run anywhere, and everything that follows has happened.
    pub fn spawn(&self, policy: Policy, cpu: u16) -> TaskId {
        self.spawn_allowed(policy, cpu, CpuMask::ALL)
    }

    /// The same with an affinity.
    pub fn spawn_allowed(&self, policy: Policy, cpu: u16, allowed: CpuMask) -> TaskId {
        let p = self.spawn_unsettled(policy, 0, cpu, allowed);
        self.settle();
        p
    }

    /// CPU `waker` wakes `p`; nothing is rescheduled yet.
    pub fn wake_unsettled(&self, waker: u16, p: TaskId) -> bool {
        self.run(try_to_wake_up(self.cpu(waker), p, WakeFlags::default()))
    }

    /// CPU `waker` wakes `p`, and everything that follows has happened.
    pub fn wake(&self, waker: u16, p: TaskId) -> bool {
        let woken = self.wake_unsettled(waker, p);
        self.settle();
        woken
    }

    /// The task running on `cpu` goes to sleep; what follows on other CPUs is still pending.
    pub fn block_unsettled(&self, cpu: u16) -> TaskId {
        let p = self.running(cpu);
        self.k.task(p).state.overwrite(TaskState::Interruptible);
        self.run(schedule(self.cpu(cpu), Entry::Call));
        p
    }

    /// The task running on `cpu` goes to sleep, and everything that follows has happened.
    pub fn block(&self, cpu: u16) -> TaskId {
        let p = self.block_unsettled(cpu);
        self.settle();
        p
    }

    /// A timer tick on `cpu`, and everything that follows.
    pub fn tick(&self, cpu: u16) {
        self.run(scheduler_tick(self.cpu(cpu)));
        self.settle();
    }

    /// When the timer of a CPU fires.
    pub fn hrtick_at(&self, cpu: u16) -> Option<Nanos> {
        let timers = self.k.platform.hrticks.borrow();
        timers.iter().find(|(of, _)| *of == CpuId(cpu)).map(|(_, at)| *at)
    }

    /// It fires.
    pub fn fire_hrtick(&self, cpu: u16) {
        self.k.platform.set_hrtick(CpuId(cpu), None);
        self.run(hrtick(self.cpu(cpu)));
    }

    /// When the deadline timer of a CPU fires.
    pub fn dl_timer_at(&self, cpu: u16) -> Option<Nanos> {
        let timers = self.k.platform.dl_timers.borrow();
        timers.iter().find(|(of, _)| *of == CpuId(cpu)).map(|(_, at)| *at)
    }

    /// Time passes up to `until`; the deadline timers fire on the way, and everything that follows happens.
    pub fn pass_until(&self, until: Nanos) {
        loop {
            let first = self.k.platform.dl_timers.borrow().iter().copied().min_by_key(|(_, at)| *at);
            let Some((cpu, at)) = first.filter(|(_, at)| *at <= until) else { break };
            self.k.platform.now.set(self.k.platform.now.get().max(at));
            self.k.platform.set_dl_timer(cpu, None);
            self.run(dl_timer(self.cpu(cpu.0)));
            self.settle();
        }
        self.k.platform.now.set(until);
    }

    /// Delivers interrupts and reschedules, lowest CPU first, until nothing is pending.
    pub fn settle(&self) {
        for _ in 0..10_000 {
            if let Some(cpu) = self.k.rqs().iter().position(|rq| rq.published.is_asked()) {
                self.run(schedule(self.cpu(cpu as u16), Entry::Preemption));
                continue;
            }
            // Tasks are always in user space here.
            let parks = |cpu: &u16| fair::parks_on_return(self.cpu(*cpu), self.running(*cpu));
            if let Some(cpu) = (0..self.k.cpus() as u16).find(parks) {
                self.run(schedule(self.cpu(cpu), Entry::Park));
                continue;
            }
            if let Some(cpu) = self.runs_stopper() {
                self.run(cpu_stopper_thread(self.cpu(cpu)));
                continue;
            }
            let sent = self.k.platform.ipis.borrow_mut().pop_front();
            let Some(sent) = sent else { return self.check() };
            self.deliver(sent);
        }
        panic!("the machine does not come to rest");
    }

    /// Every test runs under the invariants: nothing is under way or pending now.
    fn check(&self) {
        let mut past = self.past.borrow_mut();
        past.note(&self.k);
        assert_eq!(violations(&self.k, &self.k.online, &past), []);
    }

    /// Handles one interrupt.
    pub fn deliver(&self, sent: Sent) {
        self.run(self.handle(sent));
    }

    /// What the interrupted CPU does.
    pub async fn handle(&self, sent: Sent) {
        let me = self.cpu(sent.to.0);
        match sent.ipi {
            Ipi::Reschedule => {}
            Ipi::Wakeup => sched_ttwu_pending(me).await,
            Ipi::Push(source) => rt::push_irq_work(me, source).await,
            Ipi::Nohz | Ipi::NohzReschedule => fair::nohz_csd_func(me).await,
            Ipi::Unthrottle => fair::unthrottle_called(me).await,
            // The machine ticks, if anything does.
            Ipi::Tick => {}
            Ipi::Stop => {
                migration_cpu_stop(me).await;
            }
        }
    }

    /// The first interrupt on its way to a CPU.
    pub fn take_ipi(&self, to: CpuId) -> Option<Sent> {
        let mut ipis = self.k.platform.ipis.borrow_mut();
        let at = ipis.iter().position(|sent| sent.to == to)?;
        ipis.remove(at)
    }

    /// The task that `cpu` executes; the idle task of CPU n is `TaskId(n)`.
    pub fn running(&self, cpu: u16) -> TaskId {
        self.k.rq(CpuId(cpu)).published.curr.get()
    }

    /// Whether `cpu` executes its idle task.
    pub fn idle(&self, cpu: u16) -> bool {
        self.running(cpu) == TaskId(u32::from(cpu))
    }

    /// The CPU that `p` is assigned to.
    pub fn cpu_of(&self, p: TaskId) -> u16 {
        self.k.task(p).cpu.get().0
    }

    /// How often a decision fell for this reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.k.totals.decisions(reason)
    }

    /// How often a line of the kind was touched.
    pub fn lines_touched(&self, kind: impl Fn(Line) -> bool) -> usize {
        self.k.platform.lines.borrow().iter().filter(|line| kind(**line)).count()
    }

    /// Forgets the recorded events, locks and lines.
    pub fn forget(&self) {
        self.k.platform.events.borrow_mut().clear();
        self.k.platform.locks.borrow_mut().clear();
        self.k.platform.lines.borrow_mut().clear();
    }
}
