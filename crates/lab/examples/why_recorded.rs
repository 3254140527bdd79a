//! A recording on disk: who kept a task waiting there, and the same experiment written down as text.
//!
//! `cargo run -p schedlab-lab --features text,threads --example why_recorded -- demo/mix-rtover.dat f3`

use lab::report::text::{Rows, why};
use lab::schema::ExperimentText;
use lab::schema::why::WhyResult;
use lab::trace::WaitsMeant;
use lab::{Error, Experiment, Opened, RecordedQuestion, SourceKind, Sources, why_recorded};
use std::fs::{File, metadata};
use std::io;
use std::process::ExitCode;

/// The library opens no files: who programs against it says where they are.
struct Disk;

impl Sources for Disk {
    fn kind(&self, name: &str) -> Option<SourceKind> {
        let found = metadata(name).ok()?;
        Some(if found.is_file() { SourceKind::File } else { SourceKind::Other })
    }

    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        Ok(Opened::Seekable(Box::new(File::open(name)?)))
    }
}

/// The longest wait of a task, as it was.
fn longest_wait(recording: &str, task: &str) -> Result<WhyResult, Error> {
    let question = RecordedQuestion {
        tasks: task.parse().into_iter().collect(),
        waits: WaitsMeant::Wakeups,
        worst: 1,
        at: None,
        window: None,
        blame: false,
    };
    why_recorded(recording, &question, &Disk)
}

/// How many times the task is switched away from in a replay on two CPUs: an experiment as text, as a file or
/// another program may have it.
fn switches_in_replay(recording: &str, task: &str) -> Result<u64, Error> {
    let text = serde_json::json!({
        "loads": [{ "load": recording }],
        "machine": { "name": "laptop", "cpus": 2 },
    });
    let read = |source| Error::Experiment { path: "the text".to_owned(), source };
    let text = ExperimentText::from_json(&text.to_string()).map_err(read)?;
    let result = Experiment::open(&text, &Disk)?.run()?.result;
    let named = result.tasks.iter().filter(|one| one.comm == task);
    Ok(named.map(lab::schema::TaskResult::nr_switches).sum())
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(recording), Some(task)) = (words.next(), words.next()) else {
        eprintln!("give a recording and a task: demo/mix-rtover.dat f3");
        return ExitCode::FAILURE;
    };
    match longest_wait(&recording, &task).and_then(|told| Ok((told, switches_in_replay(&recording, &task)?)))
    {
        Ok((told, switches)) => {
            print!("{}", why(&told, Rows::Folded));
            println!("\n{task} is switched away from {switches} times in a replay");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Figures of the recording: `schedlab inspect demo/mix-rtover.dat`, and README.md.
#[test]
fn f3_waits_for_two_milliseconds() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/mix-rtover.dat");
    let told = longest_wait(demo, "f3").expect("it is a recording");
    assert_eq!(told.explanations[0].latency.0, 2_028_183);
    let switches = switches_in_replay(demo, "f3").expect("it runs");
    assert!((170..190).contains(&switches), "173 were recorded: {switches}");
    assert!(longest_wait(demo, "f33").is_err_and(|error| error.to_string().contains("did you mean 'f3'?")));
}
