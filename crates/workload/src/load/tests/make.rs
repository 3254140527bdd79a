use super::*;

/// Runs a task and, at once, each child it forks; gives the command names in the order of exec.
fn execs(task: &mut Script, out: &mut Vec<String>) {
    loop {
        match task.step() {
            Step::Exec(comm) => out.push(comm.to_string()),
            Step::Fork { child, .. } => execs(&mut Script::boxed(child.behaviour), out),
            Step::Exit => return,
            _ => {}
        }
    }
}

#[test]
fn an_object_takes_seven_processes() {
    let mut built = build("make -j2 1", 4);
    let mut names = Vec::new();
    execs(&mut built.task(0), &mut names);
    assert_eq!(names, ["sh", "gcc", "cc1", "as", "fixdep", "mv", "rm"]);
    let LoadResult::Make(result) = built.load.result("") else { panic!() };
    assert_eq!((result.jobs, result.objects), (2, 1));
    assert!(result.seconds.is_some() && built.load.is_finished());
}

/// What make itself does, without its own work: f for a fork of a job, w for a wait.
fn outline(command: &str, steps: usize) -> String {
    let mut make = build(command, 4).task(0);
    let mut out = String::new();
    for _ in 0..steps {
        match make.step() {
            Step::Fork { kind: ForkKind::Vfork, .. } => out.push('f'),
            Step::WaitChild => out.push('w'),
            Step::Compute(work) => assert!((us(200)..=us(2_000)).contains(&work)),
            Step::Exit => break,
            other => panic!("{other:?}"),
        }
    }
    out
}

#[test]
fn make_keeps_so_many_jobs_alive() {
    assert_eq!(outline("make -j3 5", 100), "fffwfwfwww");
    assert_eq!(outline("make -j10 2", 100), "ffww");
    assert_eq!(outline("make 2", 100), "fwfw");
    assert_eq!(outline("make -j 2", 10), "ffwfwf");
}

#[test]
fn compiling_takes_its_mean_time_in_bursts() {
    let (mut total, mut bursts) = (0, 0);
    let compiles = 300;
    for step in cc1_steps(&format!("make -j1 {compiles} --cc1 100ms --cc1-wait 5ms")) {
        if let Step::Compute(d) = step {
            total += d.0;
            bursts += 1;
        }
    }
    let mean = total / compiles;
    assert!(mean.abs_diff(100_000_000) < 10_000_000, "{mean}");
    assert!(bursts > 2 * compiles, "{bursts}");
}

#[test]
fn in_the_recorded_build_make_starts_gcc_itself() {
    let mut built = build("make -j2 1 --times recorded", 4);
    let mut names = Vec::new();
    execs(&mut built.task(0), &mut names);
    assert_eq!(names, ["gcc", "cc1", "as"]);
    let LoadResult::Make(result) = built.load.result("") else { panic!() };
    assert_eq!(result.objects, 1);
}

#[test]
fn recorded_compilers_do_not_wait_and_may_be_stretched() {
    let mean = |command: &str| {
        let steps = cc1_steps(command);
        let time = |step: &Step| match step {
            Step::Compute(d) => d.0,
            Step::Exec { .. } => 0,
            other => panic!("{other:?}"),
        };
        steps.iter().map(time).sum::<u64>() / 400
    };
    // 136.6 ms in the recording, kernel time of exec included, 8.7 to 288 ms.
    assert!(mean("make -j1 400 --times recorded").abs_diff(131_000_000) < 8_000_000);
    assert!(mean("make -j1 400 --times recorded --cc1 10ms").abs_diff(10_000_000) < 700_000);
}

fn cc1_steps(command: &str) -> Vec<Step> {
    fn walk(task: &mut Script, is_cc1: bool, out: &mut Vec<Step>) {
        loop {
            match task.step() {
                Step::Fork { child, .. } => {
                    let is_cc1 = child.comm == "cc1";
                    let mut child = Script::boxed(child.behaviour);
                    // The machine gives each task a stream of its own.
                    child.reseed(out.len() as u64);
                    walk(&mut child, is_cc1, out);
                }
                Step::Exit => return,
                step if is_cc1 => out.push(step),
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    walk(&mut build(command, 4).task(0), false, &mut out);
    out
}

#[test]
fn lengths_and_refusals() {
    assert_eq!((length("make -j128"), length("make -j4 100")), (Length::Endless, Length::Work));
    let objects = "give the number of objects to build; targets have no meaning here";
    assert_eq!(refusal("make -j4 all"), format!("make: option '[OBJECTS]', value 'all': {objects}"));
    assert_eq!(
        refusal("make -j0"),
        "make: option '--jobs <N>', value '0': it is a whole number from 1 to 100000"
    );
}
