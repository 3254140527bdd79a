//! Idle states, and the governors that choose among them (machine.md 5.3 to 5.6).

use crate::script::{Clock, FREE_CHANNEL, fifo, ideal, ms, run_with, script, us};
use machine::{
    Governor, IdleMonitor, IdleState, IdleStates, IrqOff, Machine, MachineSpec, Outcome, OutsideChange,
    RunOptions, Setup, Spread, Step, TimedChange, Tracing, Window,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, LevelKind, Nanos, Policy, Topology, TopologyLevel};
use schema::{CpuIdle, IdleStateUse, LogEvent, LogInterrupt};

/// POLL, C1 2/2, C1E 10/20, C6 133/600: Skylake-X (machine.md 5.5).
fn states() -> Vec<IdleState> {
    vec![
        IdleState::new("POLL", IdleMonitor::Poll, us(0), us(0)),
        IdleState::new("C1", IdleMonitor::Mwait, us(2), us(2)),
        IdleState::new("C1E", IdleMonitor::Mwait, us(10), us(20)),
        IdleState::new("C6", IdleMonitor::Mwait, us(133), us(600)),
    ]
}

/// A machine on which nothing costs time but to leave one of these states.
fn machine(cpus: usize, governor: Governor, states: Vec<IdleState>) -> MachineSpec {
    let mut spec = ideal(cpus);
    spec.idle = Some(IdleStates { governor, states });
    spec
}

fn menu(cpus: usize) -> MachineSpec {
    machine(cpus, Governor::Menu, states())
}

/// A FIFO task that computes for 10 us each period, for a second, on an otherwise idle CPU.
fn timer(spec: MachineSpec, settings: &[&str], period: Nanos, held: bool) -> (Outcome, Clock) {
    timer_within(None, spec, settings, period, held)
}

/// The same, with a stretch that is measured by itself.
fn timer_within(
    window: Option<Window>,
    spec: MachineSpec,
    settings: &[&str],
    period: Nanos,
    held: bool,
) -> (Outcome, Clock) {
    let mut setup = Setup::new(spec.cpus());
    let cycle = |n: u64| [Step::SleepUntil(period * n), Step::Compute(us(10))];
    let (mut task, clock) = script("timer", (1..1_000_000_000 / period.0).flat_map(cycle));
    task.policy = fifo(50);
    task.cpus = Some(CpuMask::single(CpuId(0)));
    setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), task);
    if held {
        setup.hold_cpu_dma_latency();
    }
    let config = Config::of_profile("6.1").expect("a profile");
    ["hz=250"].iter().chain(settings).for_each(|setting| config.set(setting).expect("a setting"));
    let options = RunOptions { check: true, trace: Tracing::Everything, window, ..RunOptions::default() };
    (Machine::new(spec, config, setup, options).expect("a machine").run().expect("it runs"), clock)
}

/// How late the task of [`timer`] was, in the order of its cycles, once the governor knows it.
fn late_later(clock: &Clock, period: Nanos) -> Vec<Nanos> {
    latencies(clock, period).into_iter().skip(20).collect()
}

/// The same from the first cycle on.
fn latencies(clock: &Clock, period: Nanos) -> Vec<Nanos> {
    let woken = clock.borrow().iter().copied().skip(1).step_by(2).collect::<Vec<_>>();
    (1..).zip(woken).map(|(n, at)| at.saturating_sub(period * n)).collect()
}

fn ticks(outcome: &Outcome) -> usize {
    let is_tick = |event: &LogEvent| *event == LogEvent::IrqHandlerEntry { irq: LogInterrupt::Tick {} };
    outcome.log.iter().flatten().filter(|record| is_tick(&record.event)).count()
}

fn used<'o>(outcome: &'o Outcome, cpu: usize, name: &str) -> &'o IdleStateUse {
    outcome.idle_states[cpu].states.iter().find(|used| used.state == name).expect("a state")
}

/// machine.md 5.3: a FIFO thread with a period of 1 ms at HZ 250 idles for less than a tick each time, so
/// that the tick is never stopped. Without a governor it is, each time, and none is left.
#[test]
fn a_timer_of_1_ms_keeps_the_tick_of_an_idle_cpu() {
    let ticks = |spec, setting| ticks(&timer(spec, &[setting], ms(1), false).0);
    assert!((248..=250).contains(&ticks(menu(1), "idle_tick=drop")));
    assert!((248..=250).contains(&ticks(menu(1), "idle_tick=keep")), "the governor decides");
    for alone in [ideal(1), machine(1, Governor::None, states())] {
        assert!(ticks(alone, "idle_tick=drop") < 5);
    }
    assert!(ticks(menu(1), "idle_tick=always") < 5, "up to 4.16");
}

/// With a period of 20 ms the predicted idle time is longer than a tick: it stops, but for a few ticks.
#[test]
fn a_timer_of_20_ms_does_not() {
    let (outcome, _) = timer(menu(1), &[], ms(20), false);
    assert!(ticks(&outcome) < 10, "{}", ticks(&outcome));
    assert!(used(&outcome, 0, "C6").time_ns > 950_000_000);
}

/// machine.md 5.6: the latency of a timer is what its CPU's state takes to leave: of C6, 0.3 to 1 of 133 us.
#[test]
fn deep_states_take_long_to_leave() {
    let late = |states, period| {
        let (_, clock) = timer(machine(1, Governor::Menu, states), &[], period, false);
        let mut late = late_later(&clock, period);
        late.sort_unstable();
        [late[0], late[late.len() / 2], late[late.len() - 1]]
    };
    let [least, median, most] = late(states(), ms(2));
    assert!(least >= Nanos(39_900) && least < us(50), "{least:?}");
    assert!(median > us(80) && median < us(92), "{median:?}");
    assert!(most <= us(133) && most > us(125), "{most:?}");
    // Each figure does what it is for: one that is doubled moves the latency,
    let mut slow = states();
    slow[3] = IdleState::new("C6", IdleMonitor::Mwait, us(266), us(600));
    let [_, twice, _] = late(slow, ms(2));
    assert!(twice > us(160) && twice < us(184), "{twice:?}");
    let mut told = states();
    told[3].leaving = Spread::Constant(us(40));
    assert_eq!(late(told, ms(2)), [us(40); 3], "a file may say how long it takes");
    // and one the choice: 1 ms is not worth a state of 1.2.
    let mut long = states();
    long[3].target_residency = us(1_200);
    let [_, _, shallow] = late(long, ms(1));
    assert!(shallow <= us(10), "{shallow:?}");
    assert!(late(states(), ms(1))[1] > us(50));
}

/// machine.md 5.6, the row "idle exit": nothing where idle CPUs poll, 1 to 2 us for C1, 40 to 133 for C6.
#[test]
fn m22_beside_cpu_dma_latency_it_polls_and_keeps_the_tick() {
    let (outcome, clock) = timer(menu(1), &[], ms(20), true);
    assert!(latencies(&clock, ms(20)).iter().all(|late| *late == Nanos::ZERO));
    let periods = (outcome.simulated.0 / ms(4).0) as usize;
    assert!((periods - 1..=periods + 1).contains(&ticks(&outcome)), "{} of {periods}", ticks(&outcome));
    assert!(outcome.idle_polls);
    for deeper in ["C1", "C1E", "C6"] {
        assert_eq!(used(&outcome, 0, deeper).usage, 0);
    }
    let only_c1 = machine(1, Governor::Menu, states()[..2].to_vec());
    let (_, clock) = timer(only_c1, &[], ms(20), false);
    assert!(latencies(&clock, ms(20)).iter().all(|late| (us(1)..=us(2)).contains(late)));
}

/// machine.md 5.4: whoever writes into /dev/cpu_dma_latency in the middle of a run wakes the CPUs that idle
/// too deep, and they choose anew: the timer before that pays for C6, the one behind it for no more than C1.
#[test]
fn cpu_dma_latency_that_is_held_from_a_time_on() {
    let late = |limit| {
        let mut setup = Setup::new(2);
        let (mut task, clock) = script("timer", [ms(50), ms(100)].map(Step::SleepUntil));
        (task.policy, task.cpus) = (fifo(50), Some(CpuMask::single(CpuId(1))));
        setup.spawn_on(Nanos::ZERO, Some(CpuId(1)), task);
        let changes = vec![TimedChange { at: ms(75), change: OutsideChange::CpuDmaLatency { limit } }];
        let options = RunOptions { check: true, changes, ..RunOptions::default() };
        let outcome = run_with(menu(2), "6.1", setup, options).expect("a run without error");
        let woken: Vec<Nanos> = clock.borrow().clone();
        ([woken[1] - ms(50), woken[2] - ms(100)], outcome.idle_states)
    };
    let ([before, after], states) = late(Nanos::ZERO);
    assert!(before >= Nanos(39_900), "{before:?}");
    assert_eq!(after, Nanos::ZERO, "it polls");
    let polled = states.iter().map(|cpu| cpu.states[0].time_ns);
    assert!(polled.clone().all(|polled| polled >= 24_000_000), "{:?}", polled.collect::<Vec<_>>());
    let ([_, after], _) = late(us(2));
    assert!(after >= us(1) && after <= us(2), "C1: {after:?}");
    let ([_, after], _) = late(ms(1));
    assert!(after >= Nanos(39_900), "C6 takes less: {after:?}");
}

/// machine.md 5.4, teo: a timer of 20 ms sleeps in C6; where something wakes its CPU each 100 us, C1E it is.
#[test]
fn teo_goes_by_what_woke_its_cpu() {
    let teo = |period| {
        let (outcome, _) = timer(machine(1, Governor::Teo, states()), &[], period, false);
        (used(&outcome, 0, "C6").time_ns, used(&outcome, 0, "C1E").time_ns, ticks(&outcome))
    };
    let (deep, shallow, kept) = teo(ms(20));
    assert!(deep > 950_000_000 && shallow < 10_000_000 && kept < 10, "{deep} {shallow} {kept}");
    let (deep, shallow, kept) = teo(us(100));
    assert!(shallow > 850_000_000 && deep < 10_000_000, "{deep} {shallow}");
    assert!((248..=250).contains(&kept), "idle for less than a tick: {kept}");
}

/// A task wakes another one on an idle CPU: what that takes, and the interrupts that it gets.
fn remote_wakeup(by: IdleMonitor) -> (Nanos, u64, u64) {
    let mut deep = IdleState::new("C6", by, us(100), us(200));
    deep.leaving = Spread::Constant(us(60));
    let poll = IdleState::new("POLL", IdleMonitor::Poll, us(0), us(0));
    let mut spec = machine(2, Governor::Menu, vec![poll, deep]);
    (spec.costs.irq_entry, spec.costs.idle_exit) = (us(1), us(9));
    let mut setup = Setup::new(2);
    let channel = setup.channel(FREE_CHANNEL);
    let (waker, sent) = script("waker", [Step::SleepUntil(ms(5)), Step::Send(channel)]);
    let (sleeper, received) = script("sleeper", [Step::Receive(channel)]);
    for (cpu, mut task) in [(0, waker), (1, sleeper)] {
        task.policy = fifo(50);
        task.cpus = Some(CpuMask::single(CpuId(cpu)));
        setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), task);
    }
    let options = RunOptions { check: true, ..RunOptions::default() };
    let outcome = run_with(spec, "6.1", setup, options).expect("a run without error");
    let after = received.borrow()[1].saturating_sub(sent.borrow()[1]);
    (after, outcome.cpus[1].ipis_received, outcome.cpus[1].polled)
}

/// machine.md 5.5, M19: whether an interrupt is needed depends on the state, and so does what leaving costs;
/// the machine's `idle_exit` is that of machines with one state.
#[test]
fn m19_the_state_says_whether_an_interrupt_is_needed() {
    assert_eq!(remote_wakeup(IdleMonitor::Mwait), (us(60), 0, 1));
    assert_eq!(remote_wakeup(IdleMonitor::Hlt), (us(61), 1, 0));
}

/// machine.md 5.4, haltpoll: sleeps of 40 us end while the CPU polls, for which the first halt of that length
/// makes it; those of 2 ms do not, and the halt is left anew each time.
#[test]
fn haltpoll_polls_through_short_idle_times() {
    let mut halt = IdleState::new("HLT", IdleMonitor::Hlt, us(1), us(1));
    halt.leaving = Spread::Constant(us(9));
    let states = vec![IdleState::new("POLL", IdleMonitor::Poll, us(0), us(0)), halt];
    let late = |period| {
        let (outcome, clock) = timer(machine(1, Governor::Haltpoll, states.clone()), &[], period, false);
        (late_later(&clock, period), used(&outcome, 0, "HLT").usage, ticks(&outcome))
    };
    let (short, halts, kept) = late(us(50));
    assert!(short.iter().all(|late| *late == Nanos::ZERO) && halts < 20, "{halts} halts");
    assert!((248..=250).contains(&kept), "a CPU that polls ticks: {kept}");
    let (long, halts, kept) = late(ms(2));
    assert!(long.iter().all(|late| *late == us(9)) && halts >= 499, "{halts} halts");
    assert!(kept < 5, "one that halts does not: {kept}");
}

/// Whatever a CPU does when it idles is in one of its states, up to what it takes to leave them.
#[test]
fn times_in_states_add_up_to_idle_time() {
    for governor in Governor::ALL {
        let few = if governor == Governor::Haltpoll { 2 } else { 4 };
        let (outcome, clock) = timer(machine(1, governor, states()[..few].to_vec()), &[], us(700), false);
        let CpuIdle { states, .. } = &outcome.idle_states[0];
        let idle: u64 = states.iter().map(|used| used.time_ns).sum();
        // The task computes for 10 us each time.
        let busy = 10_000 * latencies(&clock, us(700)).len() as u64;
        let elapsed = outcome.simulated.0;
        assert!(idle.abs_diff(elapsed - busy) < 20_000, "{governor:?}: {idle} of {elapsed}, {busy} busy");
        let entries: u64 = states.iter().map(|used| used.usage).sum();
        let timed = outcome.log.iter().flatten().filter_map(|record| match record.event {
            LogEvent::CpuIdle { state, .. } => Some((record.time.0, state)),
            _ => None,
        });
        let timed: Vec<(u64, u32)> = timed.collect();
        let told: Vec<u32> = timed.iter().map(|(_, state)| *state).collect();
        assert_eq!(told.iter().filter(|state| **state != u32::MAX).count() as u64, entries);
        let ends = |pair: &[(u64, u32)]| if pair[1].1 == u32::MAX { pair[1].0 - pair[0].0 } else { 0 };
        let told_ns: u64 = timed.windows(2).map(ends).sum();
        assert_eq!(told_ns, idle, "{governor:?}: an event has the time of the table");
        let alternates = told.windows(2).all(|pair| (pair[0] == u32::MAX) != (pair[1] == u32::MAX));
        assert!(alternates, "a CPU enters a state, and leaves it");
    }
}

/// A stretch begins and ends where it is said, in the middle of leaving a state as well: of 20.97 ms in which
/// the timer expires ten times, and its task computes eleven times, the CPU idles for the rest.
#[test]
fn a_stretch_has_the_idle_time_between_its_ends() {
    let mut states = states();
    states[3].leaving = Spread::Constant(us(60));
    let stretch = Window { from: us(500_030), to: us(521_000) };
    let spec = machine(1, Governor::Menu, states);
    let (outcome, _) = timer_within(Some(stretch), spec, &["idle_tick=drop"], ms(2), false);
    let window = outcome.window.as_ref().expect("the run gets there");
    let [CpuIdle { states, .. }] = &window.idle_states[..] else { panic!("one CPU") };
    assert_eq!(states.iter().map(|used| used.time_ns).sum::<u64>(), 20_970_000 - 11 * 10_000);
    assert_eq!(Some(&window.idle_states[0].states[3]), states.iter().find(|used| used.state == "C6"));
    let whole = used(&outcome, 0, "C6");
    assert!((10..=25).contains(&states[3].usage), "{}", states[3].usage);
    assert!(whole.usage > 480 && whole.time_ns > 900_000_000, "{whole:?}");
}

/// A new task goes to the idle CPU in the shallowest state (fair-placement 2.9). Of the two CPUs beside those
/// of its parent one has a timer every 15 us, which is worth C1 only, and the other one began to idle later.
#[test]
fn a_new_task_goes_to_the_shallowest_idle_cpu() {
    let goes_to = |idle: Option<IdleStates>| {
        let span = |cpus: &[u16]| cpus.iter().copied().map(CpuId).collect::<CpuMask>();
        let levels = vec![
            TopologyLevel { kind: LevelKind::Mc, spans: [span(&[0, 1]), span(&[2, 3])].into() },
            TopologyLevel { kind: LevelKind::Package, spans: [span(&[0, 1, 2, 3])].into() },
        ];
        let mut spec = MachineSpec::ideal(Topology::of(4, levels));
        spec.idle = idle;
        let mut setup = Setup::new(4);
        let (often, _) = script("often", (1..2_000).map(|n| Step::SleepUntil(us(15 * n))));
        let (later, _) = script("later", [Step::SleepUntil(ms(15)), Step::SpinUntil(us(20_006))]);
        let (hog, _) = script("hog", [Step::Compute(ms(40))]);
        for (cpu, policy, mut task) in [(3, fifo(50), often), (2, fifo(50), later), (0, Policy::Normal, hog)]
        {
            (task.policy, task.cpus) = (policy, Some(CpuMask::single(CpuId(cpu))));
            setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), task);
        }
        let (new, _) = script("new", [Step::Compute(ms(1))]);
        let (_, pid) = setup.spawn(us(20_008), new);
        let trace = Tracing::Everything;
        let outcome =
            run_with(spec, "6.1", setup, RunOptions { check: true, trace, ..RunOptions::default() })
                .expect("a run without error");
        let new = outcome.log.iter().flatten().find_map(|record| match &record.event {
            LogEvent::SchedWakeupNew { task, target_cpu } if task.pid.0 == pid.0 => Some(target_cpu.0),
            _ => None,
        });
        new.expect("it was woken")
    };
    assert_eq!(goes_to(menu(4).idle), 3);
    assert_eq!(goes_to(None), 2, "without states, the last one that began to idle");
}

/// Noise of other kinds, and what tasks do, come out the same whatever the states take to leave: the streams
/// are apart.
#[test]
fn states_shift_no_other_dice() {
    let handlers = |leaving| {
        let mut deep = IdleState::new("C6", IdleMonitor::Hlt, us(100), us(200));
        deep.leaving = leaving;
        let mut spec = machine(1, Governor::Menu, vec![deep]);
        let length = Spread::Exponential { min: us(1), mean: us(20) };
        let what = "a handler".to_owned();
        spec.noise.irq_off = vec![IrqOff { what, per_minute_per_cpu: 60_000, length, device: false }];
        let log = timer(spec, &[], ms(7), false).0.log.expect("asked for");
        let length = |event: &LogEvent| match event {
            LogEvent::IrqHandlerEntry { irq: LogInterrupt::IrqsOff { length, .. } } => Some(length.0),
            _ => None,
        };
        log.iter().filter_map(|record| length(&record.event)).collect::<Vec<u64>>()
    };
    let (fixed, drawn) =
        (handlers(Spread::Constant(us(70))), handlers(Spread::Uniform { min: us(30), max: us(100) }));
    assert!(fixed.len() > 900, "{}", fixed.len());
    let both = fixed.len().min(drawn.len());
    assert_eq!(fixed[..both], drawn[..both]);
}
