//! What an idle CPU does: it waits, in the state that the governor of the machine chooses, if that has one
//! (machine.md 5.3).

use super::sim::Sim;
use crate::engine::hardware::{Hw, IdleCpus, Mode, Prospect};
use scheduler::platform::{Ipi, Platform};
use scheduler::tick::idle_tick_stops;
use scheduler::{CpuId, Nanos, ThisCpu};
use schema::LogEvent;

/// The state of a CPU that has left idle, in the log: as power:cpu_idle tells it.
const NO_STATE: u32 = u32::MAX;

impl Sim {
    /// Waits for an interrupt, or for a write to its flag (machine.md 5.5).
    pub async fn idle(&self, me: ThisCpu<'_, Hw>) {
        let hw = self.hw();
        let cpu = hw.cpu(me.id);
        hw.note_executes(me.id);
        cpu.ready_at.set(hw.local_now());
        hw.debt.set(Nanos::ZERO);
        let by = match &hw.idle {
            None => hw.idle_monitor,
            Some(idle) => {
                let state = self.chooses_state(me, idle);
                // The path that led here is told from its end.
                hw.note_detail_at(me.id, cpu.ready_at.get(), || log_event(me.id, state as u32));
                idle.enters(me.id, state, cpu.ready_at.get()).by
            }
        };
        cpu.polling.set(by.sees_writes());
        cpu.halted.set(by.sleeps());
        cpu.idle_since.set(cpu.ready_at.get());
        hw.suspend(me.id, Mode::Interruptible).await;
        cpu.polling.set(false);
        if let Some(idle) = &hw.idle {
            // The time for which it polls, if it does, is over.
            hw.queue.clear(hw.work_slot(me.id));
            let in_vain = cpu.pending.borrow().is_empty();
            idle.leaves(me.id, hw.local_now(), in_vain);
            if in_vain {
                hw.note_detail(me.id, || log_event(me.id, NO_STATE));
            } else {
                idle.begins_to_leave(me.id);
            }
        }
    }

    /// What it takes to leave the state that an interrupt has ended is over.
    pub fn has_left_idle(&self, cpu: CpuId) {
        let hw = self.hw();
        if hw.idle.as_ref().is_some_and(|idle| idle.has_left(cpu)) {
            hw.note_detail(cpu, || log_event(cpu, NO_STATE));
        }
    }

    /// A task leaves a CPU that has nothing to do any more.
    pub fn begins_to_idle(&self, cpu: CpuId) {
        if let Some(idle) = &self.hw().idle
            && self.k.idle_tick_is_governed()
        {
            self.keep_ticking(cpu);
            idle.begins(cpu);
        }
    }

    /// A tick comes, perhaps to an idle CPU.
    pub fn ticks_in_idle(&self, me: ThisCpu<'_, Hw>) {
        if let Some(idle) = &self.hw().idle
            && self.is_idle(me.id)
        {
            idle.got_tick(me.id);
        }
    }

    /// Whether an idle CPU goes on to tick. `None`: nobody decides that for the CPUs of this machine.
    pub fn keeps_tick_in_idle(&self, cpu: CpuId) -> Option<bool> {
        let idle = self.hw().idle.as_ref().filter(|_| self.k.idle_tick_is_governed())?;
        Some(!idle.tick_is_stopped(cpu))
    }

    /// From now on nobody wants to wait for longer: CPUs that idle already are asked to choose anew.
    pub fn limits_idle_latency(&self, me: ThisCpu<'_, Hw>, limit: Nanos) {
        let Some(idle) = &self.hw().idle else { return };
        idle.limit_latency(limit);
        let others = (0..self.k.cpus()).map(|cpu| CpuId(cpu as u16)).filter(|cpu| *cpu != me.id);
        for cpu in others.filter(|cpu| idle.state_of(*cpu).is_some_and(|state| state.exit_latency > limit)) {
            self.hw().send_ipi(me.id, cpu, Ipi::Reschedule);
        }
    }

    /// Asks the governor, and stops the tick if that says so.
    fn chooses_state(&self, me: ThisCpu<'_, Hw>, idle: &IdleCpus) -> usize {
        let (hw, id) = (self.hw(), me.id);
        let (cpu, now) = (hw.cpu(id), hw.cpu(id).ready_at.get());
        let until = |time: Nanos| if time == Nanos::NEVER { time } else { time.saturating_sub(now) };
        let next_tick = if cpu.ticks.get() { cpu.next_tick.get() } else { self.next_tick(id) };
        // Messages that its next tick brings are timers of the wheel; it sees to RCU callbacks, too.
        let needs_tick = !cpu.by_tick.borrow().is_empty() || self.rcu.needs_tick(id);
        let mut timer = until(hw.next_timer(id).min(self.surroundings.next_softirq(id)));
        if needs_tick {
            timer = timer.min(until(next_tick));
        }
        // Where nobody decides about it, it stops before anybody is asked about the state.
        let governed = self.k.idle_tick_is_governed();
        let tick_is_stopped = idle.tick_is_stopped(id) || !governed;
        let ahead = Prospect {
            timer,
            with_tick: if tick_is_stopped { timer } else { timer.min(until(next_tick)) },
            period: self.tick_period(),
            tick_is_stopped,
            latency_limit: idle.latency_limit(),
        };
        let choice = idle.choose(id, &ahead);
        if choice.stops_tick && !tick_is_stopped && !needs_tick {
            hw.stop_tick(id);
            idle.tick_stops(id);
            idle_tick_stops(me);
        }
        if idle.polls_in(choice.state)
            && let Some(limit) = idle.polls_for(id, ahead.period)
        {
            hw.queue.set(hw.work_slot(id), now + limit);
        }
        choice.state
    }
}

fn log_event(cpu: CpuId, state: u32) -> LogEvent {
    LogEvent::CpuIdle { of_cpu: schema::CpuId(cpu.0), state }
}
