//! A check of a machine file with every field.

use crate::machine_check::{CheckedFigure, CheckedProgram, CheckedUnit, MachineCheck};
use crate::{CheckSchema, KernelChange};

fn figure(what: &str, unit: CheckedUnit, here: [u64; 3], simulated: u64) -> CheckedFigure {
    let [least, _, most] = here;
    CheckedFigure {
        what: what.to_owned(),
        unit,
        here: here.into(),
        simulated,
        at_least: least - least / 4,
        at_most: most + most / 4,
    }
}

fn program(name: &str, about: &str, figures: Vec<CheckedFigure>) -> CheckedProgram {
    CheckedProgram { name: name.to_owned(), about: about.to_owned(), told_ns: None, left_out: None, figures }
}

/// A program within its band, one that is not, one that was told of its work, and one that did not run.
#[must_use]
pub fn machine_check() -> MachineCheck {
    use CheckedUnit::{Ns, PerSecond, Ppm};
    let late = vec![
        figure("p50", Ns, [11_200, 11_900, 14_000], 12_600),
        figure("p90", Ns, [14_100, 15_700, 21_000], 9300),
    ];
    let gaps = vec![
        figure("a second", PerSecond, [251, 260, 302], 250),
        figure("lost", Ppm, [850, 900, 1310], 2210),
    ];
    let pipe = CheckedProgram {
        told_ns: Some(650),
        ..program(
            "pipe, one CPU",
            "two threads send a byte back and forth",
            vec![figure("p50", Ns, [2900, 2950, 3010], 2890)],
        )
    };
    let refused = CheckedProgram {
        left_out: Some("this process may not be real-time".to_owned()),
        ..program("PI hand-over, one CPU", "from the unlock to the other's having it", Vec::new())
    };
    MachineCheck {
        schema: CheckSchema,
        version: "0.1.0".to_owned(),
        command: Some("schedlab calibrate --check here.toml".to_owned()),
        machine: "here".to_owned(),
        cpus: 2,
        release: Some("6.18.5".to_owned()),
        kernel: "6.18.y".to_owned(),
        settings: vec![KernelChange { at_ns: 0, setting: "hz=250".to_owned() }],
        ticks_a_second: Some(250),
        repetitions: 3,
        seeds: vec![1, 2, 3],
        took_ms: 14_120,
        warnings: vec!["this computer has 2 CPUs, the machine of the file has 4".to_owned()],
        programs: vec![
            program("timers, idle CPU", "how late a SCHED_FIFO thread's sleeps end", late),
            pipe,
            refused,
            program("stalls", "gaps of a thread that watches the clock", gaps),
        ],
    }
}
