//! Recorded distributions with the simulated ones over them.

use super::Plot;
use super::distributions::{Charts, Curve, Words};
use schema::validation::{Durations, ValidatedDistribution, ValidatedRun, Validation};

/// A picture of each distribution that is not empty, named by reference, run and what it is.
#[must_use]
pub fn validated(validation: &Validation) -> Vec<Plot> {
    let of_run = |name: &str, run: &ValidatedRun| {
        let pictures = run.distributions.iter().filter_map(|one| picture(name, run, one));
        pictures.collect::<Vec<Plot>>()
    };
    let references = validation.references.iter();
    references.flat_map(|all| all.runs.iter().flat_map(|run| of_run(&all.name, run))).collect()
}

fn picture(reference: &str, run: &ValidatedRun, distribution: &ValidatedDistribution) -> Option<Plot> {
    let ValidatedDistribution { what, recorded, simulated } = distribution;
    let simulated_by = match run.seeds.len() {
        1 => "simulated".to_owned(),
        seeds => format!("simulated, {seeds} seeds"),
    };
    let curves = [curve("recorded".to_owned(), recorded), curve(simulated_by, simulated)];
    // The only run of a reference often has its name.
    let is_named = reference.rsplit('/').next() == Some(run.name.as_str());
    let of_run = if is_named { reference.to_owned() } else { format!("{reference}, {}", run.name) };
    let (often, longer) = (format!("{of_run}: {what}"), "Which share is as long or longer".to_owned());
    // Of two charts, the upper one has the name.
    let has_counts = [recorded, simulated].iter().any(|side| !side.counts.is_empty());
    let longer = if has_counts { longer } else { format!("{often}: which share is as long or longer") };
    let words = Words { often: &often, longer: &longer, length: what, of: "of all", none: "none" };
    let svg = Charts::of(&curves, words)?.svg();
    let run = Some(run.name.as_str()).filter(|_| !is_named);
    let names = [Some(reference), run, Some(what)].into_iter().flatten();
    Some(Plot { name: names.map(file_name).collect::<Vec<_>>().join("."), svg })
}

/// Fit for the name of a file.
fn file_name(words: &str) -> String {
    let words = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn curve(name: String, durations: &Durations) -> Curve {
    if durations.quantiles.is_empty() {
        return Curve::of_counts(name, durations.counts.clone());
    }
    let longer = durations.quantiles.iter().map(|quantile| (quantile.ns, 100.0 * (1.0 - quantile.share)));
    // Nothing is longer than all: that has no place on a logarithmic axis.
    Curve::of_longer(name, longer.filter(|(_, share)| *share > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example::validation::validation;

    #[test]
    fn each_distribution_is_a_picture_of_both_sides() {
        let mut validation = validation();
        let plots = validated(&validation);
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names, ["5-hogs.2-CPUs.latency", "mix-rr.mix-rr.dat.wakeup-latency"]);
        for text in
            ["5-hogs, 2 CPUs: latency", "recorded, at most 90.0 µs", "simulated, 3 seeds, at most 60.0 µs"]
        {
            assert!(plots[0].svg.contains(text), "{text}");
        }
        // Two quantiles on either side.
        assert_eq!(plots[0].svg.matches("<circle").count(), 4);
        for text in
            ["mix-rr, mix-rr.dat: wakeup latency", "recorded, at most 2.00 ms", "simulated, at most 1.00 ms"]
        {
            assert!(plots[1].svg.contains(text), "{text}");
        }
        assert_eq!(plots[1].svg.matches("<circle").count(), 0, "what is counted is a line");
        validation.references[0].name = "here/5-hogs".to_owned();
        validation.references[0].runs[0].name = "5-hogs".to_owned();
        assert_eq!(validated(&validation)[0].name, "here-5-hogs.latency", "the same name stands once");
    }

    #[test]
    fn a_run_without_distributions_has_no_picture() {
        let mut validation = validation();
        for run in validation.references.iter_mut().flat_map(|reference| &mut reference.runs) {
            run.distributions.clear();
        }
        assert_eq!(validated(&validation), []);
    }
}
