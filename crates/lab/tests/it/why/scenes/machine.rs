//! What the machine does on the way: timers, interrupts, switches, locks of run queues, caches, siblings.

use super::{sleeper, who};
use crate::why::scene::{BEGIN, Scene, fifo, ms, us};
use lab::machine::{
    ChannelSpec, IrqOff, MachineSpec, Outside, SoftirqGap, SoftirqSpec, SoftirqTally, Spread, Step,
};
use scheduler::{CpuId, CpuMask, LevelKind, Nanos, Policy, Topology, TopologyLevel};
use schema::why::{Cause, Due, IrqsOffPath};
use schema::{LogInterrupt, LogLock, Pid};

#[test]
fn the_timers_slack() {
    let mut scene = Scene::new(1);
    scene.task("late", Policy::Normal, sleeper(BEGIN), |task| task.timer_slack = us(50));
    assert_eq!(scene.causes("late"), [(Cause::TimerLate {}, 50_000)]);
}

#[test]
fn nothing_at_all() {
    let mut scene = Scene::new(1);
    scene.on(0, "punctual", fifo(50), sleeper(BEGIN));
    let explained = scene.explain("punctual");
    assert_eq!((explained.len(), explained[0].latency.0, explained[0].stretches.len()), (1, 0, 0));
    assert_eq!(explained[0].due, Due::Timer {});
}

/// A task whose timer expires while the CPU, for 50 us more, does what costs 100 us from `BEGIN` on.
fn held_off(price: impl FnOnce(&mut MachineSpec), first: [Step; 2]) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    price(&mut scene.spec);
    scene.on(0, "first", fifo(50), first);
    scene.on(0, "second", fifo(60), sleeper(BEGIN + us(50)));
    scene.causes("second")
}

#[test]
fn interrupts_off_in_a_system_call() {
    let sleeps = [Step::SpinUntil(BEGIN), Step::SleepFor(ms(5))];
    let causes = held_off(|spec| spec.costs.syscall = us(100), sleeps);
    let off = Cause::InterruptsOff { path: IrqsOffPath::Kernel, during: Some(who(0, "first", 49)) };
    assert_eq!(causes[0], (off, 50_000), "{causes:#?}");
}

#[test]
fn interrupts_off_while_the_cpu_switches() {
    let sleeps = [Step::SpinUntil(BEGIN), Step::SleepFor(ms(5))];
    let causes = held_off(|spec| spec.costs.context_switch = us(100), sleeps);
    let off = Cause::InterruptsOff { path: IrqsOffPath::Schedule, during: None };
    assert_eq!(causes, [(off, 50_000), (Cause::Switch {}, 100_000)]);
}

#[test]
fn another_interrupt() {
    let causes = held_off(|spec| spec.costs.timer_expiry = us(100), [Step::SleepUntil(BEGIN), Step::Exit]);
    let other = Cause::Interrupt { irq: Some(LogInterrupt::Timer { pid: Pid(lab::machine::FIRST_PID) }) };
    assert_eq!(causes, [(other, 50_000), (Cause::WakePath {}, 100_000)]);
}

#[test]
fn the_machines_noise() {
    let mut scene = Scene::new(1);
    let length = Spread::Constant(us(200));
    scene.spec.noise.irq_off.push(IrqOff {
        what: "driver".into(),
        per_minute_per_cpu: 60_000,
        length,
        device: false,
    });
    scene.on(0, "victim", fifo(50), (1..90).map(|n| Step::SleepUntil(ms(n))));
    let off = Cause::InterruptsOff { path: IrqsOffPath::Noise, during: None };
    let explained = scene.explain("victim");
    let met: Vec<u64> = explained
        .iter()
        .flat_map(|one| &one.stretches)
        .map(|one| {
            assert_eq!(one.cause, off);
            one.length().0
        })
        .collect();
    assert!(met.len() > 5 && met.iter().all(|length| *length <= 400_000), "{met:?}");
    assert!(explained.iter().any(|one| one.stretches.is_empty()), "and some are not met");
}

#[test]
fn a_soft_interrupt() {
    let mut scene = Scene::new(1);
    let (at, every, work) = (ms(1), ms(50), us(500));
    scene.setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at,
        gap: SoftirqGap::Every(every),
        work,
        tally: SoftirqTally::default(),
    });
    scene.on(0, "victim", fifo(50), sleeper(BEGIN));
    assert_eq!(scene.causes("victim"), [(Cause::Softirq {}, 200_000)]);
}

/// PREEMPT_RT: a thread serves the timer of a fair task. It has to wait for FIFO 10 first, 2 ms, then for the
/// switch to it, and its own switch to the task comes behind.
#[test]
fn the_thread_of_a_soft_timer() {
    let mut scene = Scene::new(1);
    scene.kernel = "6.1-rt";
    scene.spec.costs.context_switch = us(10);
    scene.spec.costs.timer_expiry = us(3);
    scene.on(0, "victim", Policy::Normal, sleeper(BEGIN));
    scene.on(0, "runs", fifo(10), [Step::SleepUntil(ms(1)), Step::SpinUntil(us(3_300))]);
    let causes = scene.causes("victim");
    let waits = Cause::WakerWaits { waker: who(3, "ktimers/0", 98) };
    let path = Cause::WakePath {};
    assert_eq!(causes[0], (path.clone(), 3_000), "the interrupt: {causes:#?}");
    assert_eq!(causes[1].0, waits, "{causes:#?}");
    assert!((2_000_000..2_030_000).contains(&causes[1].1), "{causes:#?}");
    assert_eq!(causes[2..], [(path, 3_000), (Cause::Switch {}, 10_000)], "{causes:#?}");
}

/// The thread of a device's interrupt, FIFO 50, waits for FIFO 60.
#[test]
fn the_thread_of_an_interrupt() {
    let mut scene = Scene::new(1);
    scene.kernel = "6.1-rt";
    let channel = scene.setup.channel(ChannelSpec::new(1));
    let (at, by) = (BEGIN, lab::machine::Arrival::Own);
    scene.setup.outside(Outside { at, by, cpu: Some(CpuId(0)), channel, every: None });
    scene.on(0, "victim", fifo(90), [Step::Receive(channel)]);
    scene.on(0, "runs", fifo(60), [Step::SleepUntil(ms(1)), Step::SpinUntil(us(2_300))]);
    let thread = who(4, "irq/24-dev", 49);
    assert_eq!(scene.causes("victim"), [(Cause::WakerWaits { waker: thread }, 1_000_000)]);
}

#[test]
fn locks_of_run_queues() {
    let channel_of = |scene: &mut Scene, waker: u16, at: Nanos| {
        let room = ChannelSpec::new(1);
        let channel = scene.setup.channel(room);
        scene.on(0, &format!("reader{waker}"), fifo(50), [Step::Receive(channel)]);
        scene.on(waker, "waker", fifo(50), [Step::SpinUntil(at), Step::Send(channel)]);
    };
    let make = || {
        let mut scene = Scene::new(4);
        scene.spec.costs.enqueue = us(50);
        scene.on(0, "busy", Policy::Normal, [Step::SpinUntil(ms(3))]);
        for (waker, at) in [(1, BEGIN), (2, BEGIN + us(10)), (3, BEGIN + us(20))] {
            channel_of(&mut scene, waker, at);
        }
        scene
    };
    let wait = |waiters, of| Cause::LockWait {
        lock: LogLock::Rq { cpu: schema::CpuId(0) },
        holder: schema::CpuId(1),
        on_behalf_of: Some(who(of, "waker", 49)),
        waiters,
    };
    assert_eq!(make().causes("reader2")[0], (wait(0, 2), 40_000));
    assert_eq!(make().causes("reader3")[0], (wait(1, 2), 80_000));
}

#[test]
fn the_switch_and_what_leads_to_it() {
    let mut scene = Scene::new(1);
    scene.spec.costs.context_switch = us(10);
    scene.spec.costs.idle_exit = us(20);
    scene.spec.costs.irq_entry = us(3);
    scene.on(0, "victim", fifo(50), sleeper(BEGIN));
    let expected =
        [(Cause::IdleExit { state: None }, 20_000), (Cause::WakePath {}, 3_000), (Cause::Switch {}, 10_000)];
    assert_eq!(scene.causes("victim"), expected);
}

#[test]
fn an_interrupt_on_its_way_to_an_idle_cpu() {
    let mut scene = Scene::new(2);
    scene.spec.costs.ipi.shared_cache = us(3);
    let channel = scene.setup.channel(ChannelSpec::new(1));
    scene.on(0, "reader", fifo(50), [Step::Receive(channel)]);
    scene.on(1, "waker", fifo(50), [Step::SpinUntil(BEGIN), Step::Send(channel)]);
    let explained = scene.explain("reader");
    assert_eq!(explained[0].due, Due::Task { by: who(1, "waker", 49) });
    let causes: Vec<_> =
        explained[0].stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    assert_eq!(causes, [(Cause::InFlight { from: schema::CpuId(1) }, 3_000)]);
}

#[test]
fn what_the_caches_have_lost_comes_behind_the_latency() {
    let mut scene = Scene::new(2);
    scene.spec.cache.refill_ps_per_byte = 1_000;
    scene.task("victim", fifo(50), [Step::SleepUntil(BEGIN), Step::Compute(us(1))], |task| {
        task.working_set_bytes = 2_000;
        task.cpus = Some(CpuMask::single(CpuId(0)));
    });
    let explained = scene.explain("victim");
    assert_eq!(explained[0].latency.0, 0);
    // All of it was fetched before the sleep, by a task that did not compute: 2000 bytes, a nanosecond each.
    let afterwards = &explained[0].afterwards;
    let refill = Cause::CacheRefill { from: Some(schema::CpuId(0)) };
    assert_eq!(
        afterwards.iter().map(|one| (one.cause.clone(), one.length().0)).collect::<Vec<_>>(),
        [(refill, 2_000)]
    );
}

/// machine.md M33: 10 ms of work, beside a sibling that is busy for 6 of them, take 2.28 ms more.
fn beside_a_sibling(runs: Step, percent: u32) -> Vec<(u64, Vec<(Cause, u64)>)> {
    let mut scene = Scene::new(2);
    let core = TopologyLevel { kind: LevelKind::Smt, spans: [CpuMask::first_n(2)].into() };
    scene.spec = MachineSpec::ideal(Topology::of(2, [core].into()));
    scene.spec.speeds.smt_busy_percent = percent;
    scene.on(0, "victim", fifo(50), sleeper(us(2_300)));
    scene.on(0, "runs", fifo(60), [Step::SleepUntil(BEGIN), runs]);
    scene.on(1, "beside", fifo(40), [Step::SleepUntil(us(3_300)), Step::Compute(us(3_720))]);
    let explained = scene.explain("victim");
    let [one] = &explained[..] else { panic!("{explained:#?}") };
    let told = one.stretches.iter().map(|stretch| {
        let shares = stretch.shares.iter().map(|share| (share.cause.clone(), share.length.0));
        (stretch.length().0, shares.collect())
    });
    told.collect()
}

#[test]
fn a_busy_hardware_thread_beside_whoever_runs() {
    let beside = Cause::Sibling { cpu: schema::CpuId(1), task: who(2, "beside", 59) };
    let slowed = beside_a_sibling(Step::Compute(ms(10)), 62);
    assert_eq!(slowed, [(11_280_000, vec![(beside, 2_280_000)])]);
    assert_eq!(
        beside_a_sibling(Step::Compute(ms(10)), 100),
        [(9_000_000, vec![])],
        "a core that is no worse"
    );
    // Who only looks at the clock does so until then.
    assert_eq!(beside_a_sibling(Step::SpinUntil(ms(10)), 62), [(7_700_000, vec![])]);
}
