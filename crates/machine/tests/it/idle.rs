//! How idle CPUs wait, and what it takes to wake them (machine.md 5.5).

use crate::script::{FREE_CHANNEL, fifo, ideal, ms, run_with, script};
use machine::{BUILTIN, IdleMonitor, MachineSpec, RunOptions, Setup, Step, Tracing};
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogRecord};

/// What leaving an idle state costs.
const EXIT: Nanos = Nanos(9_000);
/// What an interrupt costs before its handler.
const ENTRY: Nanos = Nanos(1_000);

/// A task wakes a FIFO task on the idle CPU beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Woken {
    /// IPIs that the idle CPU got.
    ipis: u64,
    /// What it noticed without one.
    polled: u64,
    /// From the message to its receipt.
    after: Nanos,
}

fn remote_wakeup(kernel: &str, monitor: IdleMonitor, held: bool) -> Woken {
    let mut spec = ideal(2);
    (spec.costs.idle_exit, spec.costs.irq_entry, spec.idle_monitor) = (EXIT, ENTRY, monitor);
    let mut setup = Setup::new(2);
    if held {
        setup.hold_cpu_dma_latency();
    }
    let channel = setup.channel(FREE_CHANNEL);
    let (waker, sent) = script("waker", [Step::SleepUntil(ms(5)), Step::Send(channel)]);
    let (sleeper, received) = script("sleeper", [Step::Receive(channel)]);
    for (cpu, mut task) in [(0, waker), (1, sleeper)] {
        task.policy = fifo(50);
        task.cpus = Some(CpuMask::single(CpuId(cpu)));
        setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), task);
    }
    let options = RunOptions { check: true, trace: Tracing::Everything, ..RunOptions::default() };
    let outcome = run_with(spec, kernel, setup, options).expect("a run without error");
    let after = received.borrow()[1].saturating_sub(sent.borrow()[1]);
    let told = |record: &&LogRecord| match record.event {
        LogEvent::SchedWakeIdleWithoutIpi { target_cpu, .. } => target_cpu == schema::CpuId(1),
        _ => false,
    };
    let polled = outcome.cpus[1].polled;
    assert_eq!(outcome.log.iter().flatten().filter(told).count() as u64, polled);
    assert_eq!(outcome.totals.polled, outcome.cpus.iter().map(|cpu| cpu.polled).sum::<u64>());
    Woken { ipis: outcome.cpus[1].ipis_received, polled, after }
}

/// machine.md 5.5: on bare x86 machines no interrupt; in virtual machines, and where nothing is known, one.
#[test]
fn laptops_wait_with_mwait_and_the_other_machines_halt() {
    for entry in BUILTIN {
        let is_laptop = ["laptop", "hybrid"].contains(&entry.name);
        let expected = if is_laptop { IdleMonitor::Mwait } else { IdleMonitor::Hlt };
        let spec = MachineSpec::builtin(entry.name).expect("it is built in");
        assert_eq!(spec.idle_monitor, expected, "{}", entry.name);
    }
}

/// 6.1 queues the wakeup at the idle CPU (rt-class 3.6); 6.1-rt takes its lock, and sets the flag.
const KERNELS: [&str; 2] = ["6.1", "6.1-rt"];

#[test]
fn m19_a_halted_cpu_is_woken_by_an_interrupt_and_leaves_its_state() {
    for kernel in KERNELS {
        let woken = remote_wakeup(kernel, IdleMonitor::Hlt, false);
        assert_eq!(woken, Woken { ipis: 1, polled: 0, after: EXIT + ENTRY }, "{kernel}");
    }
}

#[test]
fn m19_under_mwait_a_write_is_enough_and_the_state_is_left() {
    for kernel in KERNELS {
        let woken = remote_wakeup(kernel, IdleMonitor::Mwait, false);
        assert_eq!(woken, Woken { ipis: 0, polled: 1, after: EXIT }, "{kernel}");
    }
}

#[test]
fn m19_a_polling_cpu_needs_neither() {
    for kernel in KERNELS {
        let woken = remote_wakeup(kernel, IdleMonitor::Poll, false);
        assert_eq!(woken, Woken { ipis: 0, polled: 1, after: Nanos::ZERO }, "{kernel}");
    }
}

#[test]
fn m22_every_cpu_polls_while_cpu_dma_latency_is_held() {
    for monitor in IdleMonitor::ALL {
        assert_eq!(remote_wakeup("6.1", monitor, true), remote_wakeup("6.1", IdleMonitor::Poll, false));
    }
}

/// fair-placement 8.5, nohz=v44: a reschedule interrupt asks an idle CPU to balance, also one that would have
/// noticed its flag.
#[test]
fn up_to_4_16_a_polling_cpu_was_asked_to_balance_by_an_interrupt() {
    let interrupts = |kernel: &str| {
        let mut spec = ideal(2);
        spec.idle_monitor = IdleMonitor::Poll;
        let mut setup = Setup::new(2);
        for _ in 0..2 {
            let (mut hog, _) = script("hog", [Step::Compute(ms(50))]);
            hog.cpus = Some(CpuMask::single(CpuId(0)));
            setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), hog);
        }
        let options = RunOptions { check: true, ..RunOptions::default() };
        run_with(spec, kernel, setup, options).expect("a run without error").cpus[1].ipis_received
    };
    assert!(interrupts("4.4") > 0);
    assert_eq!(interrupts("4.19"), 0);
}
