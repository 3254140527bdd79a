//! Names of interrupts.

use schema::{LogInterrupt, LogIpi};

/// In a word or two; of an IPI what it asks for.
#[cfg(feature = "page")]
pub(crate) fn name(irq: LogInterrupt) -> &'static str {
    match irq {
        LogInterrupt::Ipi { ipi } => ipi_name(ipi),
        LogInterrupt::Polled { .. } => "noticed without IPI",
        other => kind(other),
    }
}

/// In a word or two; IPIs are one kind, but for those that push, which rt-class tells apart.
pub(crate) fn kind(irq: LogInterrupt) -> &'static str {
    match irq {
        LogInterrupt::Timer { .. } => "timer",
        LogInterrupt::Tick {} => "tick",
        LogInterrupt::Hrtick {} => "hrtick",
        LogInterrupt::Deadline {} => "deadline timer",
        LogInterrupt::RtPeriod {} => "RT period",
        LogInterrupt::Ipi { ipi } | LogInterrupt::Polled { ipi } => match ipi {
            LogIpi::Push { .. } => "push IPI",
            _ => "IPI",
        },
        LogInterrupt::Start { .. } => "start",
        LogInterrupt::Message { .. } => "message",
        LogInterrupt::Device { .. } => "device",
        LogInterrupt::Settings {} => "settings",
        LogInterrupt::SoftirqTimer { .. } => "softirq timer",
        LogInterrupt::IrqsOff { .. } => "noise",
    }
}

#[cfg(feature = "page")]
fn ipi_name(ipi: LogIpi) -> &'static str {
    match ipi {
        LogIpi::Reschedule {} => "reschedule IPI",
        LogIpi::Wakeup {} => "wakeup IPI",
        LogIpi::Push { .. } => "push IPI",
        LogIpi::Nohz {} => "balancing IPI",
        LogIpi::Unthrottle {} => "unthrottling IPI",
        LogIpi::Tick {} => "tick IPI",
        LogIpi::Stop {} => "stopper IPI",
    }
}

/// As a part of a sentence, with whose it is.
#[cfg(feature = "text")]
pub(crate) fn in_words(irq: LogInterrupt) -> String {
    match irq {
        LogInterrupt::Timer { pid } => format!("the timer of {pid}"),
        LogInterrupt::Tick {} => "a tick".to_owned(),
        LogInterrupt::Hrtick {} => "HRTICK".to_owned(),
        LogInterrupt::Deadline {} => "the deadline timer".to_owned(),
        LogInterrupt::RtPeriod {} => "the real-time period".to_owned(),
        LogInterrupt::Ipi { ipi } | LogInterrupt::Polled { ipi } => ipi_in_words(ipi).to_owned(),
        LogInterrupt::Start { .. } => "a task that starts".to_owned(),
        LogInterrupt::Message { channel } => format!("a message for channel {channel}"),
        LogInterrupt::Device { channel } => format!("a device for channel {channel}"),
        LogInterrupt::Settings {} => "a change of settings".to_owned(),
        LogInterrupt::SoftirqTimer { .. } => "a timer for the soft interrupt".to_owned(),
        LogInterrupt::IrqsOff { .. } => "the machine's noise".to_owned(),
    }
}

#[cfg(feature = "text")]
fn ipi_in_words(ipi: LogIpi) -> &'static str {
    match ipi {
        LogIpi::Reschedule {} => "an IPI to reschedule",
        LogIpi::Wakeup {} => "an IPI to wake tasks",
        LogIpi::Push { .. } => "an IPI to push tasks",
        LogIpi::Nohz {} => "an IPI to balance",
        LogIpi::Unthrottle {} => "an IPI to unthrottle",
        LogIpi::Tick {} => "an IPI to tick again",
        LogIpi::Stop {} => "an IPI to move a task",
    }
}
