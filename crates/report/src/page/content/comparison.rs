//! What a page says of a comparison.

use super::{Content, Difference, Text, Unit, Variant, duration};
use crate::text::compare::{configuration, headlines, method, outcome, ranges, sentence};
use crate::text::{head, replay_words};
use schema::Better;
use schema::comparison::{Comparison, MetricComparison, VariantComparison, Verdict};

impl Content {
    /// Of a comparison.
    #[must_use]
    pub fn of_comparison(comparison: &Comparison) -> Content {
        let mut content = Content {
            title: format!("{}: {}", names(comparison), comparison.loads.join(" + ")),
            version: comparison.version.clone(),
            command: comparison.command.clone(),
            warnings: comparison.warnings.clone(),
            notes: comparison.notes.clone(),
            method: Some(in_one_line(&method(comparison))),
            ..Content::default()
        };
        for load in &comparison.loads {
            content.fact("load", load);
        }
        content.fact("base", configuration(&comparison.base));
        for variant in &comparison.variants {
            content.fact("with", configuration(&variant.configuration));
        }
        let (number, seeds) = (comparison.seeds.len(), ranges(&comparison.seeds));
        content.fact(if number == 1 { "seed" } else { "seeds" }, seeds);
        content.fact("simulated", duration(comparison.simulated_ns as f64));
        if let Some(window) = comparison.window {
            content.fact("window", head::stretch(window));
        }
        for variant in &comparison.variants {
            let name = &variant.configuration.name;
            let changed = || variant.metrics.iter().filter(|metric| metric.verdict == Verdict::Changed);
            let better = changed().filter(|metric| is_better(metric) == Some(true)).count();
            let worse = changed().filter(|metric| is_better(metric) == Some(false)).count();
            content.figure(format!("figures better with {name}"), better as f64, Unit::Count);
            content.figure(format!("worse with {name}"), worse as f64, Unit::Count);
            content.figure(format!("changed by {name}, of all"), changed().count() as f64, Unit::Count);
            content.figure("figures compared", variant.metrics.len() as f64, Unit::Count);
            content.variants.push(self::variant(comparison, variant));
        }
        for fidelity in &comparison.replay {
            let (title, text) = replay_words(fidelity, comparison.window);
            content.texts.push(Text { title, text });
        }
        content
    }
}

/// Whether a difference is one for the better; `None` where that depends.
fn is_better(metric: &MetricComparison) -> Option<bool> {
    match metric.metric.better {
        Better::Lower => Some(metric.difference < 0.0),
        Better::Higher => Some(metric.difference > 0.0),
        Better::Neutral => None,
    }
}

fn names(comparison: &Comparison) -> String {
    let names = comparison.variants.iter().map(|variant| variant.configuration.name.as_str());
    let all: Vec<&str> = std::iter::once(comparison.base.name.as_str()).chain(names).collect();
    all.join(" / ")
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn variant(comparison: &Comparison, variant: &VariantComparison) -> Variant {
    let name = &variant.configuration.name;
    let difference = |metric: &MetricComparison| Difference {
        metric: metric.clone(),
        doubtful: metric.is_within_replays_error(),
    };
    Variant {
        name: name.clone(),
        verdict: format!("{name} against {}: {}", comparison.base.name, outcome(comparison, variant)),
        sentences: headlines(variant).into_iter().map(|metric| sentence(metric, name)).collect(),
        differences: variant.metrics.iter().map(difference).collect(),
    }
}
