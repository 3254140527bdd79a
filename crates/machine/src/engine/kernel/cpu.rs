//! What a CPU does all its life: serve interrupts, reschedule when asked, run the current task, idle.

use super::execution::Next;
use super::sim::{Progress, Sim};
use super::steps::{FROM_INTERRUPT, Path};
use crate::engine::hardware::cpu::{Irq, Mode};
use crate::setup::Arrival;
use scheduler::affinity::migration_cpu_stop;
use scheduler::fork::wake_up_new_task_on;
use scheduler::platform::{Ipi, Platform};
use scheduler::registry::PreemptModel;
use scheduler::schedule::{Entry, schedule};
use scheduler::tick::scheduler_tick;
use scheduler::wakeup::{sched_ttwu_pending, try_to_wake_up};
use scheduler::{Class, CpuId, Nanos, TaskId, ThisCpu, rt};

use crate::engine::hardware::hw::Hw;

/// The path of one CPU; it never ends, the engine drops it at the end of the run.
pub(crate) async fn cpu_main(sim: &Sim, id: CpuId) {
    let me = ThisCpu { k: &sim.k, id };
    let ctx = sim.cpu(id);
    let idle = sim.k.idle_task(id);
    loop {
        sim.check();
        while !ctx.pending.borrow().is_empty() {
            sim.interrupts(me).await;
        }
        let curr = me.curr();
        if sim.k.rq(id).published.need_resched.get() && sim.may_preempt(me, curr) {
            sim.take_the_way(me);
            schedule(me, Entry::Preemption).await;
            continue;
        }
        if ctx.seen.get() != curr {
            sim.set_up(me, curr);
        }
        if curr == idle {
            sim.idle(me).await;
        } else {
            sim.keep_ticking(id);
            let path = match sim.next(me, curr) {
                Next::Follow(path) => path,
                Next::Execute(length) => {
                    let stretch = sim.begin(me, length);
                    if !stretch.is_over {
                        sim.hw().suspend(id, Mode::Interruptible).await;
                    }
                    sim.executed(me, curr, stretch)
                }
            };
            match path {
                Path::Done => {}
                // The two that most steps end with, without the room that the others need.
                Path::Sleep => schedule(me, Entry::Call).await,
                Path::Wake { task, flags } => {
                    try_to_wake_up(me, task, flags).await;
                }
                other => sim.follow(me, curr, other).await,
            }
        }
    }
}

impl Sim {
    /// Serves what is pending, and what becomes pending meanwhile.
    async fn interrupts(&self, me: ThisCpu<'_, Hw>) {
        let costs = &self.hw().spec.costs;
        if self.cpu(me.id).halted.take() {
            self.hw().charge_ns(costs.idle_exit);
        }
        if let Some(ipi) = self.only_a_notice(me.id) {
            // Interrupts that come while it is acted upon are served as such, after it.
            return self.ipi(me, ipi).await;
        }
        self.hw().charge_ns(costs.irq_entry);
        let in_interrupt = &self.cpu(me.id).in_interrupt;
        in_interrupt.set(true);
        let mut timer_fired = false;
        loop {
            let next = self.cpu(me.id).pending.borrow_mut().pop_front();
            let Some(irq) = next else { break };
            match irq {
                Irq::Timer(task) => {
                    timer_fired = true;
                    self.hw().charge_ns(costs.timer_expiry);
                    try_to_wake_up(me, task, FROM_INTERRUPT).await;
                }
                Irq::Tick => {
                    scheduler_tick(me).await;
                    self.messages_by_tick(me).await;
                    self.wake_kthreads(me, &self.kthread_wakes.tick, Arrival::Tick).await;
                }
                Irq::Ipi(ipi) => {
                    let received = &self.cpu(me.id).ipis_received;
                    received.set(received.get() + 1);
                    self.ipi(me, ipi).await;
                }
                Irq::Notice(ipi) => self.ipi(me, ipi).await,
                Irq::Settings => rt::rules_changed(me).await,
                Irq::RtPeriod => {
                    if let Some(again) = rt::sched_rt_period_timer(me).await {
                        self.hw().start_rt_period_timer(again);
                    }
                }
                Irq::Spawn(index) => self.spawn(me, index).await,
                Irq::Outside(message) => self.message_from_outside(me, message).await,
                Irq::Served(channel) => self.message_by_interrupt(me, channel).await,
                Irq::Off { source, length } => {
                    self.hw().charge_ns(length);
                    self.wake_kthreads(me, &self.kthread_wakes.irq_off[source as usize], Arrival::Own).await;
                }
            }
        }
        if timer_fired {
            // The timer hardware is set to the next expiry.
            self.hw().charge_ns(costs.timer_program);
        }
        self.hw().charge_ns(costs.irq_exit);
        in_interrupt.set(false);
    }

    /// What a polling idle loop noticed, if nothing else is pending.
    fn only_a_notice(&self, cpu: CpuId) -> Option<Ipi> {
        let mut pending = self.cpu(cpu).pending.borrow_mut();
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
                rt::push_irq_work(me, source).await;
            }
            Ipi::Stop => migration_cpu_stop(me).await,
        }
    }

    async fn spawn(&self, me: ThisCpu<'_, Hw>, index: u32) {
        let cpu = self.spawn_cpu(index);
        let task = TaskId((self.k.cpus() as u32) + index);
        wake_up_new_task_on(me, task, cpu).await;
    }

    /// Whether the running task can be taken off here: not inside the kernel unless that is preemptible. (One
    /// that spins for an owner sees the request itself, and sleeps.)
    fn may_preempt(&self, me: ThisCpu<'_, Hw>, curr: TaskId) -> bool {
        curr == self.k.idle_task(me.id)
            || self.k.config.rules.preempt_model.get() == PreemptModel::Full
            || self.with(curr, |t| !matches!(t.progress, Progress::Kernel { .. } | Progress::SpinOnOwner(_)))
    }

    /// A task, or idle, is about to execute where another one did before.
    fn set_up(&self, me: ThisCpu<'_, Hw>, curr: TaskId) {
        let idle = self.k.idle_task(me.id);
        if curr == idle {
            let previous = self.cpu(me.id).seen.replace(idle);
            self.left(me.id, previous, self.cpu(me.id).busy.get());
            return;
        }
        self.switched_in(me.id, curr);
    }

    /// Idle CPUs take no ticks (NO_HZ) but for timers of the wheel: a task that runs after idle starts them
    /// again.
    pub fn keep_ticking(&self, cpu: CpuId) {
        let tick = self.hw().tick_slot(cpu);
        if !self.hw().queue.is_set(tick) {
            self.hw().queue.set(tick, self.next_tick(cpu));
        }
    }

    /// Those that were waiting when the tick began; its interrupt may have waited for a while, in which more
    /// came.
    async fn messages_by_tick(&self, me: ThisCpu<'_, Hw>) {
        let due = self.cpu(me.id).by_tick.take();
        for message in due {
            self.message_from_outside(me, message).await;
        }
    }

    /// From one tick to the next.
    pub fn tick_period(&self) -> Nanos {
        Nanos(1_000_000_000 / self.k.config.tunables.hz.get() as u64)
    }

    /// The next tick after now: see [`crate::Setup::tick_at`].
    pub fn next_tick(&self, cpu: CpuId) -> Nanos {
        let period = self.tick_period().0;
        let now = self.hw().now.get().0;
        if let Some(Some(tick)) = self.ticks_at.get(cpu.index()) {
            let since_tick = (now % period + period - tick.0 % period) % period;
            return Nanos(now + period - since_tick);
        }
        let built_for = self.k.config.tunables.nr_cpus.get().unsigned_abs().max(self.k.cpus() as u64);
        let phase = u64::from(cpu.0) * (period / 2) / built_for;
        let since_phase = now.saturating_sub(phase);
        Nanos(phase + (since_phase / period + 1) * period)
    }

    /// Waits for an interrupt.
    async fn idle(&self, me: ThisCpu<'_, Hw>) {
        let hw = self.hw();
        let cpu = &hw.cpus[me.id.index()];
        cpu.ready_at.set(hw.local_now());
        hw.debt.set(Nanos::ZERO);
        cpu.polling.set(self.idle_polls);
        self.cpu(me.id).halted.set(!self.idle_polls);
        hw.suspend(me.id, Mode::Interruptible).await;
        cpu.polling.set(false);
    }

    /// Whether `cpu` executes its idle task.
    pub fn is_idle(&self, cpu: CpuId) -> bool {
        self.k.task(self.k.rq(cpu).published.curr.get()).class.get() == Class::Idle
    }
}
