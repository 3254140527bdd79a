//! Where the lines of two variants cross in a sweep.

use schema::reproduction::ReproducedExperiment;

/// What two variants show in a sweep, and from which value on the other one is lower.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing<'a> {
    /// The figure, which both have at several values of the sweep.
    pub what: &'a str,
    /// The variants, in the order of the experiment.
    pub between: [&'a str; 2],
    /// The value of the sweep where they cross for the last time, in proportion between two that were run;
    /// `None` where they do not.
    pub at: Option<f64>,
}

/// Every figure that exactly two variants have at two values of the sweep or more.
#[must_use]
pub fn crossings(experiment: &ReproducedExperiment) -> Vec<Crossing<'_>> {
    let mut whats: Vec<&str> = Vec::new();
    for row in experiment.variants.iter().flat_map(|variant| &variant.rows) {
        if !whats.contains(&row.what.as_str()) {
            whats.push(&row.what);
        }
    }
    whats.into_iter().filter_map(|what| crossing(experiment, what)).collect()
}

struct Gap {
    at: f64,
    between: f64,
}

fn crossing<'a>(experiment: &'a ReproducedExperiment, what: &'a str) -> Option<Crossing<'a>> {
    let lines = experiment.variants.iter().map(|variant| {
        let rows = variant.rows.iter().filter(|row| row.what == what);
        (variant.name.as_str(), rows.filter_map(|row| Some((row.at?, row.simulated))).collect::<Vec<_>>())
    });
    let lines: Vec<_> = lines.filter(|(_, line)| line.len() > 1).collect();
    let [(first, a), (second, b)] = lines.as_slice() else { return None };
    let common = a.iter().zip(b).filter(|(a, b)| a.0 == b.0);
    let gaps: Vec<Gap> = common.map(|(a, b)| Gap { at: a.0, between: a.1 - b.1 }).collect();
    let last = gaps.windows(2).rfind(|pair| pair[0].between * pair[1].between < 0.0);
    let at = last.map(|pair| {
        let share = pair[0].between / (pair[0].between - pair[1].between);
        pair[0].at + (pair[1].at - pair[0].at) * share
    });
    Some(Crossing { what, between: [first, second], at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example::reproduction as example;

    #[test]
    fn two_lines_cross_between_the_values_where_their_order_changes() {
        let experiment = example::swept();
        // 100 to 800 over 2 to 16 meets 300 after two sevenths of the way.
        let crossing = Crossing { what: "search cost", between: ["before", "after"], at: Some(6.0) };
        assert_eq!(crossings(&experiment), [crossing]);
    }

    #[test]
    fn lines_of_one_order_do_not_cross() {
        let mut experiment = example::swept();
        experiment.variants[1].rows = experiment.variants[0].rows.clone();
        assert_eq!(crossings(&experiment)[0].at, None);
    }

    #[test]
    fn figures_of_one_value_or_one_variant_are_no_lines() {
        let mut experiment = example::swept();
        experiment.variants[1].rows.truncate(1);
        assert_eq!(crossings(&experiment), []);
    }
}
