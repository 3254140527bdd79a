//! A tuning with every field.

use super::comparison;
use crate::comparison::Interval;
use crate::{
    Better, Metric, TuneConstraint, TuneDirection, TuneEffect, TuneFigure, TuneGoal, TuneHeld, TuneKnob,
    TuneResult, TuneRound, TuneSchema, TuneState, TuneStep, TuneTrial, TuneVerdict, Unit,
};

fn metric(key: &str, label: &str) -> Metric {
    Metric {
        key: key.to_owned(),
        label: label.to_owned(),
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        resolution: 1,
        headline: true,
    }
}

fn figure(base: f64, with: f64) -> TuneFigure {
    let difference = with - base;
    let half = difference.abs() / 4.0;
    let interval = Interval { low: difference - half, high: difference + half };
    TuneFigure { base, with, difference, interval: Some(interval) }
}

fn trial(settings: &[&str], with: f64, effect: TuneEffect) -> TuneTrial {
    TuneTrial {
        settings: settings.iter().map(|word| (*word).to_owned()).collect(),
        seeds: vec![1, 2, 3],
        goal: Some(figure(600_000.0, with)),
        p_value: Some(0.001),
        effect,
        constraints: vec![TuneHeld { figure: figure(7.3e7, 7.4e7), bound: 7.665e7, state: TuneState::Met }],
        error: None,
    }
}

/// Three knobs: one helps, one does nothing, one cannot be run.
pub fn tuning() -> TuneResult {
    let chosen = trial(&["base_slice_ns=400000"], 420_000.0, TuneEffect::Helps);
    let inert = TuneTrial {
        constraints: Vec::new(),
        goal: None,
        p_value: None,
        ..trial(&["NO_TTWU_QUEUE"], 0.0, TuneEffect::Inert)
    };
    let failed = TuneTrial {
        effect: TuneEffect::Failed,
        error: Some("`LAST_BUDDY` is not in 6.18.y".to_owned()),
        ..TuneTrial { settings: vec!["LAST_BUDDY".to_owned()], ..inert.clone() }
    };
    let knob = |name: &str, value: &str| TuneKnob { name: name.to_owned(), values: vec![value.to_owned()] };
    TuneResult {
        schema: TuneSchema,
        command: Some("schedlab tune 'cyclictest -t2' hackbench --minimize 'p99(cyclictest)'".to_owned()),
        version: "0.1.0".to_owned(),
        base: comparison().base,
        goal: TuneGoal {
            text: "p99(cyclictest)".to_owned(),
            direction: TuneDirection::Minimize,
            metric: metric("cyclictest.p99_latency", "cyclictest p99 of worst thread"),
        },
        constraints: vec![TuneConstraint {
            text: "hackbench time < 1.05 x base".to_owned(),
            metric: metric("hackbench.time", "hackbench time"),
        }],
        knobs: vec![
            knob("base_slice_ns", "base_slice_ns=400000"),
            knob("TTWU_QUEUE", "NO_TTWU_QUEUE"),
            knob("LAST_BUDDY", "LAST_BUDDY"),
        ],
        runs: 37,
        screen: vec![chosen.clone(), inert, failed],
        rounds: vec![TuneRound { seeds: 3, trials: vec![chosen.clone()] }],
        verdict: TuneVerdict::Found,
        chosen: chosen.settings.clone(),
        confirmed: Some(TuneTrial { seeds: vec![13, 14, 15], ..chosen }),
        comparison: Some(comparison()),
        how_to: vec![TuneStep {
            setting: "base_slice_ns=400000".to_owned(),
            commands: vec!["echo 400000 > /sys/kernel/debug/sched/base_slice_ns".to_owned()],
            note: Some("lost at the next boot".to_owned()),
        }],
        trust: vec!["What would change with another setting? Typically 14.4 % off: mostly.".to_owned()],
        notes: vec!["2 CPUs are those of the machine's description".to_owned()],
    }
}
