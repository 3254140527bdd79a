//! How virtual time passes for a path: costs are charged and add up as a *debt*, which is settled where other
//! CPUs may act. If nothing else happens before the settled time, the clock just advances.

use super::cpu::Mode;
use super::hw::Hw;
use super::pace::Fraction;
use scheduler::{CpuId, Nanos};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl Hw {
    /// The executing path has to wait for something, or lose the time: as long as it takes, at any speed.
    pub fn charge_ns(&self, cost: Nanos) {
        self.debt.set(self.debt.get() + cost);
    }

    /// The executing path has to do something that takes so long at full speed: it takes longer on a slow
    /// CPU, and beside a busy sibling.
    #[inline]
    pub fn charge_work(&self, work: Nanos) {
        self.charge_ns(self.paces.executing.get().time_for(work, Fraction::default()));
    }

    /// The executing path's time: the clock, and what it has been charged.
    pub fn local_now(&self) -> Nanos {
        self.now.get() + self.debt.get()
    }

    /// Lets the time that the path has been charged pass, if nothing else happens meanwhile. Whether no debt
    /// is left.
    #[inline]
    pub fn run_ahead(&self) -> bool {
        let then = self.local_now();
        if self.queue.next_time() > then {
            self.now.set(then);
            self.debt.set(Nanos::ZERO);
        }
        self.debt.get() == Nanos::ZERO
    }

    /// Waits for the time that the path has been charged.
    #[inline]
    pub fn settled(&self, me: CpuId) -> Settle<'_> {
        Settle { hw: self, me, waits: false }
    }

    /// Gives control back to the engine until this CPU's work slot fires (or, if interruptible, an interrupt
    /// comes).
    #[inline]
    pub fn suspend(&self, me: CpuId, meanwhile: Mode) -> Suspend<'_> {
        let mode = &self.cpus[me.index()].mode;
        mode.set(meanwhile);
        Suspend { mode, entered: false }
    }
}

// The innermost of all futures are written by hand: polling one is a few instructions within whoever awaits
// it.

/// Pending once; then the CPU is in a path again.
pub(crate) struct Suspend<'h> {
    mode: &'h Cell<Mode>,
    entered: bool,
}

impl Future for Suspend<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.entered, true) {
            self.mode.set(Mode::InPath);
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// The wait for the time that a path has been charged, interrupts off; none if it can pass at once.
pub(crate) struct Settle<'h> {
    hw: &'h Hw,
    me: CpuId,
    waits: bool,
}

impl Future for Settle<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.waits || self.hw.run_ahead() {
            return Poll::Ready(());
        }
        self.hw.queue.set(self.hw.work_slot(self.me), self.hw.local_now());
        self.hw.debt.set(Nanos::ZERO);
        self.waits = true;
        Poll::Pending
    }
}
