//! Replay of recorded traces: what is extracted agrees with the summary, the replay comes close to the
//! recording, and no damage to a trace makes it panic.

use machine::{Machine, MachineSpec, RunOptions, Setup, Tracing};
use proptest::prelude::*;
use scheduler::Nanos;
use scheduler::registry::{Config, Profile};
use schema::LoadResult;
use std::collections::BTreeMap;
use std::path::Path;
use trace::{
    Context, Cpu, Event, EventKind, NeedResched, Pid, PrevState, Provenance, SchedMigrateTask,
    SchedPiSetprio, SchedProcessExec, SchedProcessFork, SchedSwitch, SchedWakeup, TaskRef, TaskSummary,
    Trace, TraceBuilder, infer_missing_switches, summarise,
};
use workload::load::{BuiltLoad, Length, Load};
use workload::replay::{
    Begin, Evidence, Pair, RecordedTask, Recording, Replay, ReplayFidelity, TaskFidelity,
};

const FIXTURES: [&str; 4] = ["guest-6.1-mix-rr-smp2.dat", "mix-nice.dat", "mix-rr.dat", "mix-rtover.dat"];

/// A recording; `.gz` is unpacked.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !name.ends_with(".gz") {
        return bytes;
    }
    // Ten bytes of head without a name, eight of checksum and length.
    miniz_oxide::inflate::decompress_to_vec(&bytes[10..bytes.len() - 8]).expect("a sound gzip file")
}

/// The extracted CPU time is the summary's, for each task id; more only where stays on a CPU have no recorded
/// end. (A damaged trace may give an id to a new task while the old one runs: whose time that is, is
/// anybody's guess.)
fn agrees_with_summary(trace: &Trace) {
    let (recording, summary) = (Recording::extract(trace), summarise(trace));
    let mut here = BTreeMap::new();
    for task in &recording.tasks {
        *here.entry(task.pid).or_default() += task.cpu_time.0;
    }
    let mut there = BTreeMap::new();
    for task in &summary.tasks {
        *there.entry(task.pid).or_default() += task.cpu_time_ns + task.edge_time_ns;
    }
    for (pid, there) in there {
        let here: u64 = here.get(&pid).copied().unwrap_or_default();
        let exact = recording.counts.lost_stays == 0;
        assert!(here == there || !exact && here > there, "task {pid}: {here} ns, summary {there} ns");
    }
    for task in &recording.tasks {
        let runs = task.steps.iter().map(|step| match step {
            workload::replay::ReplayStep::Run(length) => length.0,
            _ => 0,
        });
        assert_eq!(runs.sum::<u64>(), task.cpu_time.0, "task {}", task.pid);
    }
}

/// Written and read back, a recording plays the same: every step, time, priority and name is the same. What
/// only explains how it was understood (counts, evidence, times passed beside idle CPUs) is not in the file.
#[test]
fn a_workload_file_is_the_recording_to_the_nanosecond() {
    for name in FIXTURES {
        let mut trace = trace::read(&fixture(name)).expect("a trace");
        infer_missing_switches(&mut trace);
        let mut recording = Recording::extract(&trace);
        let text = recording.to_text(workload::replay::Origin {
            kernel: trace.meta.kernel.as_deref(),
            machine: None,
            caveats: None,
        });
        let read = Recording::from_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        recording.counts = Default::default();
        for task in &mut recording.tasks {
            task.placement.passed_idle_cpus = Nanos::ZERO;
            if let Some(pinned) = &mut task.placement.pinned {
                pinned.evidence = Evidence::File;
            }
        }
        assert_eq!(read.kernel, trace.meta.kernel);
        assert_eq!(read.recording, recording, "{name}");
    }
}

#[test]
fn extracted_cpu_time_is_the_summarys() {
    for name in FIXTURES {
        let mut trace = trace::read(&fixture(name)).expect("a trace");
        agrees_with_summary(&trace);
        infer_missing_switches(&mut trace);
        assert_eq!(Recording::extract(&trace).counts.lost_stays, 0, "{name}: repaired");
        agrees_with_summary(&trace);
        let summary = summarise(&trace);
        for task in Recording::extract(&trace).tasks {
            let same = |other: &&TaskSummary| (other.pid, other.incarnation) == (task.pid, task.incarnation);
            let known = summary.tasks.iter().find(same).expect("the summary has all tasks");
            assert_eq!(task.cpu_time.0, known.cpu_time_ns + known.edge_time_ns, "{name}: task {}", task.pid);
        }
    }
}

/// Replays a fixture on the machine that stands for the host of the recorded data, under a kernel with its
/// tick.
fn play(name: &str, kernel: &str) -> ReplayFidelity {
    play_on(name, MachineSpec::builtin("vm2").expect("a machine"), kernel)
}

fn play_on(name: &str, spec: MachineSpec, kernel: &str) -> ReplayFidelity {
    let trace = trace::read(&fixture(name)).expect("a trace");
    let cpus = spec.cpus();
    let replay = Replay::new(trace).recorded_on(&spec);
    assert_eq!(replay.cpus() as usize, cpus, "{name}");
    let config = Config::default();
    Profile::find(kernel).expect("a profile").apply(&config).expect("its settings");
    config.set("hz=250").expect("a setting");
    let mut setup = Setup::new(spec.cpus());
    let built = replay.build(&mut setup).expect("a load");
    let Length::Time(duration) = replay.length() else { panic!("a replay has a length") };
    let options = RunOptions { duration, trace: Tracing::Everything, ..RunOptions::default() };
    let outcome = Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a run");
    let LoadResult::Replay(result) = built.result(name) else { panic!("the result of a replay") };
    assert!(result.bursts_completed * 100 >= result.bursts * 95, "{name}: {result:?}");
    let replayed = built.replayed().expect("a replay");
    replay.fidelity(&replayed, &outcome.log.expect("a log"), cpus).expect("a recording")
}

/// The sum of a figure over all tasks, and the sum of the distances, both in relation to the recording, per
/// mille.
fn errors(fidelity: &ReplayFidelity, figure: impl Fn(&TaskFidelity) -> Pair) -> (u64, u64) {
    let mut sum = Pair::default();
    let mut apart = 0;
    for task in &fidelity.tasks {
        let pair = figure(task);
        sum.recorded += pair.recorded;
        sum.simulated += pair.simulated;
        apart += pair.recorded.abs_diff(pair.simulated);
    }
    let per_mille = |distance: u64| distance * 1000 / sum.recorded.max(1);
    (per_mille(sum.recorded.abs_diff(sum.simulated)), per_mille(apart))
}

/// In per mille: CPU time task by task, and switches of all tasks together.
fn check(name: &str, kernel: &str, cpu_time: u64, switches: u64) {
    let fidelity = play(name, kernel);
    let (_, apart) = errors(&fidelity, |task| task.cpu_time_ns);
    assert!(apart <= cpu_time, "{name}: CPU time task by task {apart} per mille off");
    let (sum, _) = errors(&fidelity, TaskFidelity::switches);
    assert!(sum <= switches, "{name}: switches {sum} per mille off");
}

#[test]
fn a_replay_comes_close_to_its_recording() {
    check("guest-6.1-mix-rr-smp2.dat", "6.1.y", 5, 50);
    check("mix-rr.dat", "6.18.y", 20, 80);
    check("mix-rtover.dat", "6.18.y", 5, 50);
    check("mix-nice.dat", "6.18.y", 5, 50);
}

/// Fair tasks that share a CPU take turns more often under EEVDF than under CFS: the recording knows which of
/// them it was.
#[test]
fn a_recording_of_6_18_is_nearer_to_eevdf_than_to_cfs() {
    let off = |kernel| errors(&play("mix-nice.dat", kernel), TaskFidelity::switches).0;
    let (eevdf, cfs) = (off("6.18.y"), off("6.1.y"));
    assert!(4 * eevdf < cfs, "switches are {eevdf} per mille off under 6.18.y, {cfs} under 6.1");
}

#[test]
fn replays_are_deterministic() {
    assert_eq!(play("mix-rr.dat", "6.18.y"), play("mix-rr.dat", "6.18.y"));
}

/// Plays a little of whatever came out of a trace.
fn plays(trace: Trace) {
    let spec = MachineSpec::builtin("vm2").expect("a machine");
    let replay = Replay::new(trace).recorded_on(&spec);
    let mut setup = Setup::new(spec.cpus());
    let built = replay.build(&mut setup).expect("a load");
    plays_a_little(&replay, spec, setup, built);
}

fn plays_a_little(replay: &Replay, spec: MachineSpec, setup: Setup, built: BuiltLoad) {
    assert!(!replay.notes().iter().any(String::is_empty));
    let options =
        RunOptions { duration: Nanos::from_millis(300), trace: Tracing::Everything, ..RunOptions::default() };
    let outcome =
        Machine::new(spec, Config::default(), setup, options).and_then(Machine::run).expect("a run");
    let replayed = built.replayed().expect("a replay");
    replay.fidelity(&replayed, &outcome.log.expect("a log"), 2);
}

/// An event of one of five tasks on one of three CPUs, in any state and order.
fn event(builder: &mut TraceBuilder, seed: &Seed, time_ns: u64) -> Event {
    let name = builder.strings.intern(["a", "b", "migration/0", "ksoftirqd/1", "e"][seed.other as usize % 5]);
    let task = |pid: u8| TaskRef {
        comm: name,
        pid: Pid(i32::from(pid % 6)),
        prio: [120, 97, -1, 139][seed.prio as usize % 4],
    };
    let (this, other) = (task(seed.this), task(seed.other));
    let target_cpu = Cpu(u32::from(seed.target % 3));
    let wakeup = SchedWakeup { task: other, target_cpu };
    let states = [
        PrevState::Running,
        PrevState::Preempted,
        PrevState::Interruptible,
        PrevState::Dead,
        PrevState::Unknown,
    ];
    let kind = match seed.kind % 16 {
        0..=5 => EventKind::SchedSwitch(SchedSwitch {
            prev: this,
            prev_state: states[seed.prio as usize % 5],
            next: other,
            provenance: Provenance::Recorded,
        }),
        6 | 7 => EventKind::SchedWaking(wakeup),
        8 | 9 => EventKind::SchedWakeup(wakeup),
        10 => EventKind::SchedWakeupNew(wakeup),
        11 => EventKind::SchedMigrateTask(SchedMigrateTask {
            task: other,
            orig_cpu: Cpu(0),
            dest_cpu: target_cpu,
        }),
        12 => EventKind::SchedProcessFork(SchedProcessFork {
            parent_comm: name,
            parent_pid: this.pid,
            child_comm: name,
            child_pid: other.pid,
        }),
        13 => EventKind::SchedProcessExit(this),
        14 => {
            EventKind::SchedProcessExec(SchedProcessExec { filename: name, pid: this.pid, old_pid: this.pid })
        }
        _ => EventKind::SchedPiSetprio(SchedPiSetprio {
            comm: name,
            pid: other.pid,
            oldprio: 120,
            newprio: this.prio,
        }),
    };
    let context =
        [Context::Task, Context::Hardirq, Context::Softirq, Context::Unknown][seed.target as usize / 3 % 4];
    let (cpu, need_resched) = (Cpu(u32::from(seed.cpu % 3)), NeedResched::Unknown);
    Event { time_ns, cpu, pid: this.pid, context, need_resched, kind }
}

#[derive(Clone, Debug)]
struct Seed {
    kind: u8,
    this: u8,
    other: u8,
    prio: u8,
    cpu: u8,
    target: u8,
    gap_ns: u32,
}

fn seed() -> impl Strategy<Value = Seed> {
    (any::<(u8, u8, u8, u8, u8, u8)>(), 0..2_000_000u32).prop_map(
        |((kind, this, other, prio, cpu, target), gap_ns)| Seed {
            kind,
            this,
            other,
            prio,
            cpu,
            target,
            gap_ns,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_in_a_trace_makes_extraction_panic(seeds in prop::collection::vec(seed(), 1..120)) {
        let mut builder = TraceBuilder::new(3);
        let mut time_ns = 0;
        for seed in &seeds {
            time_ns += u64::from(seed.gap_ns);
            let event = event(&mut builder, seed, time_ns);
            builder.push(event);
        }
        let mut trace = builder.finish();
        agrees_with_summary(&trace);
        infer_missing_switches(&mut trace);
        agrees_with_summary(&trace);
        plays(trace);
    }

    #[test]
    fn damaged_files_replay_as_far_as_they_can_be_read(
        file in 0..FIXTURES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = fixture(FIXTURES[file]);
        for (at, byte) in &damage {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        if damage.len() % 4 == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(trace) = trace::read(&bytes) {
            agrees_with_summary(&trace);
            plays(trace);
        }
    }

    #[test]
    fn whatever_becomes_of_a_workload_file_is_an_error_or_plays(
        file in 0..FIXTURES.len(),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5u8),
            1..6,
        ),
    ) {
        let trace = trace::read(&fixture(FIXTURES[file])).expect("a trace");
        let text = Recording::extract(&trace).to_text(workload::replay::Origin::default());
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (at, other, how) in &edits {
            let (at, other) = (at.index(lines.len()), other.index(lines.len()));
            match how {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, other),
                2 => lines.insert(at, lines[other].clone()),
                3 => lines[at] = lines[at].replace(|c: char| c.is_ascii_digit(), "9"),
                _ => {
                    let end = lines[at].floor_char_boundary(other % 20);
                    lines[at].truncate(end);
                }
            }
        }
        match Recording::from_text(&lines.join("\n")) {
            Err(error) => prop_assert!(error.line <= lines.len() && !error.problem.is_empty(), "{error}"),
            Ok(workload) => {
                let spec = MachineSpec::builtin("vm2").expect("a machine");
                let replay = Replay::of_workload(workload).recorded_on(&spec);
                let mut setup = Setup::new(spec.cpus());
                // CPUs that this machine does not have are an error.
                if let Ok(built) = replay.build(&mut setup) {
                    plays_a_little(&replay, spec, setup, built);
                }
            }
        }
    }
}

/// A virtual machine that records little of what it does while idle: by the switches alone a kernel thread
/// that worked for 161 µs in all would have run for 187 ms. The expectation is the kernel's own accounting.
#[test]
fn cpu_time_is_what_the_kernel_accounted() {
    let mut trace = trace::read(&fixture("rtmigrate.perf.data.gz")).expect("a trace");
    let mut accounted: BTreeMap<Pid, u64> = BTreeMap::new();
    for event in &trace.events {
        if let EventKind::SchedStatRuntime(stat) = &event.kind {
            *accounted.entry(stat.pid).or_default() += stat.runtime_ns;
        }
    }
    infer_missing_switches(&mut trace);
    let recording = Recording::extract(&trace);
    // What runs when the trace begins has run before.
    let whole = |task: &&RecordedTask| !matches!(task.begin, Begin::Runnable { .. });
    let compared: Vec<_> = recording
        .tasks
        .iter()
        .filter(whole)
        .filter_map(|task| Some((task, *accounted.get(&task.pid)?)))
        .collect();
    assert!(compared.len() > 10, "{}", compared.len());
    for (task, accounted) in compared {
        let (here, slack) = (task.cpu_time.0, 20_000 + accounted / 100);
        assert!(
            here.abs_diff(accounted) <= slack,
            "{} {}: {here} ns, accounted {accounted}",
            task.comm,
            task.pid
        );
    }
}

/// In a recording of a real kernel: RCU's threads are woken by soft timers, so the ticks are where soft
/// interrupts do that.
#[test]
fn ticks_lie_where_soft_timers_wake() {
    for (name, cpus) in [("mix-nice.dat", 2), ("guest-6.1-make-smp1.trace.txt.gz", 1)] {
        let trace = trace::read(&fixture(name)).expect("a trace");
        let recording = Recording::extract(&trace);
        assert_eq!((recording.hz, recording.ticks_at.len()), (Some(250), cpus), "{name}");
        let by_soft_timer = |event: &&Event| match &event.kind {
            EventKind::SchedWaking(waking) => {
                event.context == Context::Softirq && trace.strings[waking.task.comm].starts_with("rcu_")
            }
            _ => false,
        };
        let period = 4_000_000;
        let since_tick = |event: &Event| {
            let tick = trace.start_ns() + recording.ticks_at[event.cpu.index()].0;
            (event.time_ns % period + period - tick % period) % period
        };
        let since: Vec<u64> = trace.events.iter().filter(by_soft_timer).map(since_tick).collect();
        // The guest is emulated: from the tick to its soft interrupts it takes up to half a millisecond.
        let soon = since.iter().filter(|ns| **ns <= 500_000 || **ns >= period - 100_000).count();
        assert!(since.len() >= 10 && soon * 10 >= since.len() * 9, "{name}: {soon} of {}", since.len());
        assert!(recording.counts.by_tick as usize >= soon * 9 / 10, "{name}: {:?}", recording.counts);
    }
}

/// Wakeups of soft timers beside the tick, as if they were interrupts of their own, make two preemptions of
/// one: a third too many switches.
#[test]
fn a_build_on_one_cpu_switches_as_often_as_recorded() {
    let laptop = MachineSpec::builtin("laptop").and_then(|spec| spec.with_cpus(1)).expect("a machine");
    let fidelity = play_on("guest-6.1-make-smp1.trace.txt.gz", laptop, "6.1.y");
    let (sum, apart) = errors(&fidelity, TaskFidelity::switches);
    assert!(sum <= 50 && apart <= 100, "{sum} per mille off, task by task {apart}");
}
