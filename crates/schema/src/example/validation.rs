//! A validation with every field, for tests.

use std::collections::BTreeMap;

use crate::ValidateSchema;
use crate::validation::*;

/// Two references, of which one does not reach what is wanted.
pub fn validation() -> Validation {
    Validation {
        schema: ValidateSchema,
        command: Some("schedlab validate".to_owned()),
        version: "0.1.0".to_owned(),
        references: vec![forward(), replay()],
        bounds: vec![
            ValidatedBound {
                what: "native real-time: switches".to_owned(),
                question: "Switches of a replay".to_owned(),
                within: "15 %".to_owned(),
                wanted: 0.85,
                reached: 3,
                of: 4,
                median_off: Some(0.02),
                met: Some(false),
                unreached: Some("nobody knows the fourth".to_owned()),
            },
            ValidatedBound {
                what: "I/O: the end".to_owned(),
                question: "When it ends".to_owned(),
                within: "10 %".to_owned(),
                wanted: 1.0,
                reached: 0,
                of: 0,
                median_off: None,
                met: None,
                unreached: None,
            },
        ],
    }
}

/// A figure of a replay that counts with others.
pub fn figure() -> ValidatedFigure {
    ValidatedFigure {
        what: "switches".to_owned(),
        task: Some("rr1:8039".to_owned()),
        realtime: true,
        claim: Claim::Inference,
        unit: String::new(),
        recorded: Some(65.0),
        recorded_low: None,
        recorded_high: None,
        simulated: 66.0,
        low: 66.0,
        high: 66.0,
        off: Some(0.0154),
        band: None,
        within: None,
        family: None,
        source: Some("mix-rr.reference.json".to_owned()),
        unreached: None,
    }
}

fn forward() -> ValidatedReference {
    ValidatedReference {
        name: "5-hogs".to_owned(),
        about: Some("Five endless fair tasks on two CPUs.".to_owned()),
        runs: vec![ValidatedRun {
            name: "2 CPUs".to_owned(),
            mode: ValidationMode::Forward,
            inferred: Some("a daemon, as often as it was seen".to_owned()),
            class: "guest".to_owned(),
            cpus: 2,
            loads: vec!["hog -n 5".to_owned()],
            settings: "6.1.y machine=vm2 hz=250".to_owned(),
            seeds: vec![1, 2, 3],
            events: 123_456,
            figures: vec![ValidatedFigure {
                what: "median gap".to_owned(),
                task: None,
                realtime: false,
                claim: Claim::Inference,
                unit: "ms".to_owned(),
                recorded: Some(64.0),
                recorded_low: Some(60.0),
                recorded_high: Some(68.0),
                simulated: 80.0,
                low: 76.0,
                high: 84.0,
                off: Some(0.25),
                band: Some("56 to 68".to_owned()),
                within: Some(false),
                family: Some("balancing".to_owned()),
                source: Some("fair-placement 7.3".to_owned()),
                unreached: Some("the emulation has late ticks".to_owned()),
            }],
            distributions: vec![ValidatedDistribution {
                what: "latency".to_owned(),
                recorded: Durations::from(vec![
                    DurationQuantile { share: 0.5, ns: 4_000 },
                    DurationQuantile { share: 0.99, ns: 90_000 },
                ]),
                simulated: Durations::from(vec![
                    DurationQuantile { share: 0.5, ns: 5_000 },
                    DurationQuantile { share: 0.99, ns: 60_000 },
                ]),
            }],
        }],
    }
}

fn replay() -> ValidatedReference {
    ValidatedReference {
        name: "mix-rr".to_owned(),
        about: None,
        runs: vec![ValidatedRun {
            name: "mix-rr.dat".to_owned(),
            mode: ValidationMode::Replay,
            inferred: None,
            class: "native".to_owned(),
            cpus: 2,
            loads: vec!["mix-rr.dat".to_owned()],
            settings: "machine=vm2".to_owned(),
            seeds: vec![1],
            events: 4_321,
            figures: vec![figure()],
            distributions: vec![ValidatedDistribution {
                what: "wakeup latency".to_owned(),
                recorded: BTreeMap::from([(4_000, 30), (4_096, 8), (2_000_000, 2)]).into(),
                simulated: BTreeMap::from([(3_000, 10), (4_096, 29), (1_000_000, 1)]).into(),
            }],
        }],
    }
}
