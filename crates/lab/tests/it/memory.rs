//! Loads that read from memory, from their words to the replay of their trace (machine.md 6.4).

use lab::schema::{ExperimentText, LoadResult, LoadText, MachineText};
use lab::{Experiment, Files, Programs, Run, TraceFormat};

/// A load on both CPUs of the machine of which it was measured what memory gives, for two seconds.
fn run(load: &str, files: &Files) -> Run {
    let text = ExperimentText {
        loads: vec![LoadText { load: load.to_owned(), file: None }],
        machine: MachineText { name: Some("nested".to_owned()), ..MachineText::default() },
        ..ExperimentText::default()
    };
    let experiment = Experiment { record: true, ..Experiment::open(&text, files).expect("sound") };
    experiment.run().expect("it runs")
}

/// What two hogs got done that read so much, in pieces of 1 ms.
fn cycles(reads: u32) -> u64 {
    let run = run(&format!("hog -n 2 --cycle 1ms -D 2 --reads {reads}"), &Files::new());
    let [LoadResult::Hog(hogs)] = &run.result.loads[..] else { panic!("a load") };
    hogs.threads.iter().map(|thread| thread.cycles).sum()
}

/// Recorded of two readers: 13.9 to 14.8 bytes in a nanosecond each, 25 to 26 alone.
#[test]
fn two_readers_get_done_what_was_measured() {
    let part = |reads| cycles(reads) as f64 / cycles(0) as f64;
    let both = part(25_500);
    assert!((13.9 / 26.0..14.8 / 25.0).contains(&both), "{both}");
    // Half as much is there for both.
    assert!((part(12_750) - 1.0).abs() < 0.001);
}

#[test]
fn a_trace_keeps_what_tasks_read() {
    let first = run("hog -n 2 -D 1 --reads 25500", &Files::new());
    let log = first.logged.expect("a log");
    for (name, format) in [("run.dat", TraceFormat::TraceDat), ("run.txt", TraceFormat::FtraceText)] {
        let mut bytes = Vec::new();
        log.write_trace(&mut bytes, format, Programs::Told).expect("memory takes it");
        let files = Files::from([(name.to_owned(), bytes)]);
        let again = run(name, &files).result;
        let used = |result: &lab::RunResult| {
            let hogs = result.tasks.iter().filter(|task| task.comm == "hog");
            hogs.map(|task| task.sum_exec_runtime_ns).collect::<Vec<_>>()
        };
        assert_eq!(used(&again), used(&first.result), "{name}");
    }
}
