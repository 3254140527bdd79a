//! A report with every field, for tests.

use crate::fit::{Fit, FitFigure, FitStep, FittedParameter, FittedPlace};
use crate::reproduction::*;
use crate::{ExperimentText, LoadText, ReproduceSchema};

/// Two variants of an experiment, with everything that a report can hold.
pub fn reproduction() -> Reproduction {
    Reproduction {
        schema: ReproduceSchema,
        command: Some("schedlab reproduce 009 --quick --sensitivity".to_owned()),
        version: "0.1.0".to_owned(),
        quick: true,
        experiments: vec![experiment()],
    }
}

/// The first variant of it with a figure at each value of the sweep, and a second variant that begins above
/// it.
pub fn swept() -> ReproducedExperiment {
    let mut experiment = experiment();
    let row = experiment.variants[0].rows[0].clone();
    let rows = |values: [f64; 3]| -> Vec<ReproducedRow> {
        let row = |(at, simulated): (f64, f64)| ReproducedRow {
            what: "search cost".to_owned(),
            cell: None,
            at: Some(at),
            at_name: None,
            simulated,
            published: (at == 2.0).then_some(150.0),
            ..row.clone()
        };
        [2.0, 16.0, 256.0].into_iter().zip(values).map(row).collect()
    };
    experiment.variants[0].rows = rows([100.0, 800.0, 12_800.0]);
    experiment.variants[1].rows = rows([300.0, 300.0, 400.0]);
    experiment
}

fn experiment() -> ReproducedExperiment {
    let requirement = ReproducedRequirement {
        what: "cells within 35 %".to_owned(),
        agree: 1,
        of: 2,
        share: 0.75,
        met: Some(false),
        unreached: Some("the machine is not known".to_owned()),
    };
    ReproducedExperiment {
        name: "009".to_owned(),
        title: "Tasks stay where they are".to_owned(),
        source: "seed 000; rt-class 13.1".to_owned(),
        about: "Two threads and a lock.".to_owned(),
        seeds: vec![1, 2],
        sweep: Some("cpus".to_owned()),
        variants: vec![before(), after()],
        requirements: vec![requirement.clone()],
        free: vec![FreeParameter {
            name: "context switch".to_owned(),
            value: "1000 ns".to_owned(),
            reason: "assumed".to_owned(),
        }],
        sensitivity: vec![Sensitivity {
            parameter: "context switch".to_owned(),
            factor: 2.0,
            rows: vec![SensitivityRow {
                variant: "after".to_owned(),
                what: "worst latency".to_owned(),
                at: Some(8.0),
                unchanged: 56.5,
                simulated: 99.0,
                agrees: Some(false),
            }],
            requirements: vec![requirement],
        }],
        quick_events: vec![7, 8],
        fit: Some(fit()),
    }
}

/// Of a parameter of the machine and one of the load.
fn fit() -> Fit {
    let place = |place: &str, in_file, fitted| FittedPlace { place: place.to_owned(), in_file, fitted };
    let parameter = |name: &str, values: [f64; 3], fitted, places| FittedParameter {
        name: name.to_owned(),
        why: "no document gives it".to_owned(),
        values: values.to_vec(),
        start: values[1],
        fitted,
        places,
    };
    let figure = |variant: &str, what: &str, at_start, [in_files, fitted]: [f64; 2]| FitFigure {
        variant: variant.to_owned(),
        what: what.to_owned(),
        at: None,
        published: 53.5,
        at_start,
        in_files,
        fitted,
        unit: RowUnit::Microseconds,
    };
    Fit {
        about: "Shorter runs than the document's, as each set of values takes one.".to_owned(),
        outcome: Some("The prediction is further off than before.".to_owned()),
        seeds: 2,
        simulated_ns: 1_000_000_000,
        parameters: vec![
            parameter("lines", [1.0, 4.0, 16.0], 4.0, vec![place("costs.line.same_node.ns", 840.0, 480.0)]),
            parameter("work", [50.0, 100.0, 200.0], 200.0, vec![place("{work}", 200.0, 200.0)]),
        ],
        figures: vec![figure("before", "t0 vol", Some(99.0), [60.0, 55.0])],
        predicted: vec![FitFigure {
            at: Some("8".to_owned()),
            ..figure("after", "worst latency", None, [56.5, 70.0])
        }],
        loss_at_start: 0.615_474_7,
        loss_in_files: 0.114_658_1,
        loss_fitted: 0.027_655_6,
        predicted_loss_in_files: Some(0.054_561_3),
        predicted_loss_fitted: Some(0.268_825_5),
        steps: vec![
            FitStep { values: vec![4.0, 100.0], loss: 0.615_474_7 },
            FitStep { values: vec![4.0, 200.0], loss: 0.027_655_6 },
        ],
        tried: 6,
    }
}

fn before() -> ReproducedVariant {
    let cell = |row: &str, column: &str, published: f64, simulated: f64| ReproducedRow {
        what: format!("{row} {column}"),
        cell: Some(Cell { row: row.to_owned(), column: column.to_owned() }),
        published: Some(published),
        agrees: Some(simulated < 1.35 * published),
        wanted: Some("within 35 %".to_owned()),
        group: Some("cells".to_owned()),
        unreached: None,
        ..figure("", RowUnit::Count, simulated)
    };
    ReproducedVariant {
        name: "before".to_owned(),
        role: Role::Fitted,
        loads: vec!["rt-migrate".to_owned()],
        settings: "machine=seed000 2.6.36".to_owned(),
        points: vec![ReproducedPoint {
            at: Some(2.0),
            at_name: Some("6.6".to_owned()),
            experiment: ExperimentText {
                loads: vec![LoadText { load: "rt-migrate".to_owned(), file: None }],
                kernel: Some("2.6.36".to_owned()),
                ..ExperimentText::default()
            },
        }],
        simulated_ns: 5_000_000_000,
        events: 1234,
        rows: vec![cell("t0", "vol", 53.0, 60.0), cell("t0", "migrated", 1470.0, 9999.0)],
    }
}

fn after() -> ReproducedVariant {
    let worst = ReproducedRow {
        at: Some(8.0),
        at_name: None,
        published: Some(84.6),
        ratio: Some(0.667_848_7),
        agrees: Some(true),
        wanted: Some("within 50 %".to_owned()),
        ..figure("worst latency", RowUnit::Microseconds, 56.5)
    };
    let known = ReproducedRow {
        agrees: Some(false),
        wanted: Some("at most 0.5".to_owned()),
        unreached: Some("nobody knows".to_owned()),
        decisions: vec!["preempt_vruntime".to_owned(), "preempt_deadline".to_owned()],
        ..figure("to that before", RowUnit::Ratio, 0.67)
    };
    let failing = ReproducedRow {
        agrees: Some(false),
        span: RowSpan::Interval,
        ..figure("waiters", RowUnit::Count, 12.0)
    };
    let named = |at, name: &str, simulated| ReproducedRow {
        at: Some(at),
        at_name: Some(name.to_owned()),
        ..figure("migrations", RowUnit::Count, simulated)
    };
    ReproducedVariant {
        name: "after".to_owned(),
        role: Role::Prediction,
        rows: vec![
            worst,
            known,
            failing,
            figure("time", RowUnit::Nanoseconds, 1500.0),
            named(1.0, "6.1", 90.0),
            named(2.0, "6.6", 80.0),
        ],
        ..before()
    }
}

fn figure(what: &str, unit: RowUnit, simulated: f64) -> ReproducedRow {
    ReproducedRow {
        what: what.to_owned(),
        cell: None,
        at: None,
        at_name: None,
        published: None,
        simulated,
        low: simulated - 0.5,
        high: simulated + 0.5,
        span: RowSpan::Seeds,
        unit,
        ratio: None,
        agrees: None,
        wanted: None,
        group: None,
        unreached: None,
        decisions: Vec::new(),
    }
}
