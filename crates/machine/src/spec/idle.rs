//! How an idle CPU waits (machine.md 5.5).

use super::error::SpecError;
use super::origin::Origin;
use super::parse::read_origin;
use super::reader::Field;

/// What the idle loop of a machine does until there is work (machine.md 5.5): decides whether another CPU
/// has to send an interrupt, and whether there is a state to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IdleMonitor {
    /// Looks at the flag all the time: neither an interrupt nor `idle_exit`.
    Poll,
    /// Sleeps until somebody writes the flag: `idle_exit`, and no interrupt.
    Mwait,
    /// Halts: an interrupt, and `idle_exit`.
    #[default]
    Hlt,
}

impl IdleMonitor {
    /// Every kind.
    pub const ALL: [IdleMonitor; 3] = [IdleMonitor::Poll, IdleMonitor::Mwait, IdleMonitor::Hlt];

    /// The word for it in a machine file.
    pub const fn name(self) -> &'static str {
        match self {
            IdleMonitor::Poll => "poll",
            IdleMonitor::Mwait => "mwait",
            IdleMonitor::Hlt => "hlt",
        }
    }

    /// By its word.
    pub(super) fn read(field: &Field<'_>) -> Result<IdleMonitor, SpecError> {
        let word = field.text()?;
        let named = IdleMonitor::ALL.into_iter().find(|kind| kind.name() == word);
        named.ok_or_else(|| field.error("is no way to wait", "write poll, mwait or hlt"))
    }

    /// A write to the need-resched flag of a CPU that waits so is enough to wake it (rt-class 3.4).
    pub(crate) fn sees_writes(self) -> bool {
        self != IdleMonitor::Hlt
    }

    /// A CPU that waits so has a state to leave first.
    pub(crate) fn sleeps(self) -> bool {
        self != IdleMonitor::Poll
    }
}

/// `{ by = "mwait", origin = "…" }`.
pub(super) fn read_idle_monitor(
    field: &Field<'_>,
    origins: &mut Vec<Origin>,
) -> Result<IdleMonitor, SpecError> {
    let table = field.table(&["by", "origin"])?;
    let monitor = IdleMonitor::read(&table.required("by")?)?;
    origins.push(read_origin(&table, monitor.name().into())?);
    Ok(monitor)
}
