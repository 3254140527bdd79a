//! Affinities that show, one rule each.

use super::{check, trace};
use crate::replay::{Evidence, Pinned, Recording};

#[test]
fn waiting_for_the_stopper_is_an_affinity_that_the_task_sets_or_its_exec() {
    const MOVED: &str = "0  0 idle R a
                         10 0 a wakes migration/0
                         20 0 a D migration/0
                         25 0 migration/0 wakes a on 1
                         30 0 migration/0 S idle
                         40 1 idle R a";
    let recording = check(
        &format!("{MOVED}\n 50 1 a S idle\n 60 1 b wakes a\n 70 0 idle R a"),
        &[
            "a runnable on 0: 10, wake migration/0, 10, bind to 1, 10, unbind, sleep",
            "migration/0 asleep: sleep, 10, sleep on",
            "b runnable on 1: wake a, 10",
        ],
    );
    assert!(recording.tasks[1].is_stopper());
    assert_eq!((recording.counts.bound, recording.counts.by_stopper), (1, 0));
    // An exec moves a task to an idle CPU in the same way; the simulated one does, too.
    let recording = check(
        &format!("{MOVED}\n 45 1 a execs /bin/x\n 50 1 a S idle"),
        &[
            "a runnable on 0: 10, wake migration/0, 15, exec x, 5, sleep on",
            "migration/0 asleep: sleep, 10, sleep on",
        ],
    );
    assert_eq!((recording.counts.bound, recording.counts.by_stopper), (0, 1));
}

#[test]
fn a_parent_whose_children_all_stay_is_pinned_with_the_first_that_shows_it() {
    let recording = Recording::extract(&trace(
        "0     0 idle R z
         1000  0 z S idle
         5000  0 idle R a
         5500  0 a R+ z
         5600  0 z S idle
         6000  1 idle R a
         7000  1 a forks b on 1
         7100  1 a forks c on 1
         8000  1 a S b
         8500  1 b R+ c
         30000 1 c R+ b
         30100 1 b X c
         30200 1 c X idle",
    ));
    let evidence = |comm: &str| {
        let task = recording.tasks.iter().find(|task| &*task.comm == comm).expect("it is there");
        task.placement.pinned.map(|pinned| pinned.evidence)
    };
    // Only b waited for c beside the idle CPU 0; a came to CPU 1 and forked both there.
    assert!(matches!(evidence("b"), Some(Evidence::Waited(_))), "{:?}", evidence("b"));
    assert_eq!(evidence("a"), Some(Evidence::Children));
    assert_eq!(evidence("c"), Some(Evidence::Parent));
    assert_eq!(evidence("z"), None);
}

#[test]
fn tasks_that_stay_beside_an_idle_cpu_are_pinned_and_so_are_their_children() {
    let recording = Recording::extract(&trace(
        "0     1 idle R a
         10000 1 a R+ b
         30000 1 b S a
         31000 1 a forks c on 1
         40000 1 a S c
         41000 1 c X idle
         42000 0 irq@idle wakes d
         42010 0 idle R d
         42020 0 d S idle",
    ));
    let pinned: Vec<_> = recording.tasks.iter().map(|task| (&*task.comm, task.placement.pinned)).collect();
    let on_1 = |evidence| Some(Pinned { cpu: 1, evidence });
    let waited = Evidence::Waited(scheduler::Nanos::from_millis(20));
    assert_eq!(pinned, [("a", on_1(waited)), ("b", None), ("c", on_1(Evidence::Parent)), ("d", None)]);
    let text = recording.to_text(crate::replay::Origin::default());
    assert!(
        text.contains(
            "  # taken to be pinned: it waited there for 0.020000000 s while another CPU was idle\n"
        ),
        "{text}"
    );
    let read = Recording::from_text(&text).expect("our own text").recording;
    assert_eq!(read.tasks[0].placement.pinned, on_1(Evidence::File));
}

/// Waiting for the only CPU there is shows nothing, however long it seems to have been idle meanwhile: from
/// wakeup to run a virtual machine may take its time.
#[test]
fn a_recording_of_one_cpu_shows_no_affinities_but_those_of_kernel_threads() {
    let mut script = String::from("0 0 idle R ksoftirqd/0\n10 0 ksoftirqd/0 S idle\n");
    for n in 1..=20 {
        let t = n * 2_000;
        script += &format!("{t} 0 irq@idle wakes a\n{} 0 idle R a\n{} 0 a S idle\n", t + 1_000, t + 1_500);
    }
    let pinned = |cpus: u32| -> Vec<_> {
        let mut trace = trace(&script);
        trace.cpus = cpus;
        let tasks = Recording::extract(&trace).tasks;
        tasks.into_iter().map(|task| task.placement.pinned.map(|pinned| pinned.cpu)).collect()
    };
    assert_eq!(pinned(1), [Some(0), None]);
    assert_eq!(pinned(2), [Some(0), Some(0)], "the same beside an idle CPU");
}

#[test]
fn a_task_that_moves_and_then_stays_is_pinned_from_there_on() {
    check(
        "0     0 idle R a
         100   0 a R+ c
         120   1 idle R a
         5000  1 a R+ b
         5100  0 c S idle
         16000 1 b S a
         17000 1 a S idle
         17010 0 irq@idle wakes c",
        &[
            "a runnable on 0: 100, pin, 5880, sleep on",
            "c runnable on 0: 5000, sleep till irq at 17010",
            "b runnable on 1: 11000, sleep on",
        ],
    );
}

#[test]
fn a_real_time_task_that_waits_behind_its_equals_beside_an_idle_cpu_is_pinned() {
    let script = |waker: &str| {
        let mut script = format!("0 1 idle R {waker}\n");
        for n in 1..=500 {
            let t = n * 100;
            script += &format!(
                "{t} 1 {waker} wakes b/90\n{} 1 {waker} S b/90\n{} 1 b/90 S {waker}\n",
                t + 3,
                t + 50
            );
        }
        script + "60000 0 irq@idle wakes z\n"
    };
    let pinned = |script: String| {
        let tasks = Recording::extract(&trace(&script)).tasks;
        tasks
            .into_iter()
            .find(|task| &*task.comm == "b")
            .expect("it ran")
            .placement
            .pinned
            .map(|pinned| pinned.cpu)
    };
    assert_eq!(pinned(script("a/90")), Some(1));
    assert_eq!(pinned(script("a/95")), None, "it preempts a: that it does not wait for long says nothing");
}

#[test]
fn a_real_time_task_that_stays_where_a_pinned_one_runs_is_pinned_too() {
    // rt-class 3.1: a wakeup beside a running real-time task that cannot leave looks for another CPU.
    let pinned = |name_of_the_other: &str| {
        let other = format!("{name_of_the_other}/95");
        let mut script = String::new();
        for n in 0..20 {
            let t = n * 100;
            script += &format!("{t} 1 idle R {other}\n{} 1 {other} wakes b/90\n", t + 10);
            script += &format!("{} 1 {other} R b/90\n", t + 11);
            // The other one waits behind it and its equal beside idle CPU 0, if it is to be pinned.
            if name_of_the_other == "p" {
                script += &format!("{} 1 b/90 S {other}\n{} 1 {other} R e/95\n", t + 20, t + 21);
                script += &format!("{} 1 e/95 S {other}\n{} 1 {other} S idle\n", t + 89, t + 90);
            } else {
                script += &format!("{} 0 idle R {other}\n{} 1 b/90 S idle\n", t + 12, t + 20);
                script += &format!("{} 0 {other} S idle\n", t + 90);
            }
        }
        let recording = Recording::extract(&trace(&(script + "60000 0 irq@idle wakes z\n")));
        let b = recording.tasks.iter().find(|task| &*task.comm == "b").expect("it ran");
        b.placement.pinned.map(|pinned| (pinned.cpu, pinned.evidence))
    };
    // By the first time neither had settled.
    assert_eq!(pinned("p"), Some((1, Evidence::Stayed(19))));
    assert_eq!(pinned("f"), None);
}

/// Every millisecond a timer wakes x on CPU 1, on top of h, while CPU 0 is idle: a fair task that may go
/// there does, but for races (fair-placement 2).
#[test]
fn a_fair_task_that_never_takes_the_idle_cpu_is_pinned() {
    let pinned = |times: u64, elsewhere: &[u64]| {
        let mut script = String::from("0 0 idle R y/120\n1 1 idle R h/120\n5 0 y/120 S idle\n");
        for n in 1..=times {
            let t = 1_000 * n;
            let (cpu, there, prev) =
                if elsewhere.contains(&n) { (0, " on 0", "idle") } else { (1, "", "h/120") };
            let back = if cpu == 0 { "S idle" } else { "S h/120" };
            script += &format!("{t} 1 irq@h wakes x{there}\n{} {cpu} {prev} R x/120\n", t + 5);
            script += &format!("{} {cpu} x/120 {back}\n", t + 50);
        }
        let recording = Recording::extract(&trace(&script));
        let x = recording.tasks.iter().find(|task| &*task.comm == "x").expect("it ran");
        x.placement.pinned.map(|pinned| (pinned.cpu, pinned.evidence))
    };
    // The first time it has not been anywhere yet.
    assert_eq!(pinned(40, &[]), Some((1, Evidence::Woken(39))));
    assert_eq!(pinned(30, &[]), None, "too few");
    assert_eq!(pinned(40, &[20]), None, "it may go");
}

/// Every millisecond a wakes up on CPU 1 and then its waiters, which run one after the other when it sleeps.
/// Who of `tasks` is taken to be pinned, and why.
fn pinned_waiters(
    a: &str,
    beside: &str,
    tasks: [&str; 2],
    waiters: impl Fn(u64) -> Vec<&'static str>,
) -> Vec<Option<Evidence>> {
    let [b, c] = tasks;
    let mut script = format!("0 0 idle R {beside}\n1 1 idle R {b}\n2 1 {b} S {c}\n3 1 {c} S y\n");
    for n in 1..=12 {
        let mut t = n * 1_000;
        script += &format!("{t} 1 irq@y wakes {a}\n{} 1 y R {a}\n", t + 1);
        for waiter in waiters(n) {
            script += &format!("{} 1 irq@{a} wakes {waiter}\n", t + 2);
        }
        let mut runs = a;
        for waiter in waiters(n) {
            t += 20;
            script += &format!("{t} 1 {runs} S {waiter}\n");
            runs = waiter;
        }
        script += &format!("{} 1 {runs} S y\n", t + 20);
    }
    let recording = Recording::extract(&trace(&script));
    let evidence = |task: &str| {
        let pid = super::Task::parse(task).pid;
        let task = recording.tasks.iter().find(|other| other.pid.0.unsigned_abs() == pid).expect("it ran");
        task.placement.pinned.inspect(|pinned| assert_eq!(pinned.cpu, 1)).map(|pinned| pinned.evidence)
    };
    tasks.map(evidence).to_vec()
}

/// rt-class 3.1 and 4.2: who waits behind its like goes where something less important runs, if it may.
#[test]
fn a_real_time_task_that_waits_behind_its_like_beside_a_fair_one_is_pinned() {
    let b = |a: &str, beside: &str| pinned_waiters(a, beside, ["b/50", "c/60"], |_| vec!["b/50"])[0];
    assert_eq!(b("a/40", "z"), Some(Evidence::Behind(12)));
    assert_eq!(b("a/50", "z"), Some(Evidence::Behind(12)), "equals do not preempt each other");
    assert_eq!(b("a/40", "z/30"), None, "nor would it get the other CPU");
    let few = pinned_waiters("a/40", "z", ["b/50", "c/60"], |n| if n < 9 { vec!["b/50"] } else { vec![] });
    assert_eq!(few[0], None, "some times are races");
}

/// `cyclictest -a` pins all its threads.
#[test]
fn of_siblings_that_keep_their_cpus_the_times_add_up() {
    let alike = |c: &'static str| {
        pinned_waiters("a/40", "z", ["b/50", c], |n| if n < 8 { vec!["b/50"] } else { vec![c] })
    };
    assert_eq!(alike("b'/60"), vec![Some(Evidence::BehindAll(12)); 2]);
    assert_eq!(alike("c/60"), [None, None], "of another name");
}
