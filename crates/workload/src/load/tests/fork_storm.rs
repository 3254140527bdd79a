use super::*;

/// f for a fork, t for a thread, v for a vfork, w for a wait.
fn outline(command: &str, steps: usize) -> String {
    let mut forker = build(command, 1).task(0);
    let mut out = String::new();
    for _ in 0..steps {
        match forker.step() {
            Step::Fork { kind: ForkKind::Fork, .. } => out.push('f'),
            Step::Fork { kind: ForkKind::Thread, .. } => out.push('t'),
            Step::Fork { kind: ForkKind::Vfork, .. } => out.push('v'),
            Step::WaitChild => out.push('w'),
            Step::Compute(gap) => assert_eq!(gap, ms(1)),
            Step::Exit => break,
            other => panic!("{other:?}"),
        }
    }
    out
}

#[test]
fn the_forker_does_not_wait_before_the_jobs_are_there() {
    assert_eq!(outline("fork_storm -j3", 12), "fffwfwf");
    assert_eq!(outline("fork_storm -j3 -n4", 100), "fffwfwww");
    assert_eq!(outline("fork_storm -j2 -s 5ms", 100), "ffwfwfwfww");
    assert_eq!(outline("fork_storm -j1 -n3 --threads", 100), "twtwtw");
    assert_eq!(outline("fork_storm -j1 -n3 --exec", 100), "vwvwvw");
}

#[test]
fn with_exec_a_job_becomes_another_program_before_it_works() {
    let mut forker = build("fork_storm -j1 -n1 --exec", 1).task(0);
    forker.step();
    let Step::Fork { child, .. } = forker.step() else { panic!() };
    let mut job = Script::boxed(child.behaviour);
    assert!(matches!(job.step(), Step::Exec(_)));
    assert!(matches!(job.step(), Step::Compute(_)));
}

/// Runs a process and, at once, each child it forks; gives how many worked and how many forked.
fn walk(task: &mut Script, workers: &mut u32, parents: &mut u32) {
    loop {
        match task.step() {
            Step::Compute(work) => {
                assert_eq!(work, ms(7));
                *workers += 1;
            }
            Step::Fork { child, .. } => {
                *parents += 1;
                walk(&mut Script::boxed(child.behaviour), workers, parents);
            }
            Step::Exit => return,
            _ => {}
        }
    }
}

#[test]
fn a_deep_job_is_a_chain_whose_last_process_works() {
    let mut built = build("fork_storm -j1 -n1 --depth 4 -b 7ms -g 0 --hogs 0", 1);
    let mut forker = built.task(0);
    let (mut workers, mut parents) = (0, 0);
    forker.step();
    let Step::Fork { child, .. } = forker.step() else { panic!() };
    walk(&mut Script::boxed(child.behaviour), &mut workers, &mut parents);
    assert_eq!((workers, parents), (1, 3));
    let LoadResult::ForkStorm(result) = built.load.result("") else { panic!() };
    assert_eq!((result.jobs, result.forks, result.finished), (1, 4, 1));
}

#[test]
fn the_hogs_share_is_what_the_hogs_themselves_had() {
    let mut built = build("fork_storm --hogs 2", 1);
    assert_eq!(built.tasks.len(), 3);
    for (number, had) in [(1, ms(30)), (2, ms(12))] {
        let mut hog = built.task(number);
        hog.step();
        hog.now = ms(50);
        hog.counters.sum_exec_runtime = had;
        hog.step();
    }
    built.task(0).step();
    let LoadResult::ForkStorm(result) = built.load.result("") else { panic!() };
    assert_eq!((result.hogs, result.hog_cpu_ns, result.elapsed_ns), (2, ms(42).0, ms(50).0));
}

#[test]
fn lengths_and_refusals() {
    assert_eq!(length("fork_storm"), Length::Endless);
    assert_eq!(length("fork_storm -n 10"), Length::Work);
    assert_eq!(length("fork_storm -s 2"), Length::Time(Nanos::from_secs(2)));
    assert!(refusal("fork_storm -n 10 -s 2").starts_with("fork_storm: the argument"));
}
