//! Whole experiments: the loads' own figures, the herd of seed 001, the migrations of seed 000, and what
//! cannot be explained.

use super::scene::adds_up;
use lab::workload::replay::TaskSelector;
use lab::{
    Arm, Change, Experiment, Files, Groups, KernelConfig, LoadSpec, Plan, Question, compare, groups, machine,
    why,
};
use report::why::Waits;
use scheduler::Nanos;
use schema::why::{Cause, Due, Explanation, Remedies, Remedy, WhyResult, WhyStretch};
use schema::{ExperimentText, LoadResult, LogLock};

fn experiment(on: &str, cpus: Option<usize>, kernel: &str, settings: &[&str], loads: &[&str]) -> Experiment {
    let files = Files::new();
    let mut experiment = Experiment::new(machine(on, cpus, &files).expect("a machine"));
    experiment.loads = loads.iter().map(|load| LoadSpec::open(load, &files).expect("a load")).collect();
    experiment.kernel = KernelConfig::of_name(kernel).expect("a kernel");
    for setting in settings {
        experiment.kernel.set(Change::parse(setting).expect("no time")).expect("a setting");
    }
    experiment
}

fn ask(experiment: &Experiment, question: Question) -> WhyResult {
    let result = why(experiment, question).expect("wakeups");
    result.explanations.iter().for_each(adds_up);
    result
}

fn of(task: &str) -> Vec<TaskSelector> {
    vec![task.parse().expect("a name")]
}

/// What cyclictest measures from its due time to its reading of the clock is what is explained.
#[test]
fn latencies_are_those_that_cyclictest_reports() {
    for kernel in ["2.6.36", "4.0", "5.14", "6.1", "6.18.y", "7.1"] {
        let loads = ["cyclictest -t3 -p80 -i300 -n -l 200", "hackbench -g1 -l50", "hog -n 3"];
        let mut all = experiment("laptop", Some(2), kernel, &[], &loads);
        let result = all.run().expect("it runs").result;
        let LoadResult::Cyclictest(cyclictest) = &result.loads[0] else { panic!("cyclictest") };
        for thread in &cyclictest.threads {
            all.tasks = of(&thread.pid.to_string());
            let found = ask(&all, Question { worst: usize::MAX, ..Question::default() });
            let by_timer = |one: &&Explanation| one.due == Due::Timer {};
            let mut latencies: Vec<u64> =
                found.explanations.iter().filter(by_timer).map(|one| one.latency.0).collect();
            latencies.sort_unstable();
            let own = thread.latency_ns.as_ref().expect("latencies");
            let ends = (latencies[0], latencies[latencies.len() - 1]);
            assert_eq!((latencies.len() as u64, ends), (own.count, (own.min, own.max)), "{kernel}");
            let sum: u64 = latencies.iter().sum();
            assert_eq!(sum / own.count, own.mean, "{kernel}");
        }
    }
}

/// Seed 001: CPUs whose cyclictest has slept pull all at once, and wait for each other's run queues. What it
/// came to, RT_PUSH_IPI, is named, and helps.
#[test]
fn the_herd_of_seed_001() {
    let settings = ["double_lock=fair", "preempt_model=full", "NO_RT_PUSH_IPI"];
    let loads = [
        "cyclictest --numa -p95 -m -d0 -i100 --cycle-cost 5000",
        "periodic --random -n 4 -p 200 -r 50 -P 50",
    ];
    let mut herd = experiment("seed001", None, "4.0", &settings, &loads);
    herd.duration = Some(Nanos::from_millis(20));
    herd.tasks = of("cyclictest");
    let found = ask(&herd, Question { worst: 50, tries: Some(1), ..Question::default() });
    let waits = |one: &Explanation| -> Vec<(u64, u16)> {
        let of_queue = |stretch: &WhyStretch| match stretch.cause {
            Cause::LockWait { lock: LogLock::Rq { .. }, waiters, on_behalf_of: Some(_), .. } => {
                Some((stretch.length().0, waiters))
            }
            _ => None,
        };
        one.stretches.iter().filter_map(of_queue).collect()
    };
    let worst = &found.explanations[0];
    let in_all: u64 = waits(worst).iter().map(|(length, _)| length).sum();
    assert!(in_all * 2 > worst.latency.0, "most of it is waiting for run queues: {worst:#?}");
    let behind = found.explanations.iter().flat_map(waits).map(|(_, waiters)| waiters).max();
    assert!(behind > Some(2), "behind a queue of others");
    let remedies = worst.remedies.as_ref().expect("asked for");
    let push = remedies.tried.iter().find(|remedy| remedy.change == "RT_PUSH_IPI").expect("it was tried");
    assert!(push.helps && remedies.any_helps, "{remedies:#?}");
}

/// Seed 000: a thread that is woken behind a higher one is pulled by a CPU that becomes free.
#[test]
fn the_migrations_of_seed_000() {
    let settings = ["sched_rt_runtime_us=-1"];
    let migrate = experiment("seed000", None, "2.6.36", &settings, &["rt-migrate"]);
    let found = ask(&migrate, Question { worst: 100, ..Question::default() });
    let moved = found.explanations.iter().filter(|one| {
        one.stretches
            .iter()
            .any(|stretch| matches!(stretch.cause, Cause::HandOver { from, to } if from != to))
    });
    let decisions = moved.flat_map(|one| &one.stretches).flat_map(|stretch| &stretch.decisions);
    let pulled = decisions.filter(|decision| decision.reason == "pulled").count();
    assert!(pulled > 0, "{found:#?}");
}

#[test]
fn what_all_is_due_to_adds_up_and_is_compared() {
    let mut plain = experiment("laptop", Some(1), "6.18.y", &[], &["cyclictest -t1 -i1000 -n", "hog"]);
    plain.duration = Some(Nanos::from_millis(100));
    let blame = ask(
        &Experiment { tasks: of("cyclictest"), ..plain.clone() },
        Question { worst: usize::MAX, blame: true, ..Question::default() },
    );
    let [victim] = &blame.blame[..] else { panic!("one victim") };
    let explained: u64 = blame.explanations.iter().map(|one| one.latency.0).sum();
    assert_eq!(
        (victim.total.0, victim.rows.iter().map(|row| row.all.0).sum::<u64>()),
        (explained, explained)
    );
    assert_eq!((victim.max, victim.wakeups), (blame.explanations[0].latency, blame.wakeups));

    plain.why = true;
    let late_by = plain.run().expect("it runs").result.late_by;
    let of_cyclictest: u64 =
        late_by.iter().filter(|one| one.victim == "cyclictest").map(|one| one.total_ns).sum();
    assert_eq!(of_cyclictest, explained);

    let arm = |name: &str, settings: &[&str]| {
        let of = experiment("laptop", Some(1), "6.18.y", settings, &["cyclictest -t1 -i1000 -n", "hog"]);
        Arm {
            name: name.to_owned(),
            loads: of.loads,
            machine: of.machine,
            kernel: of.kernel,
            groups: of.groups,
        }
    };
    let plan = Plan {
        experiment: plain,
        base: arm("base", &[]),
        variants: vec![arm("off", &["NO_WAKEUP_PREEMPTION"])],
        repeat: 3,
    };
    let compared = compare(&plan, &|| {}).expect("it runs");
    let grew = "late_by.cyclictest.hog runs (fair)";
    let found = compared.variants[0].metrics.iter().find(|metric| metric.metric.key == grew);
    assert!(found.is_some_and(|metric| metric.variant > 2.0 * metric.base), "{compared:#?}");
}

/// The remedies of the worst wakeup of a task, by what is changed.
fn remedies(of: &Experiment) -> Remedies {
    let found = ask(of, Question { worst: 1, tries: Some(1), ..Question::default() });
    found.explanations[0].remedies.clone().expect("asked for")
}

fn remedy<'r>(remedies: &'r Remedies, change: &str) -> &'r Remedy {
    let found = remedies.tried.iter().find(|remedy| remedy.change == change);
    found.unwrap_or_else(|| panic!("{change} was not tried: {remedies:#?}"))
}

fn helps(remedies: &Remedies, change: &str) -> bool {
    remedy(remedies, change).helps
}

/// Both timers wake on CPU 0, by whose affinity CPU 1 has nothing to do: to move either one helps.
#[test]
fn an_affinity_that_would_have_helped() {
    let loads = ["cyclictest -t1 -a0 -p50 -i1000 -n -D 0.05", "periodic -n 1 -p 1000 -r 400 -P 80 --cpus 0"];
    let mut bound = experiment("laptop", Some(2), "6.18.y", &[], &loads);
    bound.tasks = of("cyclictest");
    let found = remedies(&bound);
    let moved: Vec<&str> = found
        .tried
        .iter()
        .map(|one| one.change.as_str())
        .filter(|change| change.contains(" on CPU"))
        .collect();
    assert!(moved.iter().any(|change| change.starts_with("periodic")), "{found:#?}");
    assert!(helps(&found, moved[0]), "{found:#?}");
}

/// A group that has used up its cpu.max: more of it helps, and none; what is not related is not tried.
#[test]
fn a_limit_that_would_have_helped() {
    for kernel in ["6.1", "7.1"] {
        let mut limited =
            experiment("laptop", Some(1), kernel, &[], &["cyclictest -t1 -i7000 -n -D 0.5", "hog"]);
        let group = groups::group("web=cpu.max:20000/100000").expect("a group");
        let members = ["web=cyclictest", "web=hog"].map(|member| groups::member(member).expect("a member"));
        let (groups, members) = (vec![group], members.into());
        let text = ExperimentText { groups, members, ..ExperimentText::default() };
        limited.groups = Groups::of_text(&text).expect("legal");
        limited.tasks = of("cyclictest");
        let found = remedies(&limited);
        assert!(helps(&found, "group web cpu.max:max"), "{kernel}: {found:#?}");
        // The hog is in the same group.
        assert!(!remedy(&found, "group web cpu.max:max").costs_others, "{kernel}: {found:#?}");
        assert!(helps(&found, "group web cpu.max:40000/100000"), "{kernel}: {found:#?}");
        // Nothing is left over that a burst could take along.
        assert!(!helps(&found, "group web cpu.max.burst:20000"), "{kernel}: {found:#?}");
    }
}

/// A group whose real-time tasks have used up their time: with more of it they are throttled later, for a
/// shorter time; the most that the root has left is tried, too, and not more.
#[test]
fn a_limit_of_real_time_that_would_have_helped() {
    let loads = ["cyclictest -t1 -p80 -i1000 -n -D 0.5", "hog -y fifo -p 50"];
    let mut limited = experiment("laptop", Some(1), "6.18.y", &["rt_throttle=groups"], &loads);
    let described =
        ["audio=cpu.rt_runtime_us:40000,cpu.rt_period_us:100000", "other=cpu.rt_runtime_us:50000"];
    let members = ["audio=cyclictest", "audio=hog"].map(|member| groups::member(member).expect("a member"));
    let groups = described.map(|group| groups::group(group).expect("a group"));
    let text = ExperimentText { groups: groups.into(), members: members.into(), ..ExperimentText::default() };
    limited.groups = Groups::of_text(&text).expect("legal");
    limited.tasks = of("cyclictest");
    let found = remedies(&limited);
    let of_group: Vec<&Remedy> =
        found.tried.iter().filter(|remedy| remedy.change.starts_with("group audio")).collect();
    let [most, double] = of_group[..] else { panic!("{found:#?}") };
    // 0.95 of a CPU, less 0.05 of the other group.
    assert_eq!(most.change, "group audio cpu.rt_runtime_us:90000, before it was used up");
    assert_eq!(double.change, "group audio cpu.rt_runtime_us:80000, before it was used up");
    assert!(most.helps && double.helps, "{found:#?}");
    // So much of each period is left to others.
    for (remedy, left_ms) in [(most, 10), (double, 20)] {
        let ms = remedy.worst_later.0.div_ceil(1_000_000);
        assert!((left_ms..=left_ms + 1).contains(&ms), "{remedy:#?}");
    }
}

/// Real-time tasks that have used up their time, on a machine that gives them no other CPU. Without that
/// limit the fair hog never runs again.
#[test]
fn real_time_throttling_that_would_have_hurt_less() {
    let settings = ["sched_rt_period_us=100000", "sched_rt_runtime_us=50000"];
    let loads = ["cyclictest -t1 -p80 -i1000 -n -D 0.5", "hog -y fifo -p 50", "hog"];
    let mut throttled = experiment("laptop", Some(1), "6.1", &settings, &loads);
    throttled.tasks = of("cyclictest");
    let found = remedies(&throttled);
    assert!(helps(&found, "sched_rt_runtime_us=-1"), "{found:#?}");
    assert!(remedy(&found, "sched_rt_runtime_us=-1").costs_others, "{found:#?}");
}

/// Two hogs share a CPU. Each waits while the other one runs; with a priority it waits no more, but the other
/// one does.
#[test]
fn what_would_have_helped_who_is_preempted() {
    let mut pair = experiment("laptop", Some(1), "6.18.y", &[], &["hog -n 2"]);
    // The worst wait begins half-way, so that what helps has time to cost the other hog something.
    pair.duration = Some(Nanos::from_millis(200));
    let question = Question { worst: 1, waits: Waits::Runnable, tries: Some(1), ..Question::default() };
    let found = ask(&pair, question);
    let [one] = &found.explanations[..] else { panic!("{found:#?}") };
    assert!(matches!(&one.due, Due::Preempted { by } if &*by.comm == "hog"), "{one:#?}");
    let runs =
        |stretch: &WhyStretch| matches!(&stretch.cause, Cause::Running { task, .. } if &*task.comm == "hog");
    let by_hog: u64 = one.stretches.iter().filter(|one| runs(one)).map(|one| one.length().0).sum();
    assert!(by_hog * 10 > one.latency.0 * 9, "{one:#?}");
    let tried = one.remedies.as_ref().expect("asked for");
    let fifo = tried.tried.iter().find(|one| one.change.ends_with(" fifo:1")).expect("tried");
    assert!(fifo.helps && fifo.latency.0 * 10 < one.latency.0, "{tried:#?}");
    assert!(fifo.costs_others, "the other hog waits for it: {tried:#?}");
}

/// A periodic task that works for three milliseconds, beside hogs: before all others by its priority it keeps
/// a timer waiting for as long, so that this comes behind whatever else helps.
#[test]
fn what_helps_without_harm_comes_first() {
    let loads = ["periodic -n 1 -p 10ms -r 3ms", "cyclictest -t1 -i1000 -n", "hog -n 2"];
    let mut beside = experiment("laptop", Some(1), "6.18.y", &[], &loads);
    beside.tasks = of("periodic0");
    beside.duration = Some(Nanos::from_millis(400));
    let found = remedies(&beside);
    let ranks: Vec<(bool, bool)> =
        found.tried.iter().map(|one| (!one.helps, one.helps && one.costs_others)).collect();
    assert!(ranks.is_sorted(), "{found:#?}");
    let first = found.tried.iter().find(|one| one.change.ends_with(" fifo:1")).expect("tried");
    assert!(first.helps && first.costs_others, "{found:#?}");
}

#[test]
fn what_cannot_be_explained_says_why() {
    let mut plain = experiment("ideal", Some(1), "6.18.y", &[], &["cyclictest -t1 -i1000 -n"]);
    plain.duration = Some(Nanos::from_millis(10));
    let error =
        |experiment: &Experiment, question| why(experiment, question).expect_err("no answer").to_string();
    plain.tasks = of("cyclictets");
    assert_eq!(error(&plain, Question::default()), "there is no task cyclictets; did you mean 'cyclictest'?");
    plain.tasks = of("cyclictest");
    let late = Question { at: Some(Nanos::from_secs(5)), ..Question::default() };
    let message = error(&plain, late);
    assert!(message.starts_with("no wakeup is on its way at 5s; the nearest is due at "), "{message}");
    let mut hog = experiment("ideal", Some(1), "6.18.y", &[], &["hog"]);
    hog.duration = Some(Nanos::from_millis(10));
    assert!(error(&hog, Question::default()).starts_with("nobody wakes up"));
}
