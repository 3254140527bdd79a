//! "What if that thread were SCHED_DEADLINE?", asked of a recording (deadline-groups A2).

use lab::schema::{ExperimentText, LoadText, MachineText, TaskResult};
use lab::{Experiment, Files, Programs, TraceFormat, deadlines};

fn load(load: &str) -> LoadText {
    LoadText { load: load.to_owned(), file: None }
}

/// A FIFO thread beside a fair hog, as a kernel's trace shows them, and as a workload file.
fn recorded() -> Files {
    let text = ExperimentText {
        loads: vec![load("cyclictest -t1 -p50 -i1000 -D 1"), load("hog -n 1 -D 1")],
        machine: MachineText { cpus: Some(1), ..MachineText::default() },
        ..ExperimentText::default()
    };
    let experiment = Experiment { record: true, ..Experiment::open(&text, &Files::new()).expect("sound") };
    let log = experiment.run().expect("it runs").logged.expect("a log");
    let mut bytes = Vec::new();
    log.write_trace(&mut bytes, TraceFormat::TraceDat, Programs::LeftOut).expect("memory takes it");
    let mut files = Files::from([("run.dat".to_owned(), bytes)]);
    let load = lab::LoadSpec::open("run.dat", &files).expect("our own trace");
    let workload = load.workload_text(&files).expect("it is described").expect("a recording");
    files.insert("run.workload".to_owned(), workload.into_bytes());
    files
}

/// The tasks of a replay on one CPU, with such a deadline task.
fn with(files: &Files, file: &str, deadline: &str) -> Result<Vec<TaskResult>, String> {
    let text = ExperimentText {
        loads: vec![load(file)],
        machine: MachineText { cpus: Some(1), ..MachineText::default() },
        deadlines: vec![deadlines::deadline(deadline).expect("legal")],
        ..ExperimentText::default()
    };
    let experiment = Experiment::open(&text, files).expect("our own file");
    Ok(experiment.run().map_err(|error| error.to_string())?.result.tasks)
}

/// By name or by the recorded pid, whatever the task's own policy was: 2 of 100 ms for a busy one, beside
/// which nobody else wants the CPU.
#[test]
fn a_recorded_task_becomes_a_deadline_task() {
    let files = recorded();
    for file in ["run.dat", "run.workload"] {
        for whom in ["hog", "1001"] {
            let tasks = with(&files, file, &format!("{whom}=2ms/100ms")).expect("it runs");
            let hog = tasks.iter().find(|task| task.comm == "hog").expect("it is replayed");
            let deadline = hog.deadline.as_ref().expect("it is a deadline task");
            assert!(deadline.stat.throttles >= 9, "{file} {whom}: {deadline:?}");
        }
        let tasks = with(&files, file, "1000=200us/1ms").expect("it runs");
        let thread = tasks.iter().find(|task| task.comm == "cyclictest").expect("it is replayed");
        assert!(thread.deadline.is_some_and(|deadline| deadline.stat.jobs > 900), "{file}: a FIFO thread");
        let nobody = with(&files, file, "7=2ms/100ms").expect_err("nobody has this pid");
        assert!(nobody.contains("no task 7"), "{nobody}");
    }
}
