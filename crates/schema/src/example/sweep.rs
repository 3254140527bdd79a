//! A sweep with every field.

use crate::{Better, SweepAxis, SweepFigure, SweepMetric, SweepPoint, SweepResult, SweepSchema, Unit};

/// Two kernels and two sizes, of which one cannot be run.
pub fn sweep() -> SweepResult {
    let axis = |name: &str, values: [&str; 2]| SweepAxis {
        name: name.to_owned(),
        values: values.map(str::to_owned).into(),
    };
    let metric = |key: &str, label: &str, unit: Unit| SweepMetric {
        key: key.to_owned(),
        label: label.to_owned(),
        unit,
        better: Better::Lower,
    };
    let point = |values: [&str; 2], mean: f64| SweepPoint {
        values: values.map(str::to_owned).into(),
        runs: 3,
        failed: 0,
        error: None,
        figures: vec![
            SweepFigure { key: "cyclictest.p99".to_owned(), runs: 3, mean, min: 9_000, max: 41_000 },
            SweepFigure {
                key: "hackbench.time".to_owned(),
                runs: 3,
                mean: 7.3e7,
                min: 70_000_000,
                max: 80_000_000,
            },
        ],
    };
    let failed = SweepPoint {
        failed: 3,
        error: Some("kernel 2.6.36 has no setting `RT_PUSH_IPI`".to_owned()),
        figures: Vec::new(),
        ..point(["2.6.36", "8"], 0.0)
    };
    SweepResult {
        schema: SweepSchema,
        command: Some("schedlab sweep kernels.toml".to_owned()),
        version: "0.1.0".to_owned(),
        title: Some("Which kernel for which size".to_owned()),
        loads: vec!["cyclictest -t{threads} -p80".to_owned(), "hackbench -g1 -l100".to_owned()],
        axes: vec![axis("kernel", ["2.6.36", "6.1"]), axis("threads", ["1", "8"])],
        seeds: vec![1, 2, 3],
        runs: 12,
        failed: 3,
        metrics: vec![
            metric("cyclictest.p99", "cyclictest p99 of worst thread", Unit::Nanoseconds),
            metric("hackbench.time", "hackbench time", Unit::Nanoseconds),
        ],
        points: vec![
            point(["2.6.36", "1"], 17_100.5),
            failed,
            point(["6.1", "1"], 12_400.0),
            point(["6.1", "8"], 21_000.0),
        ],
        verdicts: Vec::new(),
    }
}
