//! Interrupts and softirqs that a CPU serves.

use crate::activity::{Activity, IrqVectorKind, SoftirqVec};
use crate::strings::{StrId, Strings};
use schema::why::{Handler, HandlerContext};

/// What serves an interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handled {
    Device { irq: i32, name: StrId },
    Vector(IrqVectorKind),
    Softirq(SoftirqVec),
}

impl Handled {
    /// What begins with an event.
    pub fn begins(activity: &Activity) -> Option<Handled> {
        match activity {
            Activity::IrqHandlerEntry(entry) => Some(Handled::Device { irq: entry.irq, name: entry.name }),
            Activity::IrqVectorEntry(vector) => Some(Handled::Vector(vector.kind)),
            Activity::SoftirqEntry(vec) => Some(Handled::Softirq(*vec)),
            _ => None,
        }
    }

    /// Whether it ends with this event.
    pub fn ends_with(self, activity: &Activity) -> bool {
        match (self, activity) {
            (Handled::Device { irq, .. }, Activity::IrqHandlerExit(exit)) => irq == exit.irq,
            (Handled::Vector(kind), Activity::IrqVectorExit(vector)) => kind == vector.kind,
            (Handled::Softirq(vec), Activity::SoftirqExit(exit)) => vec == *exit,
            _ => false,
        }
    }

    /// As the kernel names it.
    pub fn named(self, strings: &Strings) -> Handler {
        let (context, name) = match self {
            Handled::Device { irq, name } => {
                (HandlerContext::Hardirq, format!("{}, irq {irq}", &strings[name]))
            }
            Handled::Vector(kind) => (HandlerContext::Hardirq, vector(kind).to_owned()),
            Handled::Softirq(vec) => (HandlerContext::Softirq, vec.action().to_owned()),
        };
        Handler { context, name: name.into() }
    }
}

/// The tracepoint's name without its end.
fn vector(kind: IrqVectorKind) -> &'static str {
    match kind {
        IrqVectorKind::LocalTimer => "local_timer",
        IrqVectorKind::Reschedule => "reschedule",
        IrqVectorKind::CallFunction => "call_function",
        IrqVectorKind::CallFunctionSingle => "call_function_single",
        IrqVectorKind::IrqWork => "irq_work",
    }
}
