//! The engine without a scheduler: what the benchmark compares with, to say what the scheduler's own work
//! takes.

use super::cpu::Mode;
use super::hw::{Hw, Parts};
use super::source::Source;
use crate::engine::record::{Recorder, Tracing};
use crate::spec::{IdleMonitor, MachineSpec};
use scheduler::platform::{Lock, Platform};
use scheduler::registry::LockKind;
use scheduler::{CpuId, Nanos, TaskId};
use std::future::Future;
use std::task::{Context, Waker};

/// Lets every CPU of a machine do for `duration` what `cyclictest -S -i100` makes it do: a timer interrupt,
/// its run-queue lock for the wakeup, the lock for the switch, a little user time, a timer, the lock for the
/// switch to idle. Locks, costs, events and CPUs are the engine's; queues, tasks and decisions there are
/// none. Returns how many wakeups and switches these would have been.
pub fn bare_engine(spec: MachineSpec, duration: Nanos) -> u64 {
    let cpus = spec.topology.cpus;
    let hw = Hw::new(Parts {
        spec,
        spawned: 0,
        lock_kind: LockKind::Queued,
        seed: 1,
        recorder: Recorder::new(cpus, 0, Tracing::Off),
        paths: None,
        idle_monitor: IdleMonitor::Hlt,
        latency_limit: Nanos::NEVER,
        root_domains: 1,
        nohz_full: scheduler::CpuMask::EMPTY,
    });
    let timers: Vec<_> = (0..cpus).map(|c| hw.add_slot(Source::Timer(TaskId(c as u32)))).collect();
    let cycles = std::cell::Cell::new(0u64);
    let cpu_loop = |cpu: usize| {
        let (hw, cycles, timer) = (&hw, &cycles, timers[cpu]);
        let me = CpuId(cpu as u16);
        // The distance of cyclictest's intervals.
        let interval = Nanos::from_micros(100 + 500 * cpu as u64);
        async move {
            let mut next = interval;
            loop {
                let timer_at = next.max(hw.local_now());
                hw.queue.set(timer, timer_at);
                locked(hw, me, hw.spec.costs.dequeue + hw.spec.costs.context_switch).await;
                hw.cpus[me.index()].ready_at.set(hw.local_now());
                hw.debt.set(Nanos::ZERO);
                hw.suspend(me, Mode::Interruptible).await;
                hw.charge_ns(hw.spec.costs.irq_entry + hw.spec.costs.timer_expiry);
                locked(hw, me, hw.spec.costs.wakeup + hw.spec.costs.enqueue).await;
                hw.charge_ns(hw.spec.costs.irq_exit);
                locked(hw, me, hw.spec.costs.schedule + hw.spec.costs.context_switch).await;
                let end = hw.local_now() + USER_TIME;
                hw.debt.set(Nanos::ZERO);
                if hw.queue.next_time() > end {
                    hw.now.set(end);
                } else {
                    hw.queue.set(hw.work_slot(me), end);
                    hw.suspend(me, Mode::InPath).await;
                }
                hw.charge_ns(hw.spec.costs.syscall + hw.spec.costs.timer_program);
                next += interval;
                cycles.set(cycles.get() + 1);
            }
        }
    };
    let mut loops: Vec<_> = (0..cpus).map(|cpu| Box::pin(cpu_loop(cpu))).collect();
    let mut poll = |cpu: usize| {
        let _pending: std::task::Poll<()> = loops[cpu].as_mut().poll(&mut Context::from_waker(Waker::noop()));
    };
    (0..cpus).for_each(&mut poll);
    while let Some(source) = hw.next_event(duration) {
        match source {
            Source::Work(cpu) => poll(cpu.index()),
            Source::Timer(TaskId(cpu)) => {
                let state = &hw.cpus[cpu as usize];
                if state.mode.get() != Mode::Interruptible {
                    // The CPU is on its way to idle.
                    hw.queue.set(timers[cpu as usize], hw.now.get() + USER_TIME);
                } else if state.ready_at.get() > hw.now.get() {
                    hw.queue.set(timers[cpu as usize], state.ready_at.get());
                } else {
                    poll(cpu as usize);
                }
            }
            Source::Tick(_)
            | Source::Hrtick(_)
            | Source::Deadline(_)
            | Source::IrqOff { .. }
            | Source::OneShot(_) => {}
        }
    }
    // A wakeup and two switches.
    3 * cycles.get()
}

/// User time of a cycle, and how long an interrupt waits before it looks again.
const USER_TIME: Nanos = Nanos(1_500);

async fn locked(hw: &Hw, me: CpuId, work: Nanos) {
    let lock = Lock::Rq(me);
    if !hw.acquire_at_once(me, lock) {
        hw.acquire(me, lock).await;
    }
    hw.charge_ns(work);
    hw.release(me, lock);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_has_its_cycles() {
        // CPU 0 every 100 µs, CPU 1 every 600 µs.
        let laptop = MachineSpec::builtin("laptop").and_then(|machine| machine.with_cpus(2));
        let spec = laptop.expect("a machine of the crate");
        let events = bare_engine(spec, Nanos::from_micros(60_050));
        assert!((690 * 3..=700 * 3).contains(&events), "{events}");
    }
}
