//! A program of one's own beside a standard load: a control loop that works for 300 µs of every millisecond,
//! on a CPU with an endless loop, under two kernels.
//!
//! `cargo run -p schedlab-lab --example own_program`

use lab::schema::LoadResult;
use lab::workload::load::{Length, OwnProgram};
use lab::workload::program::Block;
use lab::{Error, Experiment, Files, KernelConfig, LoadSpec, Nanos};
use std::process::ExitCode;

/// Rounds of the control loop in a second under this kernel.
fn rounds(kernel: &str) -> Result<u64, Error> {
    let files = Files::new();
    let mut experiment = Experiment::new(lab::machine("laptop", Some(1), &files)?);
    experiment.kernel = KernelConfig::of_name(kernel)?;
    experiment.duration = Some(Nanos::from_secs(1));
    let cycle = || Block::new().run(Nanos::from_micros(300)).sleep(Nanos::from_micros(700));
    experiment.loads.push(LoadSpec::new("control", OwnProgram::new("control", Length::Endless, cycle)));
    experiment.loads.push(LoadSpec::open("hog", &files)?);
    let result = experiment.run()?.result;
    let rounds = |load: &LoadResult| match load {
        LoadResult::Own(own) => own.value("cycles"),
        _ => None,
    };
    Ok(result.loads.iter().find_map(rounds).unwrap_or_default())
}

fn main() -> ExitCode {
    for kernel in ["2.6.23", "6.1"] {
        match rounds(kernel) {
            Ok(rounds) => println!("{kernel:>8}: {rounds} rounds in a second"),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[test]
fn the_loop_keeps_going_beside_the_hog_and_never_gets_ahead_of_its_sleeps() {
    for kernel in ["2.6.23", "6.1"] {
        let rounds = rounds(kernel).expect("it runs");
        // A round takes at least a millisecond, and half of the CPU is more than it asks for.
        assert!((500..=1_000).contains(&rounds), "{kernel}: {rounds}");
    }
}
