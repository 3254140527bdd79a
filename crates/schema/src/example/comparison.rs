//! A comparison and two recordings side by side, with every field.

use super::{replay, run};
use crate::comparison::{
    Comparison, Configuration, Interval, IntervalMethod, Method, MetricComparison, VariantComparison, Verdict,
};
use crate::recordings::{
    CommandOfBoth, CommandTotals, Figure, FigureDifference, RecordingHead, RecordingsComparison,
};
use crate::{Better, CompareSchema, InspectCompareSchema, Metric, Unit, Window};

fn method(interval: IntervalMethod) -> Method {
    Method { interval, confidence: 0.95, false_discovery_rate: 0.05 }
}

fn configuration(name: &str) -> Configuration {
    let run = run();
    let loads = run.loads.iter().map(|load| load.load().to_owned()).collect();
    Configuration {
        name: name.to_owned(),
        experiment: run.experiment,
        loads,
        machine: run.machine,
        kernel: run.kernel,
    }
}

/// A base and a variant that halves a latency.
pub fn comparison() -> Comparison {
    let metric = MetricComparison {
        metric: Metric {
            key: "replay.worst_latency".to_owned(),
            label: "replay worst latency".to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            resolution: 1,
            headline: true,
        },
        rank: 0,
        pairs: 2,
        base: 200.0,
        variant: 100.0,
        difference: -100.0,
        interval: Some(Interval { low: -110.0, high: -90.0 }),
        p_value: Some(0.001),
        times: Some(2.0),
        times_plus_minus: Some(0.1),
        verdict: Verdict::Changed,
        replay_error: Some(0.25),
        poor: true,
        of_command: true,
    };
    Comparison {
        schema: CompareSchema,
        command: Some("schedlab compare make10.dat --with NO_RT_PUSH_IPI".to_owned()),
        version: "0.1.0".to_owned(),
        loads: vec!["make10.dat".to_owned()],
        simulated_ns: 10_000_000_000,
        window: Some(Window { from_ns: 0, to_ns: 1_000_000_000 }),
        seeds: vec![1, 2],
        method: method(IntervalMethod::StudentT),
        base: configuration("base"),
        variants: vec![VariantComparison {
            configuration: configuration("NO_RT_PUSH_IPI"),
            exact: false,
            same_as_base: true,
            metrics: vec![metric],
            only_in_base: vec!["make.time".to_owned()],
            only_in_variant: Vec::new(),
        }],
        replay: vec![replay()],
        warnings: vec!["Linux 6.8 runs as 6.1".to_owned()],
        notes: vec!["NO_RT_PUSH_IPI: make -j10: had not finished".to_owned()],
    }
}

/// Two recordings, the second with longer waits.
pub fn recordings() -> RecordingsComparison {
    let head = |trace: &str| RecordingHead {
        version: "0.1.0".to_owned(),
        trace: trace.to_owned(),
        format: "trace.dat".to_owned(),
        kernel: Some("6.1.0".to_owned()),
        duration_ns: 1_000_000_000,
        cpus: 2,
        tasks: 12,
        latency_max_ns: 3_020,
        lost: 0,
    };
    let totals = CommandTotals {
        tasks: 2,
        cpu_time_ns: 500_000_000,
        cpu_share: 0.5,
        latencies: 40,
        latency_max_ns: 3_020,
    };
    RecordingsComparison {
        schema: InspectCompareSchema,
        command: Some("schedlab inspect a.dat b.dat".to_owned()),
        version: "0.1.0".to_owned(),
        first: head("a.dat"),
        second: head("b.dat"),
        windows: 20,
        method: method(IntervalMethod::BcaBootstrap),
        commands: vec![CommandOfBoth {
            comm: "cc1".to_owned(),
            of_command: true,
            first: totals,
            second: totals,
        }],
        figures: vec![FigureDifference {
            comm: Some("cc1".to_owned()),
            figure: Figure::LatencyMean,
            first: 1_000.0,
            second: 3_000.0,
            difference: 2_000.0,
            interval: Some(Interval { low: 1_900.0, high: 2_100.0 }),
            p_value: Some(0.001),
            verdict: Verdict::Changed,
            step: 1.0,
        }],
        only_in_first: vec!["make".to_owned()],
        only_in_second: Vec::new(),
        notes: vec!["a.dat: data loss".to_owned()],
    }
}
