//! What a run starts with: the tasks, and the objects that they share.

use crate::behaviour::TaskSpec;
use crate::group::{GroupSpec, PartitionKind};
use crate::objects::{Backoff, BarrierId, ChannelId, ChannelSpec, DeviceId, DeviceSpec, FutexId, SpinlockId};
use crate::paths::WakePaths;
use crate::softirq::SoftirqSpec;
use crate::starvation::WaitTally;
use scheduler::mutex::MutexKind;
use scheduler::{CpuId, CpuMask, GroupId, MutexId, Nanos, Pid, Policy, TaskId};

/// Pid of the first task that a setup spawns; later ones count up.
pub const FIRST_PID: i32 = 1000;

/// Collects tasks and shared objects for one run; several loads may add to one setup.
#[derive(Debug)]
pub struct Setup {
    cpus: usize,
    pub(crate) tasks: Vec<Spawn>,
    pub(crate) mutexes: Vec<MutexSpec>,
    pub(crate) channels: Vec<ChannelSpec>,
    pub(crate) barriers: Vec<u32>,
    pub(crate) futexes: u32,
    pub(crate) spinlocks: Vec<Backoff>,
    pub(crate) devices: Vec<DeviceSpec>,
    pub(crate) groups: Vec<GroupSpec>,
    pub(crate) isolcpus: CpuMask,
    pub(crate) nohz_full: CpuMask,
    pub(crate) outside: Vec<Outside>,
    pub(crate) softirqs: Vec<SoftirqSpec>,
    pub(crate) waits: Option<WaitTally>,
    pub(crate) ticks_at: Vec<Option<Nanos>>,
    pub(crate) cpu_dma_latency_held: bool,
    pub(crate) kernel_threads_of: usize,
    pub(crate) looks: Vec<Nanos>,
    pub(crate) paths: Option<WakePaths>,
}

/// A task that exists from the start or appears at a time, as if forked by something outside the model.
#[derive(Debug)]
pub struct Spawn {
    /// When it becomes runnable for the first time.
    pub at: Nanos,
    /// Where it starts; `None`: the fork placement of the profile, seen from CPU 0.
    pub cpu: Option<CpuId>,
    /// Which one it is of the threads that its program starts one by one, from 0 on; `None`: nobody has to
    /// start it.
    pub thread: Option<u32>,
    /// What it is.
    pub spec: TaskSpec,
}

/// A named mutex.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MutexSpec {
    /// For messages about deadlocks.
    pub name: String,
    /// PI or plain.
    pub kind: MutexKind,
}

/// Somebody outside changes a task, or a task group, in the middle of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedChange {
    /// When.
    pub at: Nanos,
    /// What.
    pub change: OutsideChange,
}

/// What somebody outside changes. Nothing happens if the task is not there, or the group has no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideChange {
    /// The policy of a task, as `chrt -p` does.
    Policy {
        /// Which task.
        pid: Pid,
        /// The policy, not that of deadline tasks.
        policy: Policy,
    },
    /// The CPUs that a task may use, as `taskset -p` does.
    Cpus {
        /// Which task.
        pid: Pid,
        /// At least one that is there, and in its cpuset.
        cpus: CpuMask,
    },
    /// The limit of a group that has one (cpu.max, cpu.max.burst); its period stays.
    Limit {
        /// Which group.
        group: GroupId,
        /// CPU time in each period.
        quota: Nanos,
        /// How much more the pool may hold of what was not used.
        burst: Nanos,
    },
    /// What the real-time tasks of a group may use of each CPU (cpu.rt_runtime_us), where the kernel has
    /// groups of them; its period stays.
    RtRuntime {
        /// Which group.
        group: GroupId,
        /// In each period; `None`: all of it. Zero is refused, as where there are real-time tasks.
        runtime: Option<Nanos>,
    },
    /// Somebody opens /dev/cpu_dma_latency and writes this into it: from then on idle CPUs enter no state
    /// that takes longer to leave, on machines whose file has idle states (machine.md 5.4).
    CpuDmaLatency {
        /// Longer nobody wants to wait.
        limit: Nanos,
    },
}

/// A message from outside the model (a device, the network, a user, a timer of the kernel's own): an
/// interrupt that sends on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// When the interrupt fires; for [`Arrival::Tick`] see there.
    pub at: Nanos,
    /// Which interrupt it is.
    pub by: Arrival,
    /// Which CPU takes it; `None`: the CPU on which the receiver last ran.
    pub cpu: Option<CpuId>,
    /// Where the message goes. A full channel loses it; the run counts that.
    pub channel: ChannelId,
    /// It comes again after each such time, to the end of the run; `None`: once.
    pub every: Option<Nanos>,
}

/// The interrupt that brings a message from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arrival {
    /// One of its own.
    #[default]
    Own,
    /// The tick of its CPU that lies nearest to its time, after the tick has done its work: timers of the
    /// timer wheel expire there, in the soft interrupt that the tick raises (machine.md 2.3). An idle CPU
    /// takes that tick, too.
    Tick,
}

impl Setup {
    /// For a machine with this many CPUs.
    pub fn new(cpus: usize) -> Setup {
        Setup {
            cpus,
            tasks: Vec::new(),
            mutexes: Vec::new(),
            channels: Vec::new(),
            barriers: Vec::new(),
            futexes: 0,
            spinlocks: Vec::new(),
            devices: Vec::new(),
            groups: Vec::new(),
            isolcpus: CpuMask::EMPTY,
            nohz_full: CpuMask::EMPTY,
            outside: Vec::new(),
            softirqs: Vec::new(),
            waits: None,
            ticks_at: Vec::new(),
            cpu_dma_latency_held: false,
            kernel_threads_of: 0,
            looks: Vec::new(),
            paths: None,
        }
    }

    /// Number of CPUs of the machine.
    pub fn cpus(&self) -> usize {
        self.cpus
    }

    /// Adds a task that becomes runnable at `at`, and says which id and pid it will have.
    pub fn spawn(&mut self, at: Nanos, spec: TaskSpec) -> (TaskId, Pid) {
        self.spawn_on(at, None, spec)
    }

    /// As [`Setup::spawn`], starting on a given CPU.
    pub fn spawn_on(&mut self, at: Nanos, cpu: Option<CpuId>, spec: TaskSpec) -> (TaskId, Pid) {
        self.add(Spawn { at, cpu, thread: None, spec })
    }

    /// Adds thread `number` of a program that starts its threads one by one from the start of the run on,
    /// as slowly as the machine says ([`crate::Noise::thread_start`]). The threads are added in this order,
    /// nothing in between.
    pub fn spawn_thread(&mut self, number: u32, spec: TaskSpec) -> (TaskId, Pid) {
        self.add(Spawn { at: Nanos::ZERO, cpu: None, thread: Some(number), spec })
    }

    fn add(&mut self, spawn: Spawn) -> (TaskId, Pid) {
        let number = self.tasks.len();
        self.tasks.push(spawn);
        // The idle tasks have the first ids.
        (TaskId((self.cpus + number) as u32), Pid(FIRST_PID + number as i32))
    }

    /// The tasks in the order of their ids, for an engine other than this crate's (tests of loads walk them).
    pub fn into_tasks(self) -> Vec<Spawn> {
        self.tasks
    }

    /// A new mutex; the name appears in messages.
    pub fn mutex(&mut self, name: impl Into<String>, kind: MutexKind) -> MutexId {
        self.mutexes.push(MutexSpec { name: name.into(), kind });
        MutexId(self.mutexes.len() as u32 - 1)
    }

    /// A new channel.
    pub fn channel(&mut self, spec: ChannelSpec) -> ChannelId {
        self.channels.push(spec);
        ChannelId(self.channels.len() as u32 - 1)
    }

    /// A new barrier that opens when `parties` tasks wait at it.
    pub fn barrier(&mut self, parties: u32) -> BarrierId {
        self.barriers.push(parties);
        BarrierId(self.barriers.len() as u32 - 1)
    }

    /// A new futex.
    pub fn futex(&mut self) -> FutexId {
        self.futexes += 1;
        FutexId(self.futexes - 1)
    }

    /// A new user-space spinlock, and what a task does that has spun in vain.
    pub fn spinlock(&mut self, backoff: Backoff) -> SpinlockId {
        self.spinlocks.push(backoff);
        SpinlockId(self.spinlocks.len() as u32 - 1)
    }

    /// A new device.
    pub fn device(&mut self, spec: DeviceSpec) -> DeviceId {
        self.devices.push(spec);
        DeviceId(self.devices.len() as u32 - 1)
    }

    /// A new task group. Its parent has to be there before it.
    pub fn group(&mut self, spec: GroupSpec) -> GroupId {
        self.groups.push(spec);
        // The root is the first of the table.
        GroupId(self.groups.len() as u32)
    }

    /// Keeps these CPUs out of all sched domains from the start (isolcpus=): tasks get there by asking only.
    pub fn isolate(&mut self, cpus: CpuMask) {
        self.isolcpus = cpus;
    }

    /// Lets these CPUs stop their tick beside a single task, and keeps timers and kernel threads away that
    /// need not be there (nohz_full=; deadline-groups B10).
    pub fn nohz_full(&mut self, cpus: CpuMask) {
        self.nohz_full = cpus;
    }

    /// The groups so far, in the order of their ids.
    pub fn groups(&self) -> &[GroupSpec] {
        &self.groups
    }

    /// Changes the groups so far.
    pub fn change_groups(&mut self, change: impl FnMut(&mut GroupSpec)) {
        self.groups.iter_mut().for_each(change);
    }

    /// Whether partitions divide the machine.
    pub fn is_divided(&self) -> bool {
        self.groups.iter().any(|group| group.partition != PartitionKind::Member)
    }

    /// The group of this path, if it is there.
    pub fn find_group(&self, path: &str) -> Option<GroupId> {
        let index = self.groups.iter().position(|group| group.name == path)?;
        Some(GroupId(index as u32 + 1))
    }

    /// Number of tasks that were spawned.
    pub fn spawned(&self) -> usize {
        self.tasks.len()
    }

    /// Makes other tasks of those that were spawned after the first `from`, each with its pid.
    pub fn change_tasks(&mut self, from: usize, mut change: impl FnMut(Pid, TaskSpec) -> TaskSpec) {
        let later = self.tasks.split_off(from);
        for spawn in later {
            let pid = Pid(FIRST_PID + self.tasks.len() as i32);
            self.tasks.push(Spawn { spec: change(pid, spawn.spec), ..spawn });
        }
    }

    /// A task holds /dev/cpu_dma_latency at 0 for the whole run, as cyclictest does: idle CPUs do not halt,
    /// so the machine's `idle_exit` is not paid.
    pub fn hold_cpu_dma_latency(&mut self) {
        self.cpu_dma_latency_held = true;
    }

    /// The load brings the background kernel threads of the first `cpus` CPUs itself, and those that belong
    /// to no CPU: of those of the machine file only the other CPUs' are there.
    pub fn bring_kernel_threads(&mut self, cpus: usize) {
        self.kernel_threads_of = self.kernel_threads_of.max(cpus);
    }

    /// The ways from wakeups to the woken tasks take these times, where the machine's primitive costs come to
    /// less. Wakeup latencies count from the event from which these times do.
    pub fn take_paths(&mut self, paths: WakePaths) {
        self.paths = Some(paths);
    }

    /// [`crate::Machine::run_until`] is to ask at exactly this time whether the run is over, whatever else
    /// happens then.
    pub fn look_at(&mut self, time: Nanos) {
        self.looks.push(time);
    }

    /// A tick of `cpu` lies at `time`, and the others whole periods before and after. Without it, CPU i's
    /// ticks are shifted by i · (period/2) / CPUs that the kernel was built for, from the beginning of the
    /// run on (fair-class 2.7).
    pub fn tick_at(&mut self, cpu: CpuId, time: Nanos) {
        self.ticks_at.resize(self.ticks_at.len().max(cpu.index() + 1), None);
        self.ticks_at[cpu.index()] = Some(time);
    }

    /// A timer that raises soft interrupts. One of a CPU that the machine does not have never expires.
    pub fn softirq(&mut self, spec: SoftirqSpec) {
        self.softirqs.push(spec);
    }

    /// Counts the waits of all real-time tasks of the run, for whoever asks.
    pub fn watch_waits(&mut self) -> WaitTally {
        self.waits.get_or_insert_default().clone()
    }

    /// A message from outside the model.
    pub fn outside(&mut self, message: Outside) {
        self.outside.push(message);
    }
}
