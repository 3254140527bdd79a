//! What fires: the sources of events that own the slots of the queue.

use crate::objects::ChannelId;
use scheduler::platform::Ipi;
use scheduler::{CpuId, Nanos, TaskId};

/// Something that fires once, not owned by a CPU or a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OneShot {
    /// An inter-processor interrupt arrives, and so much of its way takes the CPU from its guest.
    Ipi { to: CpuId, ipi: Ipi, stolen: Nanos },
    /// The same for a CPU whose idle loop polls: it notices by itself, without an interrupt.
    Notice { to: CpuId, ipi: Ipi },
    /// The real-time period timer; one for the machine, on CPU 0.
    RtPeriod { cpu: CpuId },
    /// A scheduled change of the settings, by index.
    Setting(u32),
    /// Random numbers come from another seed, by index.
    Redraw(u32),
    /// Somebody outside changes a task or a group, by index.
    Change(u32),
    /// A message from outside arrives, by index.
    Outside(u32),
    /// A timer expires that raises a soft interrupt, by index.
    Softirq(u32),
    /// A device has served a request and reports so on this channel.
    Served(ChannelId),
    /// A snapshot is to be taken.
    Snapshot,
    /// The stretch that is measured begins.
    WindowBegins,
    /// It ends.
    WindowEnds,
    /// The run ends, or may end; keeps paths from running ahead of it.
    End,
}

/// What a slot of the event queue stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// A CPU goes on with what it does.
    Work(CpuId),
    /// A CPU's tick.
    Tick(CpuId),
    /// A CPU's timer that ends a fair task's turn.
    Hrtick(CpuId),
    /// A CPU's timer for deadline entities.
    Deadline(CpuId),
    /// A stretch with interrupts off begins on a CPU; the source is an index into the machine's noise.
    IrqOff { cpu: CpuId, source: u32 },
    /// A task's timer; that of a new task says when it appears.
    Timer(TaskId),
    /// A one-shot event, by its place among those; the slot is free again afterwards.
    OneShot(u32),
}

// It is looked up in each event, and has to fit into a register.
const _: () = assert!(size_of::<Source>() <= 8);
