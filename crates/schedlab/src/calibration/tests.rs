//! The machine file of figures that are known.

use super::bandwidth::Bandwidth;
use super::cold::tests::on_a_machine;
use super::figure::Figure;
use super::gaps::{Interruptions, Source, Ticks};
use super::host::Host;
use super::host_stalls::HostStalls;
use super::idle::IdleWakeups;
use super::idle_states::IdleTable;
use super::measure::{Hops, Refill};
use super::pieces::tests::seen_under;
use super::preemption::HostPreemption;
use super::siblings::Siblings;
use super::soft_interrupts::Handlers;
use super::timers::{Lateness, Meanwhile, Sleeper, TimerRun, Timers};
use super::{EntrySource, Measured, MeasuredPair, file, sources};
use machine::{ByDistance, Distance, IdleMonitor, IrqOff, MachineSpec, Operation, OriginKind, Spread};
use scheduler::{CpuMask, Nanos};

/// A machine whose CPUs share a cache.
fn host(cpus: usize) -> Host {
    let all = CpuMask::first_n(cpus);
    Host {
        online: (0..cpus as u16).collect(),
        cores: all.iter().map(CpuMask::single).collect(),
        caches: vec![all],
        packages: vec![all],
        slit: 20,
        left_out: Vec::new(),
    }
}

/// One CPU; two; two cores of two threads; two packages.
pub(super) fn hosts() -> Vec<Host> {
    let mut apart = threads();
    apart.caches = apart.cores.clone();
    apart.packages = apart.cores.clone();
    vec![host(1), host(2), threads(), apart]
}

/// Two cores with two hardware threads each.
fn threads() -> Host {
    let mut threads = host(4);
    threads.cores = vec![CpuMask::first_n(2), CpuMask::first_n(4).without(&CpuMask::first_n(2))];
    threads
}

/// All that can be measured on a machine.
pub(super) fn measured_everything(host: &Host) -> Measured {
    let far = Distance::ALL.into_iter().skip(1).filter(|distance| host.pair(*distance).is_some());
    Measured {
        refill: Some(Refill { in_order: figure(10), at_random: figure(90) }),
        siblings: host.has_smt().then(|| Siblings { alone: figure(50_000), together: figure(80_000) }),
        cold: Some(on_a_machine(14_000.0, 1_048_576.0, 5e6)),
        pieces: Some(seen_under(HostPreemption::None)),
        stalls: HostStalls {
            lengths_ns: (1..=20).map(|n| 100_000 + n * n * 10_000).collect(),
            watched_ns: 30_000_000_000,
            cpus: 2,
        },
        bandwidth: figure(2_580_000)
            .zip(figure(4_610_000))
            .map(|(alone, together)| Bandwidth { alone, together }),
        handlers: Some(Ok(vec![Handlers {
            what: "softirq RCU".to_owned(),
            count: 231,
            p50_ns: 3_000,
            p99_ns: 30_000,
            max_ns: 85_000,
        }])),
        ..measured(far.map(|distance| pair(distance, 226, 20_000)).collect())
    }
}

fn figure(ns: u64) -> Option<Figure> {
    Figure::of(vec![ns])
}

fn pair(distance: Distance, line: u64, round: u64) -> MeasuredPair {
    let hop = Hops { hop: figure(20_000), call: figure(9000) };
    MeasuredPair { distance, hop, round: figure(round), line: figure(line) }
}

/// The machine that recorded the data of the tests, roughly.
fn measured(pairs: Vec<MeasuredPair>) -> Measured {
    Measured {
        syscall: figure(116),
        lock: figure(10),
        yield_alone: figure(371),
        yield_switch: figure(1016),
        pipe_alone: figure(500),
        hop: Hops { hop: figure(2300), call: None },
        timers: Some(fifo(15_000)),
        idle: Some(IdleWakeups { wakeups: 400, interrupts: 400, idle_percent: 99 }),
        timer_program: figure(4700),
        hand_over: figure(3000),
        thread: figure(16_000),
        process: figure(600_000),
        interruptions: Interruptions {
            sources: Figure::of(vec![500; 4000]).map(source).into_iter().collect(),
            ticks: figure(7000).map(|lengths| Ticks { hz: 250, lengths }),
            by_tasks: 3,
            watched_ns: 5_000_000_000,
        },
        pairs,
        ..Measured::default()
    }
}

/// 800 a second.
fn source(lengths: Figure) -> Source {
    Source { what: "interrupts", per_minute: 48_000, mean_ns: 5000, longest_ns: 9000, lengths }
}

/// A real-time thread whose sleeps all end so late.
fn fifo(late_ns: u64) -> Timers {
    let lateness = Lateness::of(vec![late_ns; 100]).expect("samples");
    let run = TimerRun { sleeper: Sleeper::Fifo, meanwhile: Meanwhile::Busy, interval_ns: 250_000, lateness };
    Timers { runs: vec![run], told_slack_ns: Some(50_000) }
}

fn spec(host: &Host, measured: Option<&Measured>) -> MachineSpec {
    MachineSpec::parse(&file::text("here", host, measured), "here").expect("a machine file")
}

fn of_distance(costs: &ByDistance) -> [u64; 3] {
    [costs.own, costs.shared_cache, costs.same_node].map(|Nanos(ns)| ns)
}

#[test]
fn a_distance_that_is_not_here_costs_no_less_than_a_nearer_one_that_is() {
    let measured = measured(vec![pair(Distance::SharedCache, 226, 20_000)]);
    let MachineSpec { costs, origins, .. } = spec(&host(2), Some(&measured));
    assert_eq!(of_distance(&costs.line), [1, 226, 226]);
    let [own, shared_cache, same_node] = of_distance(&costs.ipi);
    assert!(own < shared_cache && shared_cache == same_node, "{own}, {shared_cache}, {same_node}");
    let origin = origins.iter().find(|origin| origin.field == "costs.line.same_node").expect("it has one");
    assert_eq!(
        origin.text,
        "not measured: all cores of a package share a cache here; as on the machine laptop (through the \
         memory fabric to another cache of the package): 80, but no less than nearer CPUs here"
    );
}

#[test]
fn a_distance_that_is_not_here_costs_no_more_than_a_farther_one_that_is() {
    let mut apart = host(2);
    apart.caches = apart.cores.clone();
    let measured = measured(vec![pair(Distance::SameNode, 20, 1500)]);
    let costs = spec(&apart, Some(&measured)).costs;
    assert_eq!(of_distance(&costs.line), [1, 20, 20]);
    assert_eq!(of_distance(&costs.ipi), [150, 150, 150], "the laptop has 300, 600");
}

#[test]
fn a_published_figure_that_cannot_be_here_is_a_guess() {
    let measured = measured(vec![pair(Distance::SharedCache, 226, 20_000)]);
    let two = host(2);
    let sources = sources::of_file(&spec(&two, Some(&measured)), &two, &measured);
    let ipi = sources.into_iter().find(|source| source.entry == "costs.ipi.same_node").expect("it is there");
    assert_eq!(ipi.kind, Some(OriginKind::Assumed));
    assert!(
        ipi.how.starts_with("rt-class 10.4") && ipi.how.contains(": 800, but no less than"),
        "{}",
        ipi.how
    );
}

#[test]
fn points_of_the_kernel_are_those_of_the_laptop() {
    let stretches = spec(&host(2), None).stretches;
    assert_eq!(stretches, MachineSpec::builtin("laptop").expect("it is built in").stretches);
}

#[test]
fn what_was_measured_comes_out_again_as_the_sum_of_its_parts() {
    let measured = measured(vec![pair(Distance::SharedCache, 40, 9000)]);
    let MachineSpec { costs, noise, .. } = spec(&host(2), Some(&measured));
    let switch = costs.schedule + costs.context_switch;
    assert_eq!(costs.syscall + costs.lock_uncontended + switch, Nanos(1016), "sched_yield of two threads");
    let locks = costs.lock_uncontended * 4;
    let wakeup = costs.wakeup + costs.enqueue + locks;
    assert_eq!(Nanos(500) + wakeup + costs.dequeue + switch, Nanos(2300), "a hop on one CPU");
    let call = Nanos(500 / 2) + wakeup + costs.ipi_send;
    assert_eq!(call, Nanos(9000), "the call that wakes another CPU");
    let rest = costs.irq_entry
        + costs.timer_expiry
        + costs.timer_program
        + costs.irq_exit
        + Nanos(costs.syscall.0 / 2);
    let timer = noise.timer_jitter.expect("it was measured").min() + rest + wakeup + switch;
    assert_eq!(timer, Nanos(15_000), "a timer's wakeup on a busy CPU");
}

/// On a busy CPU, sched_yield takes as long as the others run.
#[test]
fn yields_that_let_others_run_are_no_measure_of_a_switch() {
    let busy =
        Measured { yield_alone: figure(4_000_000), yield_switch: figure(1_600_000), ..measured(vec![]) };
    let laptop = MachineSpec::builtin("laptop").expect("it is built in").costs;
    let costs = spec(&host(1), Some(&busy)).costs;
    assert_eq!((costs.schedule, costs.context_switch), (laptop.schedule, laptop.context_switch));
    assert!(costs.wakeup > Nanos(100) && costs.enqueue > Nanos(100));
}

/// A thread that spins on a host which hardly lets it run sees gaps, and little else.
#[test]
fn more_gaps_than_a_machine_can_have_are_as_many_as_it_can() {
    let mut busy = measured(vec![]);
    busy.interruptions.sources[0].per_minute = 17_510_692;
    let noise = spec(&host(1), Some(&busy)).noise;
    assert_eq!(noise.irq_off[0].per_minute_per_cpu, IrqOff::MOST_PER_MINUTE);
}

#[test]
fn without_measurements_everything_but_the_topology_is_assumed() {
    let text = file::text("recorded", &host(2), None);
    assert!(text.starts_with("# The topology of the machine of a recording."), "{text}");
    assert_eq!(text.matches("\"measured: ").count(), 1, "{text}");
}

#[test]
fn what_siblings_take_from_each_other_is_measured_where_there_are_any() {
    let threads = threads();
    let siblings = Siblings { alone: figure(50_000), together: figure(80_000) };
    let measured = Measured { siblings: Some(siblings), ..measured(vec![]) };
    let MachineSpec { speeds, origins, .. } = spec(&threads, Some(&measured));
    assert_eq!(speeds.smt_busy_percent, 63);
    let origin = origins.iter().find(|origin| origin.field == "speed.smt_busy_percent").expect("it has one");
    let ns =
        "50000 (median 50000, 50000 to 50000, n 1) ns alone, 80000 (median 80000, 80000 to 80000, n 1) ns";
    assert_eq!(origin.text, format!("integer work on a sibling takes {ns} together"));
    assert_eq!(spec(&threads, None).speeds.smt_busy_percent, 100, "not measured, nothing said");
    let without = file::text("here", &host(2), Some(&measured));
    assert!(without.contains("# No SMT is visible") && !without.contains("[speed]"), "{without}");
}

/// A machine file's entries, each with an origin of the kind that the report says, or a reason why not.
#[test]
fn the_report_accounts_for_every_entry_and_says_what_the_file_says() {
    for host in hosts() {
        let measured = measured_everything(&host);
        let spec = spec(&host, Some(&measured));
        let sources = sources::of_file(&spec, &host, &measured);
        for entry in MachineSpec::entries() {
            let told = |source: &&EntrySource| source.entry.split('[').next() == Some(&entry);
            assert!(sources.iter().any(|source| told(&source)), "{entry} is missing");
        }
        for source in sources {
            let EntrySource { entry, value, kind, probe, samples, how } = source;
            assert!(!how.is_empty(), "{entry}: no word of it");
            assert_eq!(value.is_some(), kind.is_some(), "{entry}");
            let by_probe = probe.is_some() && samples.is_some_and(|samples| samples > 0);
            assert_eq!(kind == Some(OriginKind::Measured), by_probe, "{entry}: {kind:?} by {probe:?}");
        }
    }
}

/// What was seen stands in the file, and the file is one that can be read.
#[test]
fn cold_caches_pieces_and_stalls_come_into_the_file() {
    let two = host(2);
    let seen = measured_everything(&two);
    let read = spec(&two, Some(&seen));
    let cold = read.cold.expect("timers over writers were late");
    assert!(cold.path.0.abs_diff(14_000) < 300 && cold.bytes.abs_diff(1 << 20) < 60_000, "{cold:?}");
    let fork = read.stretches.of(Operation::Fork).expect("it is described").points.expect("it has points");
    assert!(fork.cond_every.0.abs_diff(15_000) < 300, "{fork:?}");
    let laptop = MachineSpec::builtin("laptop").expect("it is built in");
    assert_eq!(read.stretches.of(Operation::Call), laptop.stretches.of(Operation::Call), "no probe calls");
    let stalls = read.noise.irq_off.last().expect("there are some");
    assert_eq!((stalls.what.as_str(), stalls.per_minute_per_cpu), ("the host runs something else", 40));
    // Without the right to be real-time none of it is there.
    let without = Measured { cold: None, pieces: None, stalls: HostStalls::default(), ..seen };
    let read = spec(&two, Some(&without));
    assert_eq!((read.cold, read.stretches, read.noise.irq_off.len()), (None, laptop.stretches, 1));
}

#[test]
fn what_is_not_in_the_file_has_a_reason() {
    let one = host(1);
    let measured = measured_everything(&one);
    let spec = spec(&one, Some(&measured));
    let of = |entry: &str| {
        let sources = sources::of_file(&spec, &one, &measured);
        sources.into_iter().find(|source| source.entry == entry).expect(entry)
    };
    let smt = of("costs.line.smt");
    assert_eq!((smt.value, smt.how.as_str()), (None, "it takes a second CPU, and there is one only"));
    assert_eq!(of("costs.syscall").samples, Some(1));
    let spinner = of("costs.ticket_spinner_percent");
    assert_eq!(spinner.kind, Some(OriginKind::Published));
    assert!(
        spinner.how.starts_with("rt-class 10.5; as on the machine laptop, not measured: "),
        "{}",
        spinner.how
    );
    assert!(of("noise.kthread").how.contains("trace"));
}

#[test]
fn idle_cpus_that_get_no_interrupt_watch_their_flag() {
    let watching = Some(IdleWakeups { wakeups: 400, interrupts: 3, idle_percent: 98 });
    let measured = Measured { idle: watching, ..measured(vec![]) };
    assert_eq!(spec(&host(2), Some(&measured)).idle_monitor, IdleMonitor::Mwait);
    let busy = Some(IdleWakeups { wakeups: 400, interrupts: 3, idle_percent: 8 });
    let measured = Measured { idle: busy, ..measured };
    let text = file::text("here", &host(2), Some(&measured));
    assert!(!text.contains("idle_monitor"), "not told, not written: {text}");
}

/// What sysfs says of idle states is in the file, which is a machine's.
#[test]
fn idle_states_of_a_host_are_in_its_file() {
    let root = std::env::temp_dir().join(format!("schedlab-states-{}", std::process::id()));
    let states = [("POLL", 0, 0), ("C1", 1, 1), ("C6", 170, 600)];
    for (n, (name, latency, residency)) in states.iter().enumerate() {
        let at = root.join(format!("cpu/cpu0/cpuidle/state{n}"));
        std::fs::create_dir_all(&at).expect("a temporary folder");
        let put = |key: &str, text: String| std::fs::write(at.join(key), text).expect("a temporary file");
        put("name", (*name).to_owned());
        put("latency", latency.to_string());
        put("residency", residency.to_string());
    }
    let idle_states = IdleTable::read(&root, &[0]);
    std::fs::remove_dir_all(root).expect("our own folder");
    let seen = Measured { idle_states, ..measured(vec![pair(Distance::SharedCache, 40, 9000)]) };
    let spec = spec(&host(2), Some(&seen));
    let idle = spec.idle.as_ref().expect("it has states");
    let found: Vec<_> = idle.states.iter().map(|state| (state.name.as_str(), state.exit_latency)).collect();
    assert_eq!(found, [("POLL", Nanos(0)), ("C1", Nanos(1_000)), ("C6", Nanos(170_000))]);
    let sources = sources::of_file(&spec, &host(2), &seen);
    let of = |entry: &str| sources.iter().find(|source| source.entry == entry).expect("an entry");
    assert_eq!((of("idle.states[2]").probe, of("idle.states[2]").samples), (Some("sysfs"), Some(3)));
    assert!(of("idle.governor").value.is_some());
}

/// Without the right to be real-time, the CPU idles meanwhile, and has a state to leave.
#[test]
fn the_jitter_of_a_fair_tasks_timer_is_without_the_idle_state() {
    let mut fair = fifo(60_000);
    fair.runs[0].sleeper = Sleeper::FairWithoutSlack;
    fair.runs[0].meanwhile = Meanwhile::Idle;
    let pairs = || vec![pair(Distance::SharedCache, 40, 9000)];
    let jitter = |timers: Timers| {
        let measured = Measured { timers: Some(timers), ..measured(pairs()) };
        let spec = spec(&host(2), Some(&measured));
        (spec.noise.timer_jitter.expect("it was measured").min(), spec.costs.idle_exit)
    };
    let (of_fair, idle_exit) = jitter(fair);
    let (of_fifo, _) = jitter(fifo(60_000));
    assert!(idle_exit > Nanos(1000));
    assert_eq!(of_fair + idle_exit, of_fifo);
}

/// 250 gaps of 7 us a second are ticks: they are a cost of the tick, and no noise besides.
#[test]
fn a_tick_costs_what_its_gap_has_beyond_an_interrupt() {
    let measured = measured(vec![]);
    let MachineSpec { costs, noise, .. } = spec(&host(2), Some(&measured));
    assert_eq!(costs.tick + costs.irq_entry + costs.irq_exit + costs.timer_program, Nanos(7000));
    let [IrqOff { per_minute_per_cpu: 48_000, length, .. }] = noise.irq_off[..] else { panic!("{noise:?}") };
    assert_eq!(length, Spread::CutExponential { min: Nanos(500), mean: Nanos(4500), max: Nanos(9000) });
    assert_eq!(measured.interruptions.left_out().count(), 0);
    let once = Interruptions {
        sources: Figure::of(vec![100_000_000]).map(source).into_iter().collect(),
        ..measured.interruptions.clone()
    };
    let told: Vec<String> = once.left_out().collect();
    assert!(told[0].contains("interrupts, 1 in 5000 ms, the longest 9 us"), "{told:?}");
    let with_one =
        Measured { interruptions: once, stalls: HostStalls::default(), ..measured_everything(&host(2)) };
    assert_eq!(spec(&host(2), Some(&with_one)).noise.irq_off, []);
    let told = measured.rate_of_ticks().expect("ticks were seen");
    assert!(told.starts_with("this kernel ticks 250 times") && told.ends_with("--set hz=250"), "{told}");
    let without = Measured {
        interruptions: Interruptions { ticks: None, ..measured.interruptions.clone() },
        ..measured
    };
    assert_eq!(without.rate_of_ticks(), None);
    assert_eq!(spec(&host(2), Some(&without)).costs.tick, Nanos(1000), "the laptop's");
}
