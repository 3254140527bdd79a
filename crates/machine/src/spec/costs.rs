//! What primitive pieces of work cost on a machine.

use scheduler::Nanos;

/// A cost in the machine file, for listings and messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CostInfo {
    /// Its key below `[costs]`.
    pub name: &'static str,
    /// What it covers.
    pub meaning: &'static str,
}

/// A line for each cost: field (also its key in the file) and meaning; first those that are one figure, then
/// those that depend on how far apart two CPUs are.
macro_rules! costs {
    ($($name:ident $meaning:literal;)+ => $($line:ident $line_meaning:literal;)+) => {
        /// The time that primitive pieces of work take, cache lines at hand unless said otherwise.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub struct Costs {
            $(#[doc = $meaning] pub $name: Nanos,)+
            $(#[doc = $line_meaning] pub $line: ByDistance,)+
            /// Each further CPU that spins on a ticket lock makes its hand-over this much dearer, in percent
            /// of the line transfer (rt-class 10.5: 30).
            pub ticket_spinner_percent: u32,
            /// How much of an interrupt's way to another CPU that one spends without executing, in percent: a
            /// hypervisor takes the CPU from its guest to tell it of the interrupt (machine.md 5.6). On bare
            /// metal 0.
            pub ipi_stolen_percent: u32,
        }

        impl Costs {
            /// Every cost that is one figure.
            pub const FIXED: &[CostInfo] = &[$(CostInfo { name: stringify!($name), meaning: $meaning },)+];
            /// Every cost that depends on distance.
            pub const BY_DISTANCE: &[CostInfo] =
                &[$(CostInfo { name: stringify!($line), meaning: $line_meaning },)+];

            pub(super) fn fixed_mut(&mut self, name: &str) -> Option<&mut Nanos> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }

            pub(super) fn by_distance_mut(&mut self, name: &str) -> Option<&mut ByDistance> {
                match name {
                    $(stringify!($line) => Some(&mut self.$line),)+
                    _ => None,
                }
            }
        }
    };
}

costs! {
    schedule "Fixed part of schedule(): entry, bookkeeping, picking the next task.";
    context_switch "Switching to another task: registers, stack, address space.";
    enqueue "Inserting a task into a run queue.";
    dequeue "Removing a task from a run queue.";
    wakeup "Fixed part of a wakeup, before and after the insertion.";
    tick "Fixed part of the scheduler's tick, beyond the interrupt itself.";
    scan_cpu "Looking at one CPU while searching or balancing, beyond its cache line.";
    scan_task "Looking at one task while balancing or scanning a queue.";
    set_prio "Changing a task's priority, inheritance included.";
    irq_entry "From the arrival of an interrupt to the first line of its handler.";
    irq_exit "From the last line of an interrupt handler to the interrupted code.";
    timer_expiry
        "From the entry of the timer interrupt to the wakeup call: reading the clock, taking the timer off \
         its queue.";
    syscall "Entry and exit of a system call that does nothing.";
    timer_program
        "Programming the hardware for another timer: when a task arms the earliest one, and once at the end \
         of each timer interrupt.";
    fork "fork(2) in the parent: copying the task and its address space.";
    thread_create "clone(2) of a thread in the parent.";
    exec "execve(2), until the new program's first instruction.";
    exit "exit(2) of a process, its address space included.";
    thread_exit "exit(2) of a thread whose process lives on.";
    wait "wait(2) that finds a child which has exited.";
    lock_uncontended "Taking and releasing a free spinlock whose line this CPU owns.";
    ipi_send "What sending an interrupt costs its sender, before the interrupt is under way.";
    idle_exit
        "Leaving the idle state, from the interrupt's arrival to its entry; nothing where idle polls \
         (/dev/cpu_dma_latency held at 0, as cyclictest does).";
    =>
    ipi "From the end of ipi_send to the arrival of the interrupt at the other CPU.";
    line "Fetching a cache line that the other CPU modified.";
}

/// How far apart two CPUs are, nearest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Distance {
    /// The same CPU.
    Own,
    /// Hardware threads of one core.
    Smt,
    /// Cores that share a cache.
    SharedCache,
    /// Cores of one node (package) that share no cache.
    SameNode,
    /// CPUs of different nodes.
    OtherNode,
}

impl Distance {
    /// Every distance, nearest first.
    pub const ALL: [Distance; 5] =
        [Distance::Own, Distance::Smt, Distance::SharedCache, Distance::SameNode, Distance::OtherNode];

    /// Its key in a machine file.
    pub const fn name(self) -> &'static str {
        match self {
            Distance::Own => "own",
            Distance::Smt => "smt",
            Distance::SharedCache => "shared_cache",
            Distance::SameNode => "same_node",
            Distance::OtherNode => "other_node",
        }
    }
}

/// A time for each distance between two CPUs. Distances that the machine does not have are zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ByDistance {
    /// The same CPU.
    pub own: Nanos,
    /// Hardware threads of one core.
    pub smt: Nanos,
    /// Cores that share a cache.
    pub shared_cache: Nanos,
    /// Cores of one node (package) that share no cache.
    pub same_node: Nanos,
    /// CPUs of different nodes.
    pub other_node: Nanos,
}

impl ByDistance {
    /// The time at a distance.
    #[inline]
    pub const fn at(&self, distance: Distance) -> Nanos {
        match distance {
            Distance::Own => self.own,
            Distance::Smt => self.smt,
            Distance::SharedCache => self.shared_cache,
            Distance::SameNode => self.same_node,
            Distance::OtherNode => self.other_node,
        }
    }

    pub(super) fn at_mut(&mut self, distance: Distance) -> &mut Nanos {
        match distance {
            Distance::Own => &mut self.own,
            Distance::Smt => &mut self.smt,
            Distance::SharedCache => &mut self.shared_cache,
            Distance::SameNode => &mut self.same_node,
            Distance::OtherNode => &mut self.other_node,
        }
    }
}
