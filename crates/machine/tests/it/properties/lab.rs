//! Runs a scenario.

use super::scenario::{Op, Price, Scenario, Shape};
use super::script::{Feeder, Script, Shared, Sink, Waker, nice, policy};
use machine::{
    ByDistance, ChannelSpec, ColdPath, CpuSpeed, ExitedTasks, Governor, GroupSpec, IdleMonitor, IdleState,
    IdleStates, IrqOff, KthreadNoise, Machine, MachineSpec, MutexKind, Operation, Outcome, Points, QuotaSpec,
    Room, RtLimitSpec, RunError, RunOptions, Rwsems, Setup, SnapshotPlan, SoftirqGap, SoftirqSpec,
    SoftirqTally, Spread, Stretch, TaskSpec, TimedSetting, Tracing, Woken,
};
use scheduler::frequency::{FrequencyDomain, PerfLevel};
use scheduler::registry::{Config, RtThrottle};
use scheduler::{
    Clamps, CpuId, CpuMask, GroupId, LevelKind, Nanos, Nice, Policy, RtPriority, Topology, TopologyLevel,
};
use std::cell::Cell;
use std::rc::Rc;

/// Longer than any scenario needs: its tasks' work is bounded.
pub const DURATION: Nanos = Nanos::from_secs(3_000);

/// Runs it under the checker.
pub fn run(scenario: &Scenario, trace: bool) -> Result<Outcome, RunError> {
    let trace = if trace { Tracing::Everything } else { Tracing::Off };
    run_with(scenario, RunOptions { duration: DURATION, trace, check: true, ..RunOptions::default() })
}

/// Runs it with a trace, but without the checker.
pub fn run_unchecked(scenario: &Scenario, until: Nanos) -> Result<Outcome, RunError> {
    run_with(scenario, RunOptions { duration: until, trace: Tracing::Everything, ..RunOptions::default() })
}

/// The same with a look at its end.
pub fn run_and_look(scenario: &Scenario, until: Nanos) -> Result<Outcome, RunError> {
    let snapshots = SnapshotPlan { at_end: true, exited: ExitedTasks::All, ..SnapshotPlan::default() };
    let trace = Tracing::Everything;
    run_with(scenario, RunOptions { duration: until, trace, snapshots, ..RunOptions::default() })
}

fn run_with(scenario: &Scenario, options: RunOptions) -> Result<Outcome, RunError> {
    let mut later = scenario.later.clone();
    loop {
        // What the kernel refuses leaves everything as it was.
        match run_once(scenario, &later, options.clone()) {
            Err(RunError::Refused { setting, at, .. }) => {
                later.retain(|(us, other)| Nanos::from_micros((*us).into()) != at || *other != setting);
            }
            result => return result,
        }
    }
}

fn run_once(scenario: &Scenario, later: &[(u32, String)], options: RunOptions) -> Result<Outcome, RunError> {
    let spec = machine(scenario);
    let config = Config::of_profile(scenario.kernel).expect("a profile of the registry");
    for setting in &scenario.settings {
        config.set(setting).expect("a setting of the registry");
    }
    let mut setup = setup(scenario, spec.cpus() as u16);
    if config.rules.rt_throttle.get() == RtThrottle::Groups {
        give_real_time(&config, &mut setup);
    }
    let settings = later
        .iter()
        .map(|(at, setting)| TimedSetting { at: Nanos::from_micros((*at).into()), setting: setting.clone() })
        .collect();
    let options = RunOptions { seed: scenario.seed, settings, ..options };
    Machine::new(spec, config, setup, options)?.run()
}

/// Where groups have real-time tasks of their own, each has some time for them, and the root enough for all,
/// or no limit, which deadline tasks that are bound to a CPU need.
fn give_real_time(config: &Config, setup: &mut Setup) {
    if config.tunables.sched_rt_runtime_us.get() >= 0 {
        for setting in ["sched_rt_period_us=10000", "sched_rt_runtime_us=9000"] {
            config.set(setting).expect("legal");
        }
    }
    let mut runtimes = vec![Nanos::from_micros(2_000)];
    setup.change_groups(|group| {
        let runtime = Nanos(runtimes[group.parent.index()].0 / 5);
        runtimes.push(runtime);
        group.rt = Some(RtLimitSpec { runtime: Some(runtime), period: Some(Nanos::from_micros(2_000)) });
    });
}

fn mask(cpus: std::ops::Range<u16>) -> CpuMask {
    cpus.map(CpuId).collect()
}

fn topology(shape: Shape) -> Topology {
    let groups = |n: u16, size: u16| (0..n).map(|g| mask(g * size..(g + 1) * size)).collect::<Vec<_>>();
    let level = |kind, spans| TopologyLevel { kind, spans };
    match shape {
        Shape::Flat(n) => Topology::flat(n.into()),
        Shape::Unequal { small, large } => Topology::flat(usize::from(small + large)),
        Shape::Pairs(n) => Topology::of(
            2 * usize::from(n),
            vec![level(LevelKind::Mc, groups(n, 2)), level(LevelKind::Package, groups(1, 2 * n))],
        ),
        Shape::Clusters(n) => Topology::of(
            2 * usize::from(n),
            vec![level(LevelKind::Cluster, groups(n, 2)), level(LevelKind::Mc, groups(1, 2 * n))],
        ),
        Shape::Threads(n) => Topology::of(
            2 * usize::from(n),
            vec![level(LevelKind::Smt, groups(n, 2)), level(LevelKind::Mc, groups(1, 2 * n))],
        ),
        Shape::Hybrid { large, small } => {
            let all = 2 * large + small;
            let cores = |rest: Vec<CpuMask>| [groups(large, 2), rest].concat();
            let single = (2 * large..all).map(|cpu| CpuMask::single(CpuId(cpu))).collect();
            Topology::of(
                all.into(),
                vec![
                    level(LevelKind::Smt, cores(single)),
                    level(LevelKind::Cluster, cores(vec![mask(2 * large..all)])),
                    level(LevelKind::Mc, groups(1, all)),
                ],
            )
        }
        Shape::Nodes { nodes, cpus, far } => Topology::of(
            usize::from(nodes * cpus),
            vec![
                level(LevelKind::Mc, groups(nodes, cpus)),
                level(LevelKind::Numa { distance: if far { 40 } else { 20 } }, groups(1, nodes * cpus)),
            ],
        ),
    }
}

fn machine(scenario: &Scenario) -> MachineSpec {
    let mut spec = MachineSpec::ideal(topology(scenario.shape));
    spec.idle = scenario.idle_governor().map(idle_states);
    if matches!(scenario.shape, Shape::Threads(_) | Shape::Hybrid { .. }) {
        spec.speeds.smt_busy_percent = 62;
    }
    if scenario.prefers() {
        let second = |cpu: usize| spec.core_of(CpuId(cpu as u16)).first().map_or(0, |first| first.0 / 2 % 2);
        let priorities = (0..spec.cpus()).map(|cpu| if second(cpu) == 1 { 35 } else { 60 }).collect();
        spec.set_priorities(priorities);
    }
    if let Shape::Hybrid { large, small } = scenario.shape {
        let each = [(2 * large, CpuSpeed::FULL, 60), (small, CpuSpeed::Percent(58), 35)];
        spec.set_speeds(each.map(|(cpus, speed, _)| vec![speed; cpus.into()]).concat());
        spec.set_priorities(each.map(|(cpus, _, priority)| vec![priority; cpus.into()]).concat());
    }
    if let Shape::Unequal { small, large } = scenario.shape {
        let speeds = [(small, CpuSpeed::Capacity(446)), (large, CpuSpeed::Capacity(1024))];
        let each = speeds.map(|(cpus, speed)| vec![speed; cpus.into()]);
        spec.set_speeds(each.concat());
        spec.topology.frequencies = frequencies(small, large);
    }
    let times = match scenario.price {
        Price::Free => return spec,
        Price::Usual | Price::Noisy => 1,
        Price::Dear => 20,
    };
    let ns = |n: u64| Nanos(n * times);
    let distances = |own, near, far| ByDistance {
        own: ns(own),
        smt: ns(near),
        shared_cache: ns(near),
        same_node: ns(2 * near),
        other_node: ns(far),
    };
    let costs = &mut spec.costs;
    costs.schedule = ns(200);
    costs.context_switch = ns(1_000);
    costs.enqueue = ns(200);
    costs.dequeue = ns(150);
    costs.wakeup = ns(300);
    costs.tick = ns(400);
    costs.scan_cpu = ns(20);
    costs.scan_task = ns(20);
    costs.set_prio = ns(200);
    costs.irq_entry = ns(200);
    costs.irq_exit = ns(200);
    costs.timer_expiry = ns(300);
    costs.syscall = ns(100);
    costs.timer_program = ns(100);
    costs.fork = ns(50_000);
    costs.thread_create = ns(10_000);
    costs.exec = ns(100_000);
    costs.exit = ns(20_000);
    costs.wait = ns(1_000);
    costs.lock_uncontended = ns(25);
    costs.ipi_send = ns(100);
    costs.idle_exit = ns(500);
    costs.ipi = distances(300, 600, 1_000);
    costs.line = distances(2, 50, 150);
    costs.ticket_spinner_percent = 30;
    for (operation, every) in Operation::ALL.into_iter().zip([5, 2, 8, 10, 1, 15]) {
        spec.stretches.set(operation, pieces(ns(1_000 * every)));
    }
    if scenario.seed % 4 == 1 {
        // So long that few operations come to their end without meeting another.
        spec.rwsems = Some(Rwsems { mapping_hold: ns(20_000), address_space_hold: ns(20_000) });
    }
    spec.cache.refill_ps_per_byte = 100;
    spec.cache.shared_cache_lost_percent = 30;
    if scenario.price == Price::Noisy {
        disturb(&mut spec, scenario.seed.is_multiple_of(2));
        if scenario.seed.is_multiple_of(3) {
            deliver(&mut spec);
        }
    }
    spec
}

/// As many as the governor can use.
fn idle_states(governor: Governor) -> IdleStates {
    let us = Nanos::from_micros;
    let mut states = vec![
        IdleState::new("POLL", IdleMonitor::Poll, us(0), us(0)),
        IdleState::new("C1", IdleMonitor::Hlt, us(2), us(2)),
        IdleState::new("C1E", IdleMonitor::Mwait, us(10), us(20)),
        IdleState::new("C6", IdleMonitor::Mwait, us(133), us(600)),
    ];
    states.truncate(if governor == Governor::Haltpoll { 2 } else { 4 });
    IdleStates { governor, states }
}

/// Those of small and large CPUs, with what they take (the table of deadline-groups C4).
fn frequencies(small: u16, large: u16) -> Vec<FrequencyDomain> {
    let levels = |levels: [(u32, u32); 3]| {
        let level = |(mhz, mw)| PerfLevel { khz: 1_000 * mhz, milliwatts: Some(mw) };
        levels.map(level).to_vec()
    };
    let of = |cpus, table| FrequencyDomain { cpus: mask(cpus), levels: levels(table) };
    vec![
        of(0..small, [(160, 60), (240, 150), (446, 300)]),
        of(small..small + large, [(341, 180), (682, 700), (1024, 1600)]),
    ]
}

/// Points of cond_resched so far apart in the mean.
fn pieces(cond_every: Nanos) -> Stretch {
    let points = Points { cond_every, might_every: Nanos(cond_every.0 / 2), longest: cond_every * 6 };
    Stretch {
        points: Some(points),
        atomic_percent: 30,
        atomic_mean: Nanos(cond_every.0 / 5),
        atomic_max: cond_every,
    }
}

fn disturb(spec: &mut MachineSpec, device: bool) {
    let us = Nanos::from_micros;
    let noise = &mut spec.noise;
    noise.timer_jitter = Some(Spread::Exponential { min: Nanos(200), mean: us(2) });
    noise.spin_overshoot = Some(Spread::Uniform { min: Nanos::ZERO, max: us(20) });
    noise.irq_off.push(IrqOff {
        what: "drivers".into(),
        per_minute_per_cpu: 30_000,
        length: Spread::Exponential { min: us(5), mean: us(20) },
        device,
    });
    let kthread = |comm: &str, policy, per_cpu| KthreadNoise {
        comm: comm.into(),
        policy,
        nice: Nice::default(),
        per_cpu,
        woken: Woken::Every(Spread::Exponential { min: us(500), mean: us(3_000) }),
        run: Spread::Uniform { min: us(1), max: us(100) },
    };
    let softirq = RtPriority::new(50).expect("1 to 99");
    noise.kthreads.push(kthread("ksoftirqd", Policy::Fifo(softirq), true));
    noise.kthreads.push(kthread("kworker", Policy::Normal, false));
}

/// As in a virtual machine: interrupts of timers have a way, and wakeups go cold.
fn deliver(spec: &mut MachineSpec) {
    spec.noise.timer_delivery = spec.noise.timer_jitter.take();
    spec.cold = Some(ColdPath { path: Nanos(3_000), bytes: 1 << 19, halted: Nanos::from_millis(5) });
}

const CHANNELS: usize = 2;

fn setup(scenario: &Scenario, cpus: u16) -> Setup {
    let mut setup = Setup::new(cpus.into());
    if scenario.polls() {
        setup.hold_cpu_dma_latency();
    }
    for (n, pi) in scenario.mutexes.iter().enumerate() {
        setup.mutex(format!("m{n}"), if *pi { MutexKind::Pi } else { MutexKind::Plain });
    }
    let channel =
        |capacity, sync| ChannelSpec { sync, send_cost: Nanos::from_micros(1), ..ChannelSpec::new(capacity) };
    // The second one has a mutex.
    let pipe = |n| match n {
        1 => ChannelSpec { room: Room::Pages { pages: 1, per_page: 1 }, ..channel(1, true) },
        _ => channel(1, true),
    };
    let shared = Shared {
        cpus,
        mutexes: scenario.mutexes.len() as u8,
        channels: (0..CHANNELS).map(|n| setup.channel(channel(10_000, n == 0))).collect(),
        pipes: (0..CHANNELS).map(|n| setup.channel(pipe(n))).collect(),
        futexes: (0..CHANNELS).map(|_| setup.futex()).collect(),
        tasks: scenario.tasks.len() as u8,
        waits: Rc::new(Cell::new(count(scenario, |op| matches!(op, Op::Wait(_))))),
    };
    setup.isolate(isolated(scenario, cpus));
    setup.nohz_full(undisturbed(scenario, cpus));
    let groups = groups(scenario, &mut setup);
    for (n, plan) in scenario.tasks.iter().enumerate() {
        let mut task = TaskSpec::new(format!("t{n}"), Script::new(&plan.ops, &shared));
        task.timer_slack = Nanos::from_micros(50);
        task.policy = policy(plan.policy);
        task.nice = nice(plan.nice);
        task.cpus = Some(shared.mask(plan.cpus));
        // Many a thread of the kernel is bound.
        task.kernel_thread = plan.cpus.count_ones() == 1;
        task.working_set_bytes = 1_000 * n as u64;
        task.group = Some(groups[(scenario.seed >> 8) as usize % (n + 3) % groups.len()]);
        setup.spawn(Nanos::from_micros(plan.start.into()), task);
    }
    if let Some(plan) = scenario.softirq {
        let every = Nanos::from_micros(plan.every.into());
        setup.softirq(SoftirqSpec {
            cpu: CpuId(plan.cpu % cpus),
            at: every,
            gap: SoftirqGap::Every(every),
            work: Nanos::from_micros(plan.work.into()),
            tally: SoftirqTally::default(),
        });
    }
    helpers(scenario, &shared, &mut setup);
    setup
}

/// In one of five scenarios some CPUs are isolated; the first is not.
fn isolated(scenario: &Scenario, cpus: u16) -> CpuMask {
    let chosen = |cpu: &u16| scenario.seed % 5 == 3 && scenario.seed >> (cpu % 16 + 16) & 1 == 1;
    (1..cpus).filter(chosen).map(CpuId).collect()
}

/// In one of seven scenarios some CPUs may stop their tick; the first may not.
fn undisturbed(scenario: &Scenario, cpus: u16) -> CpuMask {
    let chosen = |cpu: &u16| scenario.seed % 7 == 4 && scenario.seed >> (cpu % 16 + 20) & 1 == 1;
    (1..cpus).filter(chosen).map(CpuId).collect()
}

/// The root and, in one of four scenarios, some groups, of which one may be part of another.
fn groups(scenario: &Scenario, setup: &mut Setup) -> Vec<GroupId> {
    let mut groups = vec![GroupId::ROOT];
    if scenario.seed % 4 == 2 {
        for n in 0..1 + scenario.seed / 4 % 4 {
            let dice = scenario.seed >> (8 * n);
            groups.push(setup.group(GroupSpec {
                parent: groups[(dice >> 4) as usize % groups.len()],
                shares: [1024, 2, 300, 10_000][(dice >> 8) as usize % 4],
                idle: dice >> 16 & 7 == 0,
                quota: quota(dice >> 20),
                clamps: clamps(dice >> 24),
                ..GroupSpec::new(format!("g{n}"))
            }));
        }
    }
    groups
}

/// Clamps for every fourth group.
fn clamps(dice: u64) -> Clamps {
    if dice & 3 == 0 { Clamps { min: 100, max: 400 } } else { Clamps::NONE }
}

/// A limit for every second group.
fn quota(dice: u64) -> Option<QuotaSpec> {
    let ms = Nanos::from_millis;
    let (quota, period) =
        [(ms(1), ms(2)), (ms(2), ms(10)), (ms(30), ms(20)), (ms(20), ms(100))][dice as usize % 4];
    let burst = if dice & 8 == 0 { Nanos::ZERO } else { quota };
    (dice & 4 == 0).then_some(QuotaSpec { quota, period, burst })
}

/// Tasks that see to it that nobody waits for ever.
fn helpers(scenario: &Scenario, shared: &Shared, setup: &mut Setup) {
    let of = |ids: &[_], is: fn(&Op) -> Option<u8>| {
        ids.iter()
            .enumerate()
            .map(|(i, id)| {
                (*id, count(scenario, |op| is(op).is_some_and(|n| usize::from(n) % CHANNELS == i)))
            })
            .collect::<Vec<_>>()
    };
    let takes = of(&shared.channels, |op| if let Op::Take(n) = op { Some(*n) } else { None });
    let writes = of(&shared.pipes, |op| if let Op::Write(n) = op { Some(*n) } else { None });
    if takes.iter().any(|(_, n)| *n > 0) {
        setup.spawn(Nanos::ZERO, TaskSpec::new("feeder", Feeder { left: takes, rest: true }));
    }
    for (pipe, left) in writes.into_iter().filter(|(_, n)| *n > 0) {
        setup.spawn(Nanos::ZERO, TaskSpec::new("sink", Sink { left, pipe }));
    }
    if shared.waits.get() > 0 {
        let (waits, futexes) = (shared.waits.clone(), shared.futexes.clone());
        setup.spawn(Nanos::ZERO, TaskSpec::new("waker", Waker { waits, futexes, next: 0 }));
    }
}

/// How often an operation of a kind occurs, in children too.
fn count(scenario: &Scenario, is: impl Fn(&Op) -> bool + Copy) -> usize {
    fn within(ops: &[Op], is: impl Fn(&Op) -> bool + Copy) -> usize {
        let of_children = |op: &Op| if let Op::Fork { ops, .. } = op { within(ops, is) } else { 0 };
        ops.iter().map(|op| usize::from(is(op)) + of_children(op)).sum()
    }
    scenario.tasks.iter().map(|t| within(&t.ops, is)).sum()
}
