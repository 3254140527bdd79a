//! The replay on a machine: what it keeps of the recording, and how it reacts when things go otherwise.

use super::super::{KnownAffinity, ReadWorkload, Recording, Replay, Replayed, TaskSelector};
use super::trace;
use crate::load::{Length, Load};
use crate::replay::Caveats;
use machine::{Behaviour, Env, Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec, Tracing};
use scheduler::registry::{Config, Profile};
use scheduler::{CpuId, CpuMask, Nanos, Policy, RtPriority, Topology};
use schema::{LoadResult, LogEvent, LogRecord, Pid, ReplayResult, Seconds};

/// A run: its events, and the replay's own result.
pub(super) struct Run {
    pub(super) records: Vec<LogRecord>,
    pub(super) result: ReplayResult,
    pub(super) replayed: Replayed,
    pub(super) notes: Vec<String>,
}

impl Run {
    /// Of a replay on a machine without costs, in front of a more urgent task on CPU 0 that first computes
    /// for so long.
    pub(super) fn delayed(replay: &Replay, cpus: usize, delay: Nanos) -> Run {
        let spec = MachineSpec::ideal(Topology::flat(cpus));
        let config = Config::default();
        Profile::find("6.1.y").expect("a profile").apply(&config).expect("its settings");
        let mut setup = Setup::new(cpus);
        let built = replay.build(&mut setup).expect("a load");
        let before = built.replayed().expect("a replay");
        let mut rival = TaskSpec::new("rival", Rival(delay));
        rival.policy = RtPriority::new(99).map(Policy::Fifo).expect("a priority");
        rival.cpus = Some(CpuMask::single(CpuId(0)));
        if delay > Nanos::ZERO {
            setup.spawn(before.lead_in, rival);
        }
        let Length::Time(length) = replay.length() else { panic!("a replay has a length") };
        let duration = length + delay + Nanos::from_millis(1);
        let options = RunOptions { duration, trace: Tracing::Everything, ..RunOptions::default() };
        let outcome = Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a run");
        let LoadResult::Replay(result) = built.result("") else { panic!("a replay's result") };
        let (replayed, notes) = (built.replayed().expect("a replay"), built.notes(""));
        Run { records: outcome.log.expect("a log"), result, replayed, notes }
    }

    pub(super) fn of(replay: &Replay, cpus: usize) -> Run {
        Run::delayed(replay, cpus, Nanos::ZERO)
    }

    pub(super) fn pid(&self, comm: &str) -> Pid {
        let task = self.replayed.tasks.iter().find(|task| &*task.comm == comm);
        Pid(task.and_then(|task| task.pid).unwrap_or_else(|| panic!("{comm} did not run")).0)
    }

    /// µs of the recording at which a task is woken, the fall asleep before its begin left out.
    pub(super) fn wakeups(&self, comm: &str) -> Vec<u64> {
        let pid = self.pid(comm);
        let woken = |record: &&LogRecord| match &record.event {
            LogEvent::SchedWakeup { task, .. } => task.pid == pid,
            _ => false,
        };
        self.records.iter().filter(woken).map(|record| self.us(record)).collect()
    }

    pub(super) fn us(&self, record: &LogRecord) -> u64 {
        record.time.0.saturating_sub(self.replayed.lead_in.0) / 1000
    }
}

#[derive(Debug)]
struct Rival(Nanos);

impl Behaviour for Rival {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        match std::mem::take(&mut self.0) {
            Nanos::ZERO => Step::Exit,
            delay => Step::Compute(delay),
        }
    }
}

pub(super) fn replay(script: &str) -> Replay {
    Replay::new(trace(script))
}

const A_WAKES_B: &str = "0    0 idle R a
                         2000 0 a wakes b
                         2100 0 a S b
                         2500 0 b S idle";

#[test]
fn a_wakeup_comes_at_a_point_of_the_wakers_own_progress() {
    let replay = replay(A_WAKES_B);
    assert_eq!(Run::of(&replay, 1).wakeups("b"), [2000]);
    assert_eq!(Run::delayed(&replay, 1, Nanos::from_millis(5)).wakeups("b"), [7000]);
}

#[test]
fn who_wakes_several_in_one_call_is_preempted_after_the_last() {
    let woken = |second: &str| {
        let replay = replay(&format!(
            "0    0 idle R a/98
             2000 0 a/98 wakes b/96
             2000 0 {second}a/98 wakes c/97
             2001 0 a/98 R b/96
             2500 0 b/96 S c/97
             2900 0 c/97 S a/98
             3000 0 a/98 S idle"
        ));
        let run = Run::of(&replay, 1);
        (run.wakeups("b"), run.wakeups("c"))
    };
    assert_eq!(woken("resched@"), (vec![2000], vec![2000]));
    assert_eq!(woken("?@"), (vec![2000], vec![2000]), "no flags, but so close");
    assert_eq!(woken(""), (vec![2000], vec![2499]), "two calls, and b comes in between");
}

#[test]
fn an_interrupt_comes_at_its_time() {
    let replay = replay(
        "0    0 idle R a
         1999 0 irq@a wakes b
         2100 0 a S b
         2500 0 b S idle",
    );
    assert_eq!(Run::of(&replay, 1).wakeups("b"), [1999]);
    assert_eq!(Run::delayed(&replay, 1, Nanos::from_millis(5)).wakeups("b"), [1999]);
}

/// A task that runs 100 µs and then sleeps for 900 µs, or until the next whole millisecond.
fn sleeper(wake: impl Fn(u64) -> u64) -> Replay {
    let mut script = String::from("0 0 idle R a\n");
    let mut slept = 100;
    for n in 0..20 {
        let woken = wake(slept);
        script += &format!("{slept} 0 a S idle\n{woken} 0 irq@idle wakes a\n{woken} 0 idle R a\n");
        slept = woken + 100 + n * n * 37 % 90;
    }
    replay(&script)
}

#[test]
fn a_relative_timer_starts_when_its_task_sleeps_and_an_absolute_one_does_not_wait() {
    let delay = Nanos::from_micros(450);
    let relative = sleeper(|slept| slept + 900);
    let (on_time, late) =
        (Run::of(&relative, 1).wakeups("a"), Run::delayed(&relative, 1, delay).wakeups("a"));
    let shifted: Vec<u64> = on_time.iter().map(|us| us + 450).collect();
    assert_eq!((on_time.len(), late), (20, shifted));
    let absolute = sleeper(|slept| (slept / 1000 + 1) * 1000);
    assert_eq!(Run::delayed(&absolute, 1, delay).wakeups("a"), Run::of(&absolute, 1).wakeups("a"));
}

#[test]
fn who_sets_its_affinity_goes_there_at_once() {
    let replay = replay(
        "0    0 idle R a
         0    1 idle wakes z
         1000 0 a wakes migration/0
         1001 0 a D migration/0
         1002 0 migration/0 wakes a on 1
         1003 0 migration/0 S idle
         1004 1 idle R a
         2000 1 a wakes migration/1
         2001 1 a D migration/1
         2002 1 migration/1 wakes a on 0
         2003 1 migration/1 S idle
         2004 0 idle R a
         3000 0 a S idle",
    );
    let run = Run::of(&replay, 2);
    let pid = run.pid("a");
    let moves = run.records.iter().filter_map(|record| match &record.event {
        LogEvent::SchedMigrateTask { task, dest_cpu, .. } if task.pid == pid => {
            Some((run.us(record), dest_cpu.0))
        }
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), [(1001, 1), (1998, 0)]);
    assert!(Run::of(&replay, 1).result.bursts > 0, "where there is no other CPU, it stays");
}

#[test]
fn no_token_is_lost_if_the_sleeper_is_late() {
    // b is woken three times; the rival holds it up until all of that is over.
    let replay = replay(
        "0   0 idle R a
         0   1 idle R b
         10  1 b S idle
         100 1 irq@idle wakes b
         101 1 idle R b
         200 1 b S idle
         300 1 irq@idle wakes b
         301 1 idle R b
         400 1 b S idle
         500 1 irq@idle wakes b
         501 1 idle R b
         600 1 b S idle
         700 0 a S idle",
    );
    let run = Run::delayed(&replay, 1, Nanos::from_millis(3));
    assert_eq!((run.result.bursts, run.result.bursts_completed), (5, 5));
    assert_eq!(run.result.seconds, Some(Seconds::from_ns(1_000 * (3_000 + 700 + 10 + 99 * 3))));
}

/// Task a computes for 1 ms, asks a device, which answers after 2 ms, and computes again.
#[test]
fn a_device_answers_so_long_after_it_is_asked() {
    let replay = replay(
        "0    0 idle R a
         1000 0 a D idle
         3000 0 irq@idle wakes a
         3000 0 idle R a
         4000 0 a S idle",
    );
    assert_eq!(Run::of(&replay, 1).wakeups("a"), [3000]);
    assert_eq!(Run::delayed(&replay, 1, Nanos::from_millis(5)).wakeups("a"), [8000]);
}

/// Tasks a and b wait for the disk; the kworker answers b first, as recorded, and a first where b is held up.
#[test]
fn a_worker_answers_whoever_asked_first() {
    let replay = replay(
        "0    1 idle R kworker/1:1
         1    1 kworker/1:1 I b
         100  1 b D idle
         200  0 idle R a
         400  0 a D idle
         600  1 irq@idle wakes kworker/1:1
         600  1 idle R kworker/1:1
         610  1 kworker/1:1 wakes b on 1
         620  1 kworker/1:1 I b
         700  1 b S idle
         900  1 irq@idle wakes kworker/1:1
         900  1 idle R kworker/1:1
         910  1 kworker/1:1 wakes a on 0
         920  1 kworker/1:1 I idle
         930  0 idle R a
         990  0 a S idle",
    );
    let run = Run::of(&replay, 2);
    let first = |run: &Run, comm| run.wakeups(comm).last().copied().expect("it is woken");
    assert!(first(&run, "b") < first(&run, "a"));
    // CPU 0, on which a begins, is taken for 2 ms: b does not wait for a's piece of work.
    let delayed = Run::delayed(&replay, 2, Nanos::from_millis(2));
    assert!(first(&delayed, "b") < 1_000, "{:?}", delayed.wakeups("b"));
}

#[test]
fn children_are_forked_where_their_parent_is() {
    let replay = replay(
        "0    0 idle R a
         1000 0 a forks b
         1500 0 a S b
         1800 0 b wakes a
         1900 0 b X a
         2000 0 a S idle",
    );
    let run = Run::delayed(&replay, 1, Nanos::from_millis(5));
    let fork = run.records.iter().find(|record| matches!(record.event, LogEvent::SchedProcessFork { .. }));
    assert_eq!(fork.map(|fork| run.us(fork)), Some(6000));
    let exits = |event: &LogEvent| match event {
        LogEvent::SchedProcessExit { task } => task.pid == run.pid("b"),
        _ => false,
    };
    assert!(run.records.iter().any(|record| exits(&record.event)));
    assert_eq!(run.result.bursts_completed, run.result.bursts);
}

#[test]
fn a_replay_without_costs_repeats_its_recording() {
    let replay = replay(
        "0    0 idle R a
         2000 0 a wakes b/89
         2000 0 a R+ b/89
         2400 0 b/89 S a
         2500 0 a S idle
         2900 0 irq@idle wakes a
         2900 0 idle R a
         3000 0 a S idle",
    );
    let run = Run::of(&replay, 1);
    let fidelity = replay.fidelity(&run.replayed, &run.records, 1).expect("a recording");
    let tasks: Vec<_> = fidelity.tasks.iter().map(|t| (&*t.comm, t.cpu_time_ns, t.switches())).collect();
    for (comm, cpu_time, switches) in tasks {
        assert_eq!(cpu_time.recorded, cpu_time.simulated, "{comm}");
        assert_eq!(switches.recorded, switches.simulated, "{comm}");
    }
}

#[test]
fn known_affinities_count_and_have_to_exist() {
    let known =
        |cpu: u16| KnownAffinity { whom: TaskSelector::Comm("b".into()), cpus: CpuMask::single(CpuId(cpu)) };
    let run = Run::of(&replay(A_WAKES_B).with_affinities(vec![known(1)]), 2);
    let comes = |record: &&LogRecord| {
        matches!(&record.event, LogEvent::SchedSwitch { next, .. } if next.pid == run.pid("b"))
            && record.time.0 >= run.replayed.lead_in.0
    };
    assert!(run.records.iter().filter(comes).all(|record| record.cpu.0 == 1));
    let error =
        replay(A_WAKES_B).with_affinities(vec![known(7)]).build(&mut Setup::new(2)).expect_err("no CPU 7");
    assert_eq!(error.to_string(), "replay: affinity b=7: the machine has CPUs 0 to 1; name some of them");
}

#[test]
fn kernel_threads_of_missing_cpus_are_left_out_unless_somebody_waits_for_them() {
    let recording = |wakes: &str| {
        replay(&format!(
            "0  0 idle R a
             0  3 idle R kworker/3:1
             10 0 a S idle
             40 3 {wakes}
             50 3 kworker/3:1 S idle
             60 0 idle R a
             70 0 a S idle"
        ))
    };
    let alone = Run::of(&recording("irq@kworker/3:1 wakes a on 0"), 2);
    assert_eq!(alone.replayed.tasks.iter().map(|task| &*task.comm).collect::<Vec<_>>(), ["a"]);
    assert_eq!(alone.notes, ["1 kernel thread of CPUs that this machine does not have: left out"]);
    let serving = Run::of(&recording("kworker/3:1 wakes a on 0"), 2);
    assert_eq!(serving.result.bursts_completed, serving.result.bursts);
    assert!(serving.result.bursts > alone.result.bursts);
    assert!(serving.notes[0].contains("because others wait"), "{:?}", serving.notes);
    let whole = Run::of(&recording("kworker/3:1 wakes a on 0"), 4);
    assert_eq!(whole.notes, Vec::<String>::new());
}

/// The same in a run's own trace, where the threads send messages.
#[test]
fn told_kernel_threads_of_missing_cpus_are_left_out_unless_somebody_reads_their_messages() {
    let run = |step: &str| {
        let told = "told nice=0 working-set=0 timer-slack=0ns";
        let text = format!(
            "schedlab-workload 1\ncpus 4\nspan 1ms\n\
             channel 0 capacity=9 writers-wake-at=8 sync=no softirq=no send-cost=0 receive-cost=0\n\
             device 0 at-once=1 name=disk\n\
             task 5 a\n  begin at 0ns\n  {told}\n    do receive 0\n    run 5us\n    exit\n\
             task 6 kworker/3:1\n  begin at 0ns\n  {told}\n    run 5us\n    {step}\n    exit\n"
        );
        let read = Recording::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Run::of(&Replay::of_workload(read), 2)
    };
    for serves in ["do send 0", "do submit 0 1000 0"] {
        let serving = run(serves).result;
        assert_eq!((serving.bursts, serving.bursts_completed), (2, 2), "{serves}");
    }
    assert_eq!(run("run 1us").notes, ["1 kernel thread of CPUs that this machine does not have: left out"]);
}

#[test]
fn a_bound_task_runs_on_the_nearest_cpu_and_can_be_freed_with_its_children() {
    let mut bound = Recording::extract(&trace(
        "0   3 a R+ z
         5   3 z S a
         100 3 a forks b on 3
         120 3 a S b
         200 3 b X idle
         300 0 irq@idle wakes z",
    ));
    bound.cpus = 4;
    for task in &mut bound.tasks {
        task.placement.allowed = Some(CpuMask::single(CpuId(3)));
    }
    let replay = Replay::of_workload(ReadWorkload {
        recording: bound,
        kernel: None,
        machine: None,
        caveats: Caveats::default(),
    });
    let cpus_of = |run: &Run, comm| {
        let comes = |record: &&LogRecord| match &record.event {
            LogEvent::SchedSwitch { next, .. } => next.pid == run.pid(comm),
            _ => false,
        };
        let mut cpus: Vec<u16> = run.records.iter().filter(comes).map(|record| record.cpu.0).collect();
        cpus.dedup();
        cpus
    };
    let bound = Run::of(&replay, 2);
    assert_eq!((cpus_of(&bound, "a"), cpus_of(&bound, "z")), (vec![1], vec![1]));
    assert!(bound.notes[0].starts_with("3 tasks bound to CPUs that this machine does not have"));
    let free = KnownAffinity { whom: TaskSelector::Comm("a".into()), cpus: CpuMask::ALL };
    let freed = Run::of(&replay.with_affinities(vec![free]), 2);
    assert!(freed.notes[0].starts_with("1 task bound"), "z alone is still bound: {:?}", freed.notes);
}

#[test]
fn the_notes_say_what_was_understood() {
    let notes = replay(A_WAKES_B).notes();
    assert!(notes.contains(
        &"1 wakeup by another task: replayed at the same point of that task's progress".to_owned()
    ));
}
