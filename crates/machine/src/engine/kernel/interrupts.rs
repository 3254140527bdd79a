//! What interrupts do.

use super::kthreads::Wake;
use super::sim::Sim;
use crate::engine::hardware::{Hw, Irq, IrqWork, SoftWork, Softirq};
use crate::engine::record::words;
use crate::engine::userland::sched_calls;
use crate::setup::{Arrival, OutsideChange};
use crate::told::ToldMessage;
use scheduler::dl::dl_timer;
use scheduler::fair::{nohz_csd_func, raise_nohz_balance, set_limit, unthrottle_called};
use scheduler::fork::wake_up_new_task_on;
use scheduler::platform::{Ipi, Platform};
use scheduler::registry::IrqAccounting;
use scheduler::stop::migration_cpu_stop;
use scheduler::tick::{hrtick, scheduler_tick};
use scheduler::wakeup::{WakeFlags, sched_ttwu_pending, try_to_wake_up};
use scheduler::{CpuId, Nanos, TaskId, ThisCpu, rt};
use schema::LogEvent;

/// A wakeup by a timer.
pub(super) const FROM_INTERRUPT: WakeFlags = WakeFlags { sync: false, interrupt: true, exiting: false };

impl Sim {
    /// Serves what is pending, and what becomes pending meanwhile.
    pub async fn interrupts(&self, me: ThisCpu<'_, Hw>) {
        let (costs, from) = (&self.hw().spec.costs, self.hw().local_now());
        let idle_exit = self.hw().leaves_halt(me.id);
        let halted = idle_exit.map_or(Nanos::ZERO, |_| self.hw().has_idled(me.id));
        self.hw().note_taking(me.id, idle_exit);
        self.hw().charge_ns(idle_exit.unwrap_or_default());
        self.has_left_idle(me.id);
        // What it takes to leave one of several idle states is time in that.
        let begins = if self.hw().idle.is_some() { self.hw().local_now() } else { from };
        if let Some(ipi) = self.only_a_notice(me.id) {
            // Interrupts that come while it is acted upon are served as such, after it.
            self.hw().note_served(me.id, Irq::Notice(ipi));
            self.ipi(me, ipi).await;
            return self.hw().note_detail(me.id, || LogEvent::IrqHandlerExit {});
        }
        // It may come into a soft interrupt.
        self.measure_interrupts(me.id, self.hw().cpu(me.id).softirq.get() == Softirq::Running);
        self.hw().charge_work(costs.irq_entry + self.hw().context_tracking(me.id));
        let in_interrupt = &self.hw().cpu(me.id).in_interrupt;
        in_interrupt.set(true);
        let mut timer_fired = false;
        while let Some(irq) = self.hw().next_pending(me.id) {
            if let Irq::Ipi(_) = irq {
                self.hw().charge_ns(self.hw().cpu(me.id).stolen.take());
            }
            self.hw().note_served(me.id, irq);
            match irq {
                Irq::Timer(task) => {
                    if !timer_fired {
                        self.hw().warms_the_way(me.id, halted);
                    }
                    timer_fired = true;
                    let (slot, is_soft) = self.user.tasks.with(task, |t| (t.timer, t.timer_is_soft));
                    self.hw().timer_served(me.id, slot);
                    self.hw().charge_work(costs.timer_expiry);
                    if is_soft {
                        self.raise_softirq(me.id, SoftWork::Timer(task));
                    } else {
                        try_to_wake_up(me, task, FROM_INTERRUPT).await;
                    }
                }
                Irq::Tick => {
                    self.ticks_in_idle(me);
                    self.rcu_tick(me);
                    if let Some(balancing) = scheduler_tick(me).await {
                        self.raise_softirq(me.id, SoftWork::Balance(balancing));
                    }
                    self.remote_ticks(me).await;
                    self.messages_by_tick(me).await;
                    self.wake_kthreads(me, &self.surroundings.kthread_wakes.tick, Arrival::Tick).await;
                }
                Irq::Hrtick => {
                    timer_fired = true;
                    self.hw().charge_work(costs.timer_expiry);
                    hrtick(me).await;
                }
                Irq::Deadline => {
                    self.hw().charge_work(costs.timer_expiry);
                    dl_timer(me).await;
                }
                Irq::Ipi(ipi) => {
                    let received = &self.hw().cpu(me.id).ipis_received;
                    received.set(received.get() + 1);
                    self.ipi(me, ipi).await;
                }
                Irq::Notice(ipi) => self.ipi(me, ipi).await,
                Irq::Softirq(timer) => {
                    timer_fired = true;
                    self.hw().charge_work(costs.timer_expiry);
                    self.surroundings.softirqs[timer as usize].tally.raised();
                    self.raise_softirq(me.id, SoftWork::Tasklet(timer));
                }
                Irq::Settings => rt::rules_changed(me).await,
                Irq::Change(index) => self.outside_changes(me, index).await,
                Irq::RtPeriod => {
                    if let Some(again) = rt::sched_rt_period_timer(me).await {
                        self.hw().start_rt_period_timer(again);
                    }
                }
                Irq::Spawn(index) => self.spawn(me, index).await,
                Irq::Outside { channel, by, at } => {
                    let message = ToldMessage { channel, by, at };
                    self.device_interrupt(me, IrqWork::Message(message)).await;
                }
                Irq::Served(channel) => self.device_interrupt(me, IrqWork::Served(channel)).await,
                Irq::Off { source, length } => {
                    self.handler_runs(me, source, length).await;
                    let wakes = &self.surroundings.kthread_wakes.irq_off[source as usize];
                    self.wake_kthreads(me, wakes, Arrival::Own).await;
                }
            }
            self.hw().note_detail(me.id, || LogEvent::IrqHandlerExit {});
        }
        if timer_fired {
            // The timer hardware is set to the next expiry.
            self.hw().charge_work(costs.timer_program);
        }
        if self.hw().cpu(me.id).softirq.get() == Softirq::Raised {
            self.wakes_softirq_threads(me).await;
        }
        self.hw().charge_work(costs.irq_exit);
        if timer_fired && self.hw().spec.noise.timer_delivery.is_some() {
            // A timer that expires meanwhile has its interrupt before the CPU switches to who was woken.
            self.hw().settled(me.id).await;
        }
        in_interrupt.set(false);
        self.hw().was_fetched(me.id, from);
        let in_interrupts = &self.hw().cpu(me.id).in_interrupts;
        in_interrupts.set(in_interrupts.get() + self.hw().local_now().saturating_sub(begins));
        self.measure_interrupts(me.id, true);
    }

    /// An interrupt begins or ends, a soft one too: where the kernel measures their time (`irq_accounting`),
    /// what has passed since the last such moment is theirs if one of them was `served` (fair-placement 1.9).
    #[inline]
    pub fn measure_interrupts(&self, cpu: CpuId, served: bool) {
        if self.k.config.rules.irq_accounting.get() == IrqAccounting::Off {
            return;
        }
        let (hw, now) = (self.hw().cpu(cpu), self.hw().local_now());
        let since = hw.measured_until.replace(now);
        if served {
            hw.interrupt_time.set(hw.interrupt_time.get() + now.saturating_sub(since));
        }
    }

    /// What an idle loop that watches its flag noticed, if nothing else is pending.
    fn only_a_notice(&self, cpu: CpuId) -> Option<Ipi> {
        let mut pending = self.hw().cpu(cpu).pending.borrow_mut();
        match pending.front() {
            Some(Irq::Notice(ipi)) if pending.len() == 1 => {
                let ipi = *ipi;
                pending.clear();
                Some(ipi)
            }
            _ => None,
        }
    }

    async fn ipi(&self, me: ThisCpu<'_, Hw>, ipi: Ipi) {
        if let Some(watch) = self.hw().watch() {
            watch.checker.borrow_mut().ipi_arrived(me.id, ipi);
        }
        match ipi {
            // The flag is looked at on the way out of every interrupt.
            Ipi::Reschedule => {}
            Ipi::Wakeup => sched_ttwu_pending(me).await,
            Ipi::Push(source) => {
                self.hw().push_ipis.arrived(source);
                let received = &self.hw().cpu(me.id).push_ipis_received;
                received.set(received.get() + 1);
                rt::push_irq_work(me, source).await;
            }
            Ipi::Nohz | Ipi::NohzReschedule if self.softirqs_are_in_tasks() => {
                if let Some(balancing) = raise_nohz_balance(me) {
                    self.raise_softirq(me.id, SoftWork::Balance(balancing));
                }
            }
            Ipi::Nohz | Ipi::NohzReschedule => nohz_csd_func(me).await,
            Ipi::Unthrottle => unthrottle_called(me).await,
            // On the way out it finds that it needs its tick.
            Ipi::Tick => {}
            // Nobody waits for an interrupt.
            Ipi::Stop => drop(migration_cpu_stop(me).await),
        }
    }

    async fn spawn(&self, me: ThisCpu<'_, Hw>, index: u32) {
        let cpu = self.surroundings.spawn_cpus[index as usize];
        let task = TaskId((self.k.cpus() as u32) + index);
        if !sched_calls::is_let_in(self.caller(me, task)) {
            return;
        }
        wake_up_new_task_on(me, task, cpu).await;
    }

    /// Somebody outside changes a task, if it is there, or a group, if it has a limit.
    async fn outside_changes(&self, me: ThisCpu<'_, Hw>, index: u32) {
        let of = |pid| self.user.tasks.known(&self.k).find(|p| self.k.task(*p).pid.get() == pid);
        match self.surroundings.changes[index as usize] {
            OutsideChange::Policy { pid, policy } => {
                if let Some(p) = of(pid) {
                    sched_calls::set_policy(self.caller(me, p), p, policy).await;
                }
            }
            OutsideChange::Cpus { pid, cpus } => {
                if let Some(p) = of(pid) {
                    sched_calls::set_affinity_from_outside(self.caller(me, p), p, cpus).await;
                }
            }
            OutsideChange::Limit { group, quota, burst } => set_limit(me, group, quota, burst).await,
            OutsideChange::RtRuntime { group, runtime } => {
                if let Some(rt) = self.k.groups.get(group).rt.as_ref() {
                    rt.set_runtime(runtime);
                }
            }
            OutsideChange::CpuDmaLatency { limit } => self.limits_idle_latency(me, limit),
        }
    }

    /// Those that were waiting when the tick began; its interrupt may have waited for a while, in which more
    /// came.
    async fn messages_by_tick(&self, me: ThisCpu<'_, Hw>) {
        let due = self.hw().cpu(me.id).by_tick.take();
        for message in due {
            if self.softirqs_are_in_tasks() {
                self.raise_softirq(me.id, SoftWork::Message(message));
                continue;
            }
            self.message_from_outside(me, message).await;
        }
    }

    /// An interrupt brings a message whose cause is no step of a task.
    pub async fn message_from_outside(&self, me: ThisCpu<'_, Hw>, message: ToldMessage) {
        self.hw().note_detail(me.id, || words::message(message));
        self.user.channels.message_by_interrupt(me, message.channel).await;
    }

    /// The tick, or an interrupt of its own, wakes these threads.
    async fn wake_kthreads(&self, me: ThisCpu<'_, Hw>, wakes: &[Wake], by: Arrival) {
        for wake in wakes {
            if let Some(channel) = self.hw().dice(me.id, |rng| wake.draw(me.id, rng)) {
                let at = self
                    .hw()
                    .local_now()
                    .saturating_sub(self.hw().at_pace(me.id, self.hw().spec.costs.irq_entry));
                self.message_from_outside(me, ToldMessage { channel, by, at }).await;
            }
        }
    }
}
