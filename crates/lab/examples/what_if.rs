//! A comparison: what does a feature change, over eight seeds, and how sure is that? Then the same of a
//! result that was stored: it is run again.
//!
//! `cargo run -p schedlab-lab --features text,threads --example what_if`

use lab::report::text::{Rows, comparison};
use lab::schema::comparison::Comparison;
use lab::{
    Arm, Change, Error, Experiment, Files, Groups, KernelConfig, LoadSpec, Nanos, Plan, StoredResult, compare,
};
use std::process::ExitCode;

/// Two timers beside four endless loops, with and without wakeup preemption.
fn asked() -> Result<Plan, Error> {
    // Loads and machines that are files would be looked up here, by their names.
    let files = Files::new();
    let machine = lab::machine("laptop", Some(2), &files)?;
    let loads = ["cyclictest -t2 -i1000 -n -D 1", "hog -n 4"];
    let loads: Vec<LoadSpec> =
        loads.iter().map(|load| LoadSpec::open(load, &files)).collect::<Result<_, _>>()?;
    let mut experiment = Experiment::new(machine.clone());
    experiment.duration = Some(Nanos::from_millis(200));
    let kernel = KernelConfig::of_name("6.18.y")?;
    let mut without = kernel.clone();
    without.set(Change::parse("NO_WAKEUP_PREEMPTION")?)?;
    let arm = |name: &str, kernel| Arm {
        name: name.to_owned(),
        machine: machine.clone(),
        kernel,
        groups: Groups::default(),
        loads: loads.clone(),
    };
    Ok(Plan {
        experiment,
        base: arm("as it is", kernel),
        variants: vec![arm("without preemption", without)],
        repeat: 8,
    })
}

fn answer() -> Result<Comparison, Error> {
    compare(&asked()?, &|| {})
}

/// A result says itself what ran, so that its JSON can be run again.
fn again() -> Result<bool, Error> {
    let plan = asked()?;
    let mut experiment = plan.experiment;
    experiment.loads = plan.base.loads;
    let result = experiment.run()?.result;
    let files = Files::from([("stored.json".to_owned(), result.to_json().into_bytes())]);
    let stored = StoredResult::open("stored.json", &files)?;
    let repeated = stored.map(|stored| stored.repeat(&files)?.run()).transpose()?;
    Ok(repeated.is_some_and(|run| run.result.tasks == result.tasks))
}

fn main() -> ExitCode {
    match answer().and_then(|answer| Ok((answer, again()?))) {
        Ok((answer, same)) => {
            print!("{}", comparison(&answer, Rows::Folded));
            println!("\na stored result, run again: {}", if same { "the same" } else { "another one" });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[test]
fn the_timers_wait_for_ticks_without_preemption() {
    let answer = answer().expect("it runs");
    let [variant] = answer.variants.as_slice() else { panic!("one variant") };
    let mean = variant.metrics.iter().find(|m| m.metric.key == "cyclictest.mean_latency").expect("it has it");
    assert!(mean.variant > 5.0 * mean.base, "{} to {} ns", mean.base, mean.variant);
    assert!(again().expect("it runs"));
}
