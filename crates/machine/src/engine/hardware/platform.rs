//! The scheduler's [`Platform`]: the hardware as kernel paths see it.
//!
//! One path is executed at a time. Its debt is settled before it takes a run-queue lock.

use super::cpu::Mode;
use super::hw::Hw;
use super::idle::IdleCpus;
use super::locks::{Attempt, HandOver};
use super::pace::Fraction;
use super::source::{OneShot, Source};
use scheduler::frequency::FrequencyDomain;
use scheduler::platform::{Access, Cost, Ipi, Line, Lock, Platform};
use scheduler::{CpuId, Event, Nanos, TaskId, ThisCpu};
use std::future::Future;

impl Hw {
    #[inline]
    fn take_if_free(&self, me: CpuId, lock: Lock) -> bool {
        let taken = self.locks.with(lock, |l, timing| l.try_acquire(me, self.local_now(), timing));
        taken.inspect(|cost| self.charge_ns(*cost)).is_some()
    }

    /// Who spun for a lock has it.
    #[inline(never)]
    fn goes_on(&self, HandOver { to, at }: HandOver) {
        self.queue.set(self.work_slot(to), at);
        self.cpus[to.index()].mode.set(Mode::InPath);
    }

    /// Pays for looking at these CPUs one by one.
    #[inline(never)]
    fn scan_lines(&self, me: CpuId, cpus: impl Iterator<Item = CpuId>) {
        let (now, transfers) = (self.now.get(), &self.locks.timing.transfers);
        let each = self.paces.executing.get().time_for(self.spec.costs.scan_cpu, Fraction::default());
        let mut debt = self.debt.get();
        for cpu in cpus {
            debt += each;
            debt += self.lines.look(me, now + debt, cpu, transfers);
        }
        self.debt.set(debt);
    }
}

/// How long a busy-wait looks away between two looks.
const RELAX: Nanos = Nanos(50);

/// From one tick to the next at the lowest HZ that is built.
const LONGEST_TICK: Nanos = Nanos::from_millis(10);

impl Platform for Hw {
    #[inline]
    fn now(&self) -> Nanos {
        self.local_now()
    }

    #[inline]
    fn interrupt_time(&self, cpu: CpuId) -> Nanos {
        self.cpus[cpu.index()].interrupt_time.get()
    }

    #[inline]
    fn settle(&self, me: CpuId) -> impl Future<Output = ()> {
        self.settled(me)
    }

    // The order in which CPUs reach a run queue is part of the behaviour; the small locks are taken in
    // passing.

    #[inline]
    fn acquire_at_once(&self, me: CpuId, lock: Lock) -> bool {
        (!matches!(lock, Lock::Rq(_)) || self.run_ahead()) && self.take_if_free(me, lock)
    }

    #[inline]
    fn try_acquire_at_once(&self, me: CpuId, lock: Lock) -> Option<bool> {
        self.run_ahead().then(|| self.take_if_free(me, lock))
    }

    async fn acquire(&self, me: CpuId, lock: Lock) {
        if matches!(lock, Lock::Rq(_)) {
            self.settle(me).await;
        }
        let since = self.local_now();
        let holds_own = lock != Lock::Rq(me) && self.locks.rq(me).borrow().is_held_by(me);
        let (ahead, attempt) =
            self.locks.with(lock, |l, timing| (l.ahead(since), l.acquire(me, since, holds_own, timing)));
        match attempt {
            Attempt::Taken { cost } => self.charge_ns(cost),
            Attempt::TakenAt(at) => {
                self.charge_ns(at.saturating_sub(self.local_now()));
                self.settle(me).await;
                self.waited(me, lock, since, ahead);
            }
            Attempt::Queued => {
                // What was charged passes while it spins.
                self.debt.set(Nanos::ZERO);
                self.suspend(me, Mode::Spinning).await;
                self.waited(me, lock, since, ahead);
            }
        }
    }

    async fn try_acquire(&self, me: CpuId, lock: Lock) -> bool {
        self.settle(me).await;
        self.take_if_free(me, lock)
    }

    #[inline]
    fn release(&self, _me: CpuId, lock: Lock) {
        if let Some(next) = self.locks.with(lock, |l, timing| l.release(self.local_now(), timing)) {
            self.goes_on(next);
        }
    }

    async fn relax(&self, me: CpuId) {
        self.charge_ns(RELAX);
        // Through the queue even if nothing else is due: the CPU that is waited for may be about to act at
        // this time.
        let then = self.local_now();
        self.debt.set(Nanos::ZERO);
        self.queue.set(self.work_slot(me), then);
        self.suspend(me, Mode::InPath).await;
    }

    fn look_again(&self, me: ThisCpu<'_, Hw>, spinner: TaskId) {
        let at = me.task(spinner).cpu.get();
        let there = &self.cpus[at.index()];
        // A CPU that serves an interrupt, or has another task by now, looks by itself.
        if me.k.rq(at).published.curr.get() == spinner && there.mode.get() == Mode::Interruptible {
            let noticed = self.local_now() + self.locks.timing.transfers.get(me.id, at);
            self.queue.set_earlier(self.work_slot(at), noticed.max(there.ready_at.get()));
        }
    }

    #[inline]
    fn charge(&self, cost: Cost) {
        let c = &self.spec.costs;
        self.charge_work(match cost {
            Cost::Schedule => c.schedule,
            Cost::ContextSwitch => c.context_switch,
            Cost::Enqueue => c.enqueue,
            Cost::Dequeue => c.dequeue,
            Cost::Wakeup => c.wakeup,
            Cost::Tick => c.tick,
            Cost::ScanCpu => c.scan_cpu,
            Cost::ScanTask => c.scan_task,
            Cost::SetPrio => c.set_prio,
        });
    }

    #[inline(always)]
    fn touch(&self, me: CpuId, line: Line, access: Access) {
        let now = self.local_now();
        let cost = self.lines.touch(me, now, line, access, &self.locks.timing.transfers);
        self.charge_ns(cost);
    }

    #[inline]
    fn scan(&self, me: CpuId, cpus: impl Iterator<Item = CpuId>) {
        if self.spec.costs.scan_cpu > Nanos::ZERO || !self.locks.timing.transfers.are_free {
            self.scan_lines(me, cpus);
        }
    }

    fn send_ipi(&self, from: CpuId, to: CpuId, ipi: Ipi) {
        // The flag that goes with it is also seen after a stretch of noise, should one begin on the way.
        self.catch_up(to);
        if let Some(watch) = self.watch() {
            watch.checker.borrow_mut().ipi_sent(to, ipi);
        }
        if matches!(ipi, Ipi::Reschedule | Ipi::Wakeup | Ipi::Nohz | Ipi::Unthrottle)
            && self.cpus[to.index()].polling.get()
        {
            let noticed = self.local_now() + self.locks.timing.transfers.get(from, to);
            let polled = &self.cpus[to.index()].polled;
            polled.set(polled.get() + 1);
            self.note_polled(from, to, ipi, noticed);
            return self.at(noticed, OneShot::Notice { to, ipi });
        }
        if self.watch().is_some() {
            self.wakes_without_interrupt(to, ipi);
        }
        let sent = &self.cpus[from.index()].ipis_sent;
        sent.set(sent.get() + 1);
        self.charge_work(self.spec.costs.ipi_send);
        let latency = self.spec.costs.ipi.at(self.spec.distance(from, to));
        let stolen = Nanos(latency.0 * u64::from(self.spec.costs.ipi_stolen_percent) / 100);
        let arrives = self.local_now() + latency;
        self.note_sent(from, to, ipi, arrives);
        self.at(arrives - stolen, OneShot::Ipi { to, ipi, stolen });
        if let Ipi::Push(source) = ipi {
            self.push_ipis.sent(source);
        }
    }

    fn random(&self, me: CpuId, below: u64) -> u64 {
        self.cpus[me.index()].scheduler_dice.borrow_mut().below(below)
    }

    fn start_rt_period_timer(&self, at: Nanos) {
        self.rt_period.set(at);
        self.at(at, OneShot::RtPeriod { cpu: CpuId(0) });
    }

    fn set_hrtick(&self, cpu: CpuId, at: Option<Nanos>) {
        let slot = &self.cpus[cpu.index()].hrtick;
        let known = slot.get().unwrap_or_else(|| self.add_slot(Source::Hrtick(cpu)));
        slot.set(Some(known));
        let Some(at) = at else { return self.queue.clear(known) };
        self.charge_work(self.spec.costs.timer_program);
        self.queue.set(known, at);
    }

    fn set_dl_timer(&self, cpu: CpuId, at: Option<Nanos>) {
        let slot = &self.cpus[cpu.index()].deadline;
        let known = match (slot.get(), at) {
            (Some(known), _) => known,
            (None, None) => return,
            (None, Some(_)) => self.add_slot(Source::Deadline(cpu)),
        };
        slot.set(Some(known));
        let Some(at) = at else { return self.queue.clear(known) };
        // Behind the next tick the hardware keeps the expiry that it has.
        if at < self.local_now() + LONGEST_TICK {
            self.charge_work(self.spec.costs.timer_program);
        }
        // A timer cannot be programmed into the past: it fires at once then.
        self.queue.set(known, at.max(self.local_now()));
    }

    #[inline]
    fn has_idle_governor(&self) -> bool {
        self.idle.as_ref().is_some_and(IdleCpus::govern_ticks)
    }

    #[inline]
    fn idle_state_latency(&self, cpu: CpuId) -> Option<Nanos> {
        self.idle.as_ref()?.state_of(cpu).map(|state| state.exit_latency)
    }

    fn frequency_changes(&self, me: ThisCpu<'_, Self>, domain: &FrequencyDomain, level: usize) {
        self.run_at(me.id, domain, level);
    }

    #[inline(always)]
    fn event(&self, me: ThisCpu<'_, Self>, event: Event) {
        if let Event::Switch { prev, next, .. } = event {
            self.recorder.switched(me, self.local_now(), prev, next);
            self.energy.switched(me.id, self.local_now(), next != me.k.idle_task(me.id));
        }
        if self.observed.get() {
            self.tell(me, event);
        }
    }
}
