//! Whole experiments through the library's front door.

use lab::{
    Arm, Change, Error, Experiment, Files, Groups, KernelConfig, LoadSpec, Plan, Run, compare, machine,
};
use scheduler::Nanos;
use schema::{LoadResult, LogEvent, LogRecord, Pid};
use std::collections::BTreeMap;

const MS: Nanos = Nanos::from_millis(1);

fn experiment(cpus: usize, loads: &[&str], duration: Option<Nanos>) -> Experiment {
    let mut experiment = Experiment::new(machine("laptop", Some(cpus), &Files::new()).expect("a machine"));
    experiment.loads =
        loads.iter().map(|load| LoadSpec::open(load, &Files::new()).expect("a load")).collect();
    experiment.duration = duration;
    experiment
}

fn kernel(profile: &str, settings: &[&str]) -> KernelConfig {
    let mut kernel = KernelConfig::of_name(profile).expect("a profile");
    for setting in settings {
        kernel.set(Change::parse(setting).expect("a time")).expect("a setting");
    }
    kernel
}

fn json(experiment: &Experiment) -> String {
    let mut result = experiment.run().expect("it runs").result;
    result.forget_wall_clock();
    result.to_json()
}

#[test]
fn the_same_experiment_gives_the_same_bytes() {
    let experiment = experiment(2, &["cyclictest -t3 -p80 -i500 -n", "hog"], Some(MS * 50));
    assert_eq!(json(&experiment), json(&experiment));
}

/// Neither the thread that runs it nor what other threads do meanwhile shows in a result.
#[test]
#[cfg(feature = "threads")]
fn the_same_experiment_gives_the_same_bytes_on_many_threads_at_once() {
    let experiment =
        experiment(4, &["cyclictest -t6 -p80 -i300", "hackbench -g1 -l20", "make -j4"], Some(MS * 50));
    let alone = json(&experiment);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("a pool");
    let together = pool.broadcast(|_| json(&experiment));
    assert_eq!(together.len(), 8);
    assert!(together.iter().all(|result| *result == alone));
}

#[test]
fn a_run_ends_with_the_loads_that_end_and_others_are_background() {
    let experiment = experiment(2, &["cyclictest -l20 -i1000 -p80", "hog -n 2"], None);
    let result = experiment.run().expect("it runs").result;
    let LoadResult::Cyclictest(cyclictest) = &result.loads[0] else { panic!("{:?}", result.loads) };
    assert_eq!(cyclictest.threads[0].cycles, 20);
    assert!((20_000_000..30_000_000).contains(&result.engine.simulated_ns), "{}", result.engine.simulated_ns);
    assert!(result.notes.iter().all(|note| note.contains("list limits")), "{:?}", result.notes);
}

#[test]
fn a_length_that_was_asked_for_holds_exactly_and_cuts_loads_short() {
    let experiment = experiment(1, &["cyclictest -l1000 -i1000 -p80"], Some(MS * 30));
    let result = experiment.run().expect("it runs").result;
    assert_eq!(result.engine.simulated_ns, 30_000_000);
    assert!(result.notes[0].contains("had not finished when the run ended after 30ms"), "{:?}", result.notes);
}

#[test]
fn settings_with_a_time_take_effect_then() {
    let mut experiment = experiment(1, &["hog -n 2"], Some(MS * 400));
    let switches = |settings: &[&str], experiment: &mut Experiment| {
        experiment.kernel = kernel("6.1", settings);
        experiment.run().expect("it runs").result.totals.context_switches
    };
    let short = switches(&[], &mut experiment);
    let slices = ["sched_latency_ns=100000000", "sched_min_granularity_ns=50000000"];
    let long = switches(&slices, &mut experiment);
    let later: Vec<String> = slices.iter().map(|s| format!("200ms:{s}")).collect();
    let mixed = switches(&later.iter().map(String::as_str).collect::<Vec<_>>(), &mut experiment);
    assert!(long < mixed && mixed < short, "{long} {mixed} {short}");
}

fn records(run: &Run) -> &[LogRecord] {
    &run.logged.as_ref().expect("asked for").log.records
}

/// Command names in the order in which pids took them.
fn comms(run: &Run) -> Vec<(Pid, &str)> {
    let mut comms = Vec::new();
    for record in records(run) {
        if let LogEvent::Comm { of, comm } = &record.event {
            comms.push((*of, &**comm));
        }
    }
    comms
}

/// What every process of a build computes, in user mode and by its program, by command name.
fn work_of_processes(run: &Run) -> Vec<(String, u64)> {
    let mut work = BTreeMap::new();
    for record in records(run) {
        if let LogEvent::Step { step } = &record.event
            && step.word() == "compute"
        {
            *work.entry(record.pid).or_insert(0) += step.number().expect("nanoseconds");
        }
    }
    let comms = comms(run);
    let comm = |pid: Pid| comms.iter().rfind(|(of, _)| *of == pid).expect("it has a name").1.to_owned();
    let mut work: Vec<_> = work.into_iter().map(|(pid, length)| (comm(pid), length)).collect();
    work.sort();
    work
}

/// The order of forks, and so every pid, follows the scheduler: the work must not.
#[test]
fn a_build_does_the_same_work_under_every_kernel() {
    let mut experiment = experiment(2, &["make -j8 16 --cc1 20ms"], None);
    experiment.record = true;
    let mut forks = Vec::new();
    let mut work = Vec::new();
    for kernel in [kernel("6.1", &[]), kernel("6.1", &["NO_START_DEBIT", "hz=250"]), kernel("2.6.31", &[])] {
        experiment.kernel = kernel;
        let run = experiment.run().expect("it runs");
        forks.push(comms(&run).into_iter().map(|(_, comm)| comm.to_owned()).collect::<Vec<_>>());
        work.push(work_of_processes(&run));
    }
    let cc1s = work[0].iter().filter(|(comm, _)| comm == "cc1").count();
    assert_eq!(cc1s, 16);
    assert!(forks[0] != forks[1] && forks[0] != forks[2], "the kernels fork in different orders");
    assert!(work[0] == work[1] && work[0] == work[2]);
}

#[test]
fn a_setting_for_after_the_end_is_told() {
    let mut experiment = experiment(1, &["hog"], Some(MS * 10));
    experiment.kernel = kernel("6.1", &["2s:RT_PUSH_IPI"]);
    let notes = experiment.run().expect("it runs").result.notes;
    assert_eq!(notes, ["setting RT_PUSH_IPI at 2s had no effect: the run ended before"]);
}

/// A FIFO hog is off its CPU for 50 ms of each second up to 6.11, and for none without throttling.
#[test]
fn throttled_real_time_tasks_are_told() {
    let notes = |kernel: KernelConfig| {
        let mut experiment = experiment(1, &["hog -p 50"], Some(MS * 2_500));
        experiment.kernel = kernel;
        experiment.run().expect("it runs").result.notes
    };
    let told = "real-time tasks were throttled 2 times: they may use 950000 of each 1000000 us of a CPU \
                (sched_rt_runtime_us)";
    assert_eq!(notes(kernel("6.1", &[])), [told]);
    assert!(notes(kernel("6.1", &["sched_rt_runtime_us=-1"])).is_empty());
    let changed = &notes(kernel("6.1", &["1s:sched_rt_runtime_us=500000"]))[0];
    assert!(
        changed.ends_with("they may use sched_rt_runtime_us of each sched_rt_period_us of a CPU"),
        "{changed}"
    );
}

/// A timer that expires while a polling idle CPU acts on a wakeup handed to it is served after that: it does
/// not wait for the task that the CPU has switched to meanwhile.
#[test]
fn a_timer_does_not_wait_for_a_task_that_it_preempts() {
    let loads = ["cyclictest --numa -p95 -m -d0 -i100", "periodic --random -n 16 -p 400 -r 200 -P 50"];
    let mut experiment = experiment(1, &loads, Some(MS * 200));
    let mut spec = machine("seed001", None, &Files::new()).expect("a machine").spec().clone();
    spec.costs.ticket_spinner_percent = 60;
    experiment.machine = spec.into();
    experiment.kernel = kernel("4.0", &["preempt_model=full", "double_lock=fair"]);
    let result = experiment.run().expect("it runs").result;
    let LoadResult::Cyclictest(cyclictest) = &result.loads[0] else { panic!("{:?}", result.loads) };
    let worst_us = cyclictest.threads.iter().map(|thread| thread.max_us).max();
    assert!(worst_us < Some(100), "{worst_us:?} us beside tasks that run for 200 us");
}

#[test]
fn no_load_and_no_length_are_errors() {
    assert!(matches!(experiment(1, &[], Some(MS)).run(), Err(Error::NoLoad)));
    assert!(matches!(experiment(1, &["hog"], Some(Nanos::ZERO)).run(), Err(Error::Run(_))));
}

#[test]
#[cfg(feature = "threads")]
fn a_comparison_does_not_depend_on_the_number_of_threads() {
    let experiment = experiment(2, &["cyclictest -t4 -p80 -i300", "hackbench -g1 -l20"], Some(MS * 20));
    let arm = |name: &str, kernel| Arm {
        name: name.to_owned(),
        machine: experiment.machine.clone(),
        kernel,
        groups: Groups::default(),
        loads: experiment.loads.clone(),
    };
    let plan = Plan {
        base: arm("base", kernel("6.1", &[])),
        variants: vec![arm("old", kernel("2.6.36", &[])), arm("linear", kernel("6.1", &["search=linear"]))],
        repeat: 3,
        experiment: experiment.clone(),
    };
    let json = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| compare(&plan, &|| ())).expect("it runs").to_json()
    };
    assert_eq!(json(1), json(4));
}

/// deadline-groups A13: a deadline task's table counts the jobs that its load counts, also where a job takes
/// longer than a period, so that the task does not sleep before the next: 6 of each 10 ms are to be done with
/// 4, so each job is later than the one before. (The load's last job has begun, the kernel's may have ended.)
#[test]
fn tables_of_deadline_tasks_and_of_their_load_count_the_same_jobs() {
    for (load, late) in [
        ("periodic -n 2 -p 10ms -r 6ms --deadline 4ms/10ms", true),
        ("periodic -n 2 -p 10ms -r 3ms --deadline 4ms/10ms", false),
    ] {
        let result = experiment(1, &[load], Some(MS * 1000)).run().expect("it runs").result;
        let LoadResult::Periodic(periodic) = &result.loads[0] else { panic!("{load}") };
        for thread in &periodic.threads {
            let task = result.tasks.iter().find(|task| task.pid == thread.pid).expect("it is a task");
            let stat = task.deadline.as_ref().expect("a deadline task").stat;
            assert!(stat.jobs.abs_diff(thread.cycles) <= 1, "{load}: {stat:?} {thread:?}");
            let misses = thread.deadline_misses.expect("it has deadlines");
            assert!(
                stat.missed.abs_diff(misses) <= 1 && (misses > 50) == late,
                "{load}: {stat:?} {thread:?}"
            );
            let response = thread.response_ns.as_ref().expect("responses").max;
            assert!(
                stat.longest_response_ns.abs_diff(response) <= response / 20,
                "{load}: {stat:?} {response}"
            );
        }
    }
}

/// deadline-groups C4: tasks go where they cost the least, so without that the same jobs take more. (In the
/// first second they may have begun on large CPUs.)
#[test]
fn a_comparison_says_what_energy_aware_placement_saves() {
    let mut experiment = experiment(2, &["periodic -n 4 -p 16ms -r 1ms -D 4"], None);
    experiment.machine = machine("phone", None, &Files::new()).expect("a machine");
    let arm = |name: &str, settings: &[&str]| Arm {
        name: name.to_owned(),
        machine: experiment.machine.clone(),
        kernel: kernel("6.18", settings),
        groups: Groups::default(),
        loads: experiment.loads.clone(),
    };
    let plan = Plan {
        base: arm("base", &["governor=schedutil"]),
        variants: vec![arm("anywhere", &["governor=schedutil", "energy_aware=off"])],
        repeat: 3,
        experiment: experiment.clone(),
    };
    let comparison = compare(&plan, &|| ()).expect("it runs");
    let figures = &comparison.variants[0].metrics;
    let energy = figures.iter().find(|figure| figure.metric.key == "totals.energy").expect("of phone");
    assert!(energy.metric.headline && energy.variant > 1.1 * energy.base, "{energy:?}");
}

#[test]
fn an_error_in_one_of_many_runs_names_the_run() {
    let mut experiment = experiment(2, &["cyclictest -a1 -t1"], Some(MS));
    let arm = |name: &str, cpus| Arm {
        name: name.to_owned(),
        machine: machine("laptop", Some(cpus), &Files::new()).expect("a machine"),
        kernel: KernelConfig::default(),
        groups: Groups::default(),
        loads: experiment.loads.clone(),
    };
    experiment.seed = 5;
    let plan = Plan { base: arm("base", 2), variants: vec![arm("cpus=1", 1)], repeat: 2, experiment };
    let error = compare(&plan, &|| ()).expect_err("there is no CPU 1").to_string();
    assert!(error.starts_with("configuration `cpus=1`, seed 5: cyclictest: "), "{error}");
}
