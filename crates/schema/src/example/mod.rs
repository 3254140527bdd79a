//! One result with every field present, for tests of what reads results.

pub mod calibration;
mod comparison;
mod log;
pub mod machine_check;
pub mod reproduction;
mod search;
mod sweep;
mod tune;
pub mod validation;
mod why;

pub use comparison::{comparison, recordings};
pub use log::log;
pub use search::search;
pub use sweep::sweep;
pub use tune::tuning;
pub use why::why;

use std::collections::BTreeMap;

use crate::*;

/// A summary around `mean` that is plausible enough to print.
pub fn latency(count: u64, mean: u64) -> LatencySummary {
    LatencySummary {
        count,
        min: mean / 3,
        mean,
        p50: mean,
        p90: mean * 2,
        p99: mean * 4,
        p999: mean * 8,
        max: mean * 12,
    }
}

/// A task of `policy` with counters that follow from its pid.
pub fn task(pid: u32, comm: &str, policy: Policy, rt_priority: u32) -> TaskResult {
    let n = u64::from(pid);
    TaskResult {
        pid,
        comm: comm.to_owned(),
        policy,
        rt_priority,
        nice: 0,
        time_under: Vec::new(),
        of_command: false,
        exited_ns: None,
        nr_voluntary_switches: 9_000 + n,
        nr_involuntary_switches: n % 17,
        nr_migrations: n % 5,
        iterations: 9_000,
        sum_exec_runtime_ns: 45_000_000 + n,
        wait_sum_ns: 12_000_000 + n,
        wakeup_latency_ns: latency(9_000, 2_600),
        latency_by_class: None,
        deadline: None,
    }
}

/// A deadline task of 10 of 100 ms, which reclaims what others leave, and was late once.
pub fn deadline() -> DeadlineResult {
    DeadlineResult {
        runtime_ns: 10_000_000,
        deadline_ns: 50_000_000,
        period_ns: 100_000_000,
        reclaims: true,
        stat: DeadlineStat {
            jobs: 30,
            missed: 1,
            longest_response_ns: 54_100_000,
            throttles: 25,
            throttled_ns: 1_200_000_000,
            replenishments: 25,
        },
    }
}

/// How fast a CPU ran.
fn cpu_frequency(cpu: u32) -> CpuFrequency {
    CpuFrequency { cpu, busy_ns: 101_000_000, mean_khz: 1_402_000, energy_uj: Some(31_200) }
}

/// How a CPU used two idle states.
fn cpu_idle(cpu: u32) -> CpuIdle {
    let used = |state: &str, usage, time_ns| IdleStateUse {
        state: state.to_owned(),
        usage,
        time_ns,
        above: usage / 10,
        below: usage / 20,
    };
    CpuIdle { cpu, states: vec![used("C1", 1_200, 81_000_000), used("C6", 40, 702_000_000)] }
}

/// One CPU with counters that follow from its number.
pub fn cpu(cpu: u32) -> CpuResult {
    let n = u64::from(cpu);
    CpuResult {
        cpu,
        nr_switches: 18_211 + n,
        idle_ns: 899_120_000 + n,
        rq_lock: RqLockStats {
            acquisitions: 40_112 + n,
            contended: 12,
            wait_max_ns: 3_100,
            wait_sum_ns: 9_870,
            waiters_max: 2,
            waiters_holding_own_max: 1,
        },
        ipis_sent: 77 + n,
        ipis_received: 78,
        polled: 9,
    }
}

/// A task group with a limit that stopped it.
pub fn group(name: &str) -> GroupResult {
    GroupResult {
        name: name.to_owned(),
        weight: Some(300),
        max: Some(GroupLimit { quota_ns: 200_000_000, period_ns: 100_000_000, burst_ns: 50_000_000 }),
        rt: Some(RtGroupLimit { runtime_ns: Some(100_000_000), period_ns: 1_000_000_000 }),
        cpus: Some("0-1".to_owned()),
        clamps: Some(GroupClamps { min: 205, max: 512 }),
        stat: GroupStat {
            usage_ns: 1_234_567_000,
            share_permille: 750,
            nr_periods: 100,
            nr_throttled: 31,
            throttled_ns: 812_000_000,
            nr_bursts: 4,
            burst_ns: 25_000_000,
            nr_rt_throttled: 3,
            rt_throttled_ns: 2_700_000_000,
        },
    }
}

/// A thread of cyclictest.
pub fn cyclictest_thread(t: u32, prio: u32) -> CyclictestThread {
    let mut histogram = UsHistogram::default();
    for us in [2, 2, 3, 4, 7] {
        histogram.record_us(us);
    }
    CyclictestThread {
        t,
        pid: 1_001 + t,
        prio,
        interval_us: 100,
        cycles: 9_011_636,
        min_us: 2,
        act_us: 4,
        avg_us: 4,
        max_us: 117,
        latency_ns: Some(latency(9_011_636, 4_210)),
        histogram,
        overflows: 1,
        overflow_cycles: vec![4_711],
    }
}

/// A text that leaves nothing out.
fn experiment() -> ExperimentText {
    let machine = MachineText {
        name: Some("laptop.toml".to_owned()),
        content: Some("name = \"laptop\"\n".to_owned()),
        cpus: Some(2),
    };
    let file = FileText {
        xxh128: Some("99aa06d3014798d86001c324468d497f".to_owned()),
        dialect: RtAppDialect::RtApp,
        locks: RecordedLocks::Recorded,
        groups: RecordedGroups::Flat,
        wakeup_costs: WakeupCosts::Machine,
        changes: vec![vec!["policy=make=fifo:50".to_owned(), "nice=cc*=5".to_owned()]],
        recorded_on: Some(machine.clone()),
    };
    let load = |load: &str, file| LoadText { load: load.to_owned(), file };
    ExperimentText {
        loads: vec![load("cyclictest -t2 -p90 -i100", None), load("make10.dat", Some(file))],
        machine,
        kernel: Some("debian12".to_owned()),
        settings: vec![KernelChange { at_ns: 0, setting: "NO_RT_PUSH_IPI".to_owned() }],
        groups: vec![GroupText {
            name: "web".to_owned(),
            settings: vec!["cpu.max:200000/100000".to_owned(), "cpu.weight:300".to_owned()],
        }],
        members: vec![MemberText { group: "web".to_owned(), task: "periodic".to_owned() }],
        deadlines: vec![DeadlineText {
            task: "cyclictest".to_owned(),
            runtime_ns: 100_000,
            deadline_ns: 500_000,
            period_ns: 1_000_000,
            reclaims: true,
        }],
        autogroup: true,
        isolcpus: Some("3".to_owned()),
        nohz_full: Some("2-3".to_owned()),
        seed: 42,
        redraws: vec![RedrawText { at_ns: 3_000_000, seed: 7 }],
        duration_ns: Some(10_000_000_000),
        stretch: Some(Stretch { from_ns: 0, to_ns: Some(1_000_000_000) }),
        tasks: vec!["cc*".to_owned()],
        dumps: vec!["sched_debug@2s".to_owned()],
        check: true,
        check_every: std::num::NonZeroU32::new(1000),
        why: true,
        without_fidelity: true,
    }
}

/// A result in which no list is empty and no option absent, with one load of each kind.
pub fn run() -> RunResult {
    let threads = |deadline_misses, response_ns| ThreadsResult {
        load: "periodic -t 1".to_owned(),
        threads: vec![ThreadResult {
            t: 0,
            pid: 1_020,
            name: "periodic".to_owned(),
            cycles: 100,
            deadline_misses,
            longest_lateness_ns: deadline_misses.map(|_| 1_200_000),
            response_ns,
        }],
    };
    RunResult {
        schema: RunSchema,
        command: Some("schedlab run 'cyclictest -t2 -p90 -i100'".to_owned()),
        experiment: Some(experiment()),
        engine: Engine {
            version: "0.1.0".to_owned(),
            seed: 42,
            events: 1_234_567,
            simulated_ns: 10_000_000_000,
            wall_ns: Some(87_000_000),
        },
        machine: Machine { name: "laptop".to_owned(), cpus: 2, recorded_paths: Vec::new() },
        kernel: Kernel {
            profile: "6.1".to_owned(),
            asked: None,
            features: BTreeMap::from([("RT_PUSH_IPI".to_owned(), false), ("START_DEBIT".to_owned(), true)]),
            rules: BTreeMap::from([("push_ipi".to_owned(), "ipi_root_domain".to_owned())]),
            tunables: BTreeMap::from([("sched_latency_ns".to_owned(), 6_000_000)]),
            changes: vec![
                KernelChange { at_ns: 0, setting: "NO_RT_PUSH_IPI".to_owned() },
                KernelChange { at_ns: 2_000_000_000, setting: "sched_latency_ns=12000000".to_owned() },
            ],
        },
        window: None,
        tasks: vec![
            task(1_001, "cyclictest", Policy::Fifo, 90),
            task(1_002, "cyclictest", Policy::Fifo, 89),
            TaskResult {
                time_under: vec![
                    TimeUnder { policy: Policy::Other, rt_priority: 0, nice: 0, cpu_time_ns: 45_000_000 },
                    TimeUnder { policy: Policy::Fifo, rt_priority: 5, nice: 0, cpu_time_ns: 1_020 },
                ],
                of_command: true,
                exited_ns: Some(9_800_000_000),
                deadline: Some(deadline()),
                ..task(1_020, "periodic", Policy::Other, 0)
            },
        ],
        cpus: vec![cpu(0), cpu(1)],
        groups: vec![group("web")],
        partitions: vec![
            PartitionResult { cpus: "0".to_owned(), group: None, isolated: false },
            PartitionResult { cpus: "1".to_owned(), group: Some("web".to_owned()), isolated: true },
        ],
        frequency: Some(FrequencyResult {
            cpus: (0..2).map(cpu_frequency).collect(),
            energy_uj: Some(62_400),
            origins: vec!["published: the device tree of a phone".to_owned()],
        }),
        idle: Some(IdleResult {
            governor: "menu".to_owned(),
            cpus: (0..2).map(cpu_idle).collect(),
            origins: vec!["published: the driver's table".to_owned()],
        }),
        totals: Totals {
            context_switches: 36_423,
            wakeups: 18_104,
            migrations: 211,
            pushes: 17,
            pulls: 4,
            push_ipis: 9,
            rt_searches: 120,
            rt_search_ns: 48_000,
            push_ipis_in_flight_max: 2,
            push_ipis_in_flight_by_source_max: 1,
            wakeup_preemptions: 1_204,
            spinlock_sleeps: 23,
            lock_holder_preemptions: 45,
            polled: 72,
            kernel_mutex_spins: 410,
            kernel_mutex_spin_ns: 123_000,
            kernel_mutex_sleeps: 6,
            kernel_mutex_sleep_ns: 2_400_000,
            rwsem_spins: 23,
            rwsem_spin_ns: 11_500,
            rwsem_sleeps: 2,
            rwsem_sleep_ns: 1_300_000,
            cache_refill_ns: 67_000_000,
            interrupts_ns: 3_100_000,
        },
        loads: vec![
            LoadResult::Cyclictest(CyclictestResult {
                load: "cyclictest -t2 -p90 -i100 -h 10".to_owned(),
                histogram_us: Some(10),
                threads: vec![cyclictest_thread(0, 90), cyclictest_thread(1, 89)],
                max_over_time: MaxOverTime {
                    interval_ns: 1_000_000_000,
                    max_ns: vec![31_000, 117_000, 9_000, 12_000],
                },
            }),
            LoadResult::RtMigrate(RtMigrateResult::new(
                "rt-migrate".to_owned(),
                vec![
                    RtMigrateThread { id: 0, vol: 53, nonvol: 3_220, migrated: 1_470, iterations: 98 },
                    RtMigrateThread { id: 1, vol: 562, nonvol: 773, migrated: 724, iterations: 98 },
                ],
            )),
            LoadResult::Hackbench(HackbenchResult {
                load: "hackbench -g 4 -l 2000".to_owned(),
                mode: HackbenchMode::Process,
                groups: 4,
                fds_per_group: 40,
                tasks: 160,
                loops: 2_000,
                data_size_bytes: 100,
                time_s: Some(Seconds::from_ns(1_197_000_321)),
            }),
            LoadResult::Make(MakeResult {
                load: "make -j10".to_owned(),
                jobs: 10,
                objects: 343,
                seconds: Some(Seconds::from_ns(8_036_175_000)),
            }),
            LoadResult::Hog(threads(None, None)),
            LoadResult::Periodic(threads(Some(3), Some(latency(100, 350_000)))),
            LoadResult::Own(
                OwnResult::new("a pool of 4".to_owned(), "pool")
                    .count("jobs", Better::Higher, 20)
                    .nanos("longest job", Better::Lower, 10_400_000)
                    .threads(threads(None, None).threads),
            ),
            LoadResult::WakeupLatency(WakeupLatencyResult {
                load: "wakeup-latency".to_owned(),
                mode: WakeupLatencyMode::SigevThread,
                period_ns: 10_000_000,
                latency_ns: latency(1_000, 1_600_000),
                missed: 2,
            }),
            LoadResult::ForkStorm(ForkStormResult {
                load: "fork_storm".to_owned(),
                jobs: 20,
                forks: 5_020,
                finished: 5_000,
                hogs: 1,
                hog_cpu_ns: 2_150_000_000,
                elapsed_ns: 10_000_000_000,
            }),
            LoadResult::Keyrepeat(KeyrepeatResult {
                load: "keyrepeat".to_owned(),
                period_ns: 33_333_333,
                frames: 300,
                between_ns: latency(299, 33_000_000),
                spread_ns: 4_100_000,
                stops: 1,
                response_ns: latency(300, 7_000_000),
            }),
            LoadResult::Vmark(VmarkResult {
                load: "vmark".to_owned(),
                rooms: 10,
                users: 20,
                sent: 20_000,
                received: 380_000,
                seconds: Some(Seconds::from_ns(4_000_000_000)),
            }),
            LoadResult::Oltp(OltpResult {
                load: "oltp --clients 4".to_owned(),
                db: OltpDb::Pgsql,
                clients: 4,
                warmup_ns: 600_000_000,
                counted_ns: 10_000_000_000,
                reads: 519_344,
                others: 74_192,
                transactions: 37_096,
                all_requests: 670_000,
                latency_ns: latency(37_096, 1_078_000),
            }),
            LoadResult::Rtapp(RtappResult { load: "video.json".to_owned(), threads: vec![rtapp_thread()] }),
            LoadResult::Replay(ReplayResult {
                load: "make10.dat".to_owned(),
                tasks: 2,
                bursts: 7_928,
                bursts_completed: 7_928,
                recorded_s: Seconds::from_ns(8_036_175_000),
                seconds: Some(Seconds::from_ns(8_101_000_000)),
                finish: Some(finish(Some(7_900_000_000), Some(7_950_000_000))),
            }),
        ],
        replay: vec![replay()],
        decisions: BTreeMap::from([
            ("buddy_last".to_owned(), 670_000),
            ("wakeup: previous CPU is idle".to_owned(), 12_004),
        ]),
        late_by: vec![crate::why::LateBy {
            victim: "cyclictest".to_owned(),
            due_to: "switch".to_owned(),
            times: 9_000,
            total_ns: 9_810_000,
            wakeups: 9_000,
        }],
        dumps: vec![Dump {
            file: "sched_features@1s".to_owned(),
            at_ns: 1_000_000_000,
            text: "FAIR_SLEEPERS NO_START_DEBIT\n".to_owned(),
        }],
        warnings: vec!["Linux 6.8 runs as 6.1".to_owned()],
        notes: vec!["3 events of the trace could not be used".to_owned()],
    }
}

/// When a recorded make was done, in nanoseconds, and when in the replay.
pub fn finish(recorded_ns: Option<u64>, simulated_ns: Option<u64>) -> ReplayFinish {
    ReplayFinish {
        comm: Some("make".to_owned()),
        tasks: 2,
        by_clock: false,
        perhaps_by_clock: false,
        of_some_cpus: false,
        recorded_s: recorded_ns.map(Seconds::from_ns),
        seconds: simulated_ns.map(Seconds::from_ns),
    }
}

/// On what traces are replayed beside their recordings.
pub fn reference() -> Reference {
    let path = RecordedPath {
        kind: "interrupt-idle".to_owned(),
        from: "sched_wakeup".to_owned(),
        count: 3000,
        p50_ns: 6_630,
        p99_ns: 8_640,
    };
    let machine = Machine { name: "recorded".to_owned(), cpus: 2, recorded_paths: vec![path] };
    Reference { machine, profile: "6.1".to_owned() }
}

/// Two tasks of a replayed trace beside the trace; what sums and verdict say of them.
pub fn replay() -> ReplayFidelity {
    let answer =
        |grade, off_permille, counted| Answer { grade, off_permille, counted, uncertain_permille: None };
    ReplayFidelity {
        trace: "make10.dat".to_owned(),
        reference: reference(),
        tasks: vec![replay_task(6_922, "cc1"), replay_task(6_912, "cc1")],
        summary: ReplaySummary {
            tasks: 2,
            cpu_time_ns: Fidelity { recorded: 577_166_000, simulated: 578_002_000 },
            cpu_time_abs_error_ns: 836_000,
            cpu_time_uncertain_ns: 8_000_000,
            nr_switches: Fidelity { recorded: 172, simulated: 162 },
            nr_switches_abs_error: 10,
            nr_voluntary_switches: Fidelity { recorded: 12, simulated: 12 },
            wakeups: Fidelity { recorded: 4, simulated: 4 },
            wakeup_latencies: Fidelity { recorded: 4, simulated: 4 },
            wakeup_latency_mean_ns: Fidelity { recorded: 4_779_000, simulated: 4_100_000 },
            wakeup_latency_mean_abs_error_ns: 679_000,
            wakeup_latency_p99_ns: Fidelity { recorded: 11_941_000, simulated: 12_470_000 },
            wakeup_latency_max_ns: Fidelity { recorded: 9_000_000, simulated: 8_500_000 },
            order: ReplayOrder { recorded: 172, simulated: 162, common: 140 },
        },
        finish_ns: Some(Fidelity { recorded: 7_900_000_000, simulated: 7_950_000_000 }),
        verdict: ReplayVerdict {
            overall: Grade::Fair,
            sentence:
                "good for switches (5.8 % off) and finishing time (0.6 % off), fair for CPU time (0.1 % \
                       off, recorded to within 1.4 %) and order (19 % off), unknown for latency"
                    .to_owned(),
            cpu_time: Answer { uncertain_permille: Some(14), ..answer(Grade::Fair, 1, 577_166) },
            switches: answer(Grade::Good, 58, 172),
            order: answer(Grade::Fair, 186, 172),
            latency: answer(Grade::Unknown, 142, 4),
            finishing_time: answer(Grade::Good, 6, 7_900_000),
        },
    }
}

/// One task of a replayed trace.
pub fn replay_task(pid: u32, comm: &str) -> ReplayTask {
    ReplayTask {
        pid,
        comm: comm.to_owned(),
        of_command: false,
        cpu_time_ns: Fidelity { recorded: 288_583_000, simulated: 289_001_000 },
        nr_switches: Fidelity { recorded: 86, simulated: 81 },
        nr_voluntary_switches: Fidelity { recorded: 6, simulated: 6 },
        nr_involuntary_switches: Fidelity { recorded: 80, simulated: 75 },
        nr_migrations: Fidelity { recorded: 4, simulated: 5 },
        wakeups: Fidelity { recorded: 2, simulated: 2 },
        wakeup_latencies: Fidelity { recorded: 2, simulated: 2 },
        wakeup_latency_mean_ns: Fidelity { recorded: 4_779_000, simulated: 4_100_000 },
        wakeup_latency_p99_ns: Fidelity { recorded: 9_000_000, simulated: 8_500_000 },
        wakeup_latency_max_ns: Fidelity { recorded: 9_000_000, simulated: 8_500_000 },
        exited_ns: Some(Fidelity { recorded: 7_900_000_000, simulated: 7_950_000_000 }),
        poor: Vec::new(),
    }
}

/// A thread of an rt-app file that is late now and then.
pub fn rtapp_thread() -> RtappThread {
    let column = |min, mean, max| RtappColumn { min, mean, max };
    RtappThread {
        t: 0,
        pid: Some(1_030),
        name: "decoder-0".to_owned(),
        loops: 600,
        perf: Some(31_200),
        c_duration_ns: 2_400_000_000,
        c_period_ns: 9_960_000_000,
        run_ns: column(4_000_000, 4_120_000, 9_810_000),
        period_ns: column(12_100_000, 16_600_000, 21_000_000),
        late: Some(3),
        slack_ns: Some(column(-1_210_000, 11_800_000, 12_600_000)),
        wu_lat_ns: Some(column(3_100, 7_250, 812_000)),
    }
}

/// A trace with everything that one may hold.
pub fn inspect() -> InspectResult {
    let bucket = |from_ns, count| InspectBucket { from_ns, to_ns: from_ns * 2, count };
    let durations = |buckets: &[InspectBucket]| InspectDurations {
        count: buckets.iter().map(|bucket| bucket.count).sum(),
        mean_ns: 2_500,
        max_ns: 8_100,
        buckets: buckets.to_vec(),
    };
    let row = |pid, comm: &str, delay_max_ns| InspectTask {
        pid,
        comm: comm.to_owned(),
        of_command: false,
        runtime_ns: 2_199_499,
        switches: 12,
        delay_mean_ns: 1_068_000,
        delay_max_ns,
        delay_max_start_ns: 4_772_035_383_999,
        delay_max_end_ns: 4_772_035_383_999 + delay_max_ns,
    };
    InspectResult {
        schema: InspectSchema,
        command: Some("schedlab inspect a.perf.data".to_owned()),
        version: "0.1.0".to_owned(),
        trace: "a.perf.data".to_owned(),
        format: "perf.data".to_owned(),
        tool: Some("perf 6.1.192".to_owned()),
        kernel: Some("Linux 6.1.0 x86_64".to_owned()),
        clock: Some("perf".to_owned()),
        resolution_ns: 1,
        start_ns: 4_772_028_000_000,
        duration_ns: 9_612_000,
        tasks: 3,
        tasks_told: 2,
        idle_polls: Some(false),
        groups: vec![InspectGroup {
            path: "/web".to_owned(),
            processes: 2,
            weight: Some(300),
            idle: false,
            rt: Some(RtGroupLimit { runtime_ns: Some(100_000_000), period_ns: 1_000_000_000 }),
            max: Some(GroupLimit { quota_ns: 200_000_000, period_ns: 100_000_000, burst_ns: 0 }),
        }],
        recorded_command: Some(InspectCommand { tgid: 812, words: "make -j4".to_owned() }),
        host: [("hz".to_owned(), "250".to_owned()), ("preempt".to_owned(), "full".to_owned())].into(),
        events: [("sched_switch".to_owned(), 120), ("sched_wakeup".to_owned(), 60)].into(),
        left_out: [("irq_handler_entry".to_owned(), 7)].into(),
        gaps: vec![
            InspectGap { cpu: 0, before_ns: 4_772_029_000_000, lost: Some(12) },
            InspectGap { cpu: 1, before_ns: 4_772_030_000_000, lost: None },
        ],
        cpus: vec![InspectCpu {
            cpu: 0,
            switches: 120,
            idle_ns: 9_000_000,
            busy_ns: 600_000,
            unknown_ns: 12_000,
        }],
        latency: InspectLatency {
            delays_from: "wakeup",
            runtime_from: "sched_stat_runtime",
            runtime_ns: 4_398_998,
            switches: 24,
            wakeups: 8,
            context_switch_bugs: 6,
            rows: vec![row(9557, "hackbench", 1_916_400), row(12, "kworker/u8:0-wr", 0)],
        },
        delays: durations(&[bucket(1024, 2), bucket(2048, 30), bucket(4096, 0), bucket(8192, 1)]),
        stays: durations(&[]),
        notes: vec![InspectNote {
            name: "lost_events",
            severity: "data loss".to_owned(),
            count: 13,
            text: "data loss: the recorder lost events because its buffer was full (13×)".to_owned(),
        }],
    }
}

/// A list with every field.
pub fn list() -> ListResult {
    let details = LimitDetails {
        effect: "large".to_owned(),
        changes: "Everything.".to_owned(),
        profiles: vec!["6.1".to_owned()],
    };
    let limit = Entry { limit: Some(details), ..Entry::new("pelt", "No averages.") };
    let version = "0.1.0".to_owned();
    ListResult { schema: ListSchema, version, kind: "limit".to_owned(), entries: vec![limit] }
}

/// An explanation with every field.
pub fn explanation() -> ExplainResult {
    ExplainResult {
        schema: ExplainSchema,
        version: "0.1.0".to_owned(),
        kind: "rule".to_owned(),
        name: "search".to_owned(),
        meaning: "How is a CPU found?".to_owned(),
        source: Some("rt-class 4".to_owned()),
        sections: vec![Section {
            title: "to set it".to_owned(),
            entries: vec![Entry::new("search=linear", "One by one.")],
        }],
    }
}
