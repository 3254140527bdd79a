//! The soft interrupt: what interrupts leave to be done on their way out (deadline-groups D2).
//!
//! It works on its list with interrupts on, so that others come in between and stretch it; but on behalf of
//! nobody, so that whoever runs on the CPU stands still and no request to reschedule is looked at until it
//! ends. A pass takes the whole list as it is; what has been put into it meanwhile gets another pass, unless
//! somebody asks to run, or the soft interrupt has gone on for long. The rest is left to a thread of the CPU,
//! ksoftirqd, which competes with all others ([`super::cpu_threads`]); and to the CPU's next interrupt, if
//! that comes first.

use super::interrupts::FROM_INTERRUPT;
use super::sim::Sim;
use crate::engine::hardware::{Hw, Mode, SoftWork, Softirq};
use crate::engine::userland::Length;
use crate::softirq::{Piece, Visits};
use scheduler::fair::run_rebalance_domains;
use scheduler::wakeup::try_to_wake_up;
use scheduler::{CpuId, Nanos, ThisCpu};
use schema::LogEvent;

/// Passes in a row.
const MOST_PASSES: u32 = 10;

/// After this time no further pass begins: in jiffies, of which one may be over at once.
const MOST_TIME: Nanos = Nanos::from_millis(2);

impl Sim {
    /// Puts work into the list. Balancing that waits there already is the same, and callbacks are.
    pub fn raise_softirq(&self, cpu: CpuId, work: SoftWork) {
        let hw = self.hw().cpu(cpu);
        let mut list = hw.softirq_list.borrow_mut();
        if matches!(work, SoftWork::Balance(_) | SoftWork::Callbacks) && list.contains(&work) {
            return;
        }
        list.push_back(work);
        if hw.softirq.get() != Softirq::Running {
            hw.softirq.set(Softirq::Raised);
        }
    }

    /// Works on the list.
    pub async fn softirq(&self, me: ThisCpu<'_, Hw>) {
        let cpu = self.hw().cpu(me.id);
        self.measure_interrupts(me.id, false);
        cpu.softirq.set(Softirq::Running);
        self.hw().note_detail(me.id, || LogEvent::SoftirqEntry {});
        let began = self.hw().local_now();
        let end = self.jiffies(began) + self.in_jiffies(MOST_TIME);
        for _ in 0..MOST_PASSES {
            let listed = cpu.softirq_list.borrow().len();
            for _ in 0..listed {
                let next = cpu.softirq_list.borrow_mut().pop_front();
                let Some(work) = next else { break };
                self.softirq_work(me, work, began).await;
            }
            let is_long = self.jiffies(self.hw().local_now()) >= end;
            if cpu.softirq_list.borrow().is_empty() || is_long || me.k.rq(me.id).published.is_asked() {
                break;
            }
        }
        self.hw().note_detail(me.id, || LogEvent::SoftirqExit {});
        self.measure_interrupts(me.id, true);
        let is_done = cpu.softirq_list.borrow().is_empty();
        cpu.softirq.set(if is_done { Softirq::Empty } else { Softirq::Raised });
        if !is_done {
            self.wake_ksoftirqd(me).await;
        }
    }

    /// One piece of it, in a round that began then.
    async fn softirq_work(&self, me: ThisCpu<'_, Hw>, work: SoftWork, began: Nanos) {
        match work {
            SoftWork::Timer(task) => {
                self.hw().charge_work(self.hw().spec.costs.timer_expiry);
                try_to_wake_up(me, task, FROM_INTERRUPT).await;
            }
            SoftWork::Message(message) => self.message_from_outside(me, message).await,
            SoftWork::Balance(balancing) => run_rebalance_domains(me, balancing).await,
            SoftWork::Tasklet(timer) => {
                let begins = self.hw().local_now();
                let spec = &self.surroundings.softirqs[timer as usize];
                let visits = self.executes_in_softirq(me, spec.work).await;
                let ended = self.hw().local_now();
                spec.tally.done(Piece { pass_began: began, began: begins, ended, visits });
            }
            SoftWork::Callbacks => self.calls_back(me).await,
        }
    }

    /// Executes that much, and serves the interrupts that come. Those that asked it to push.
    pub(super) async fn executes_in_softirq(&self, me: ThisCpu<'_, Hw>, work: Nanos) -> Visits {
        let cpu = self.hw().cpu(me.id);
        let (mut left, mut visits) = (work, Visits::default());
        while left > Nanos::ZERO {
            let run = self.begin(me, Length::Work(left));
            if !run.is_over {
                self.hw().suspend(me.id, Mode::Interruptible).await;
            }
            left = left.saturating_sub(self.book(me, run));
            while !cpu.pending.borrow().is_empty() {
                let (pushes, from) = (cpu.push_ipis_received.get(), self.hw().local_now());
                self.interrupts(me).await;
                let number = cpu.push_ipis_received.get() - pushes;
                if number > 0 {
                    visits.number += number;
                    visits.took += self.hw().local_now().saturating_sub(from);
                }
            }
        }
        visits
    }
}
