use super::*;
use schema::Unit;
use schema::reproduction::{ReproducedExperiment, ReproducedRow, Role, RowSpan, RowUnit};

/// A run with one metric `m` and, for patterns, `x.1`, `x.2` …
fn run(m: u64, x: &[u64]) -> Figures {
    let figure = |value, unit| Figure::new(value, unit);
    let mut figures = Figures::from([("m".to_owned(), figure(m, Unit::Nanoseconds))]);
    for (index, value) in x.iter().enumerate() {
        figures.insert(format!("x.{index}"), figure(*value, Unit::Count));
    }
    figures
}

fn row(text: &str) -> RowSpec {
    serde_json::from_str(text).expect("a row")
}

fn variant(name: &str, rows: Vec<RowSpec>) -> VariantSpec {
    VariantSpec { name: name.to_owned(), role: Role::Prediction, rows }
}

fn runs(observed: Vec<(Option<f64>, Vec<Figures>)>) -> VariantRuns {
    let described =
        Described { loads: vec![], settings: String::new(), points: vec![], simulated_ns: 0, events: 0 };
    let place = |number| Place { number, name: None };
    let observed = observed.into_iter().map(|(at, runs)| Observed { at: at.map(place), runs }).collect();
    VariantRuns { described, observed }
}

fn spec(variants: Vec<VariantSpec>, requirements: Vec<RequirementSpec>) -> ExperimentSpec {
    ExperimentSpec { name: "test".to_owned(), variants, requirements, full_length: true }
}

/// The rows of a variant with these rows and runs, on its own.
fn judged(rows: Vec<RowSpec>, of: VariantRuns) -> Result<Vec<ReproducedRow>, JudgeError> {
    let mut judged = judge(&spec(vec![variant("v", rows)], vec![]), &[of])?;
    Ok(judged.variants.remove(0).rows)
}

#[test]
fn a_figure_agrees_when_its_mean_is_close_enough_in_either_way() {
    let of = || runs(vec![(None, vec![run(90, &[]), run(130, &[])])]);
    let agrees = |tolerance: &str| {
        let text = format!(r#"{{"what":"m","metric":"m","published":100,{tolerance}}}"#);
        let row = judged(vec![row(&text)], of()).expect("judged").remove(0);
        assert_eq!((row.simulated, row.low, row.high, row.ratio), (110.0, 90.0, 130.0, Some(1.1)));
        row.agrees
    };
    assert_eq!(agrees(r#""within_percent":10"#), Some(true));
    assert_eq!(agrees(r#""within_percent":9"#), Some(false));
    assert_eq!(agrees(r#""within_percent":9,"or_within":10"#), Some(true));
    assert_eq!(agrees(r#""within_percent":10,"at_most":109"#), Some(false));
    assert_eq!(agrees(r#""at_least":110,"at_most":110"#), Some(true));
    assert_eq!(agrees(r#""over_seeds":"mean""#), None);
}

#[test]
fn seeds_and_metrics_fold_as_the_row_says() {
    let of = || runs(vec![(None, vec![run(1000, &[5, 9, 7]), run(3000, &[1, 2, 3])])]);
    let simulated = |text: &str| {
        let row = judged(vec![row(text)], of()).expect("judged").remove(0);
        (row.simulated, row.unit)
    };
    assert_eq!(simulated(r#"{"what":"a","metric":"m","over_seeds":"max"}"#), (3000.0, RowUnit::Nanoseconds));
    assert_eq!(simulated(r#"{"what":"a","metric":"m","unit":"us"}"#), (2.0, RowUnit::Microseconds));
    assert_eq!(simulated(r#"{"what":"a","metric":"x.*","fold":"sum"}"#), (13.5, RowUnit::Count));
    let rise = r#"{"what":"a","metric":["x.0","x.1","x.2"],"fold":"steepest_rise","over_seeds":"max"}"#;
    assert_eq!(simulated(rise), (4.0, RowUnit::Count));
    let of_means = rise.replace(r#""over_seeds":"max""#, r#""of_means":true"#);
    assert_eq!(simulated(&of_means), (2.5, RowUnit::Count), "from 3 to 5.5, the means of 5, 1 and of 9, 2");
    assert_eq!(simulated(r#"{"what":"a","metric":"x.1","per":"x.2"}"#).1, RowUnit::Ratio);
}

#[test]
fn what_many_more_runs_would_show_is_extrapolated_from_twenty_on() {
    let text = r#"{"what":"m","metric":"m","largest_of_runs":1000,"over_seeds":"max","at_most":160}"#;
    let of = |seeds: u64| {
        // As evenly spread as a Gumbel distribution with location 100 and scale 10.
        let gumbel = |i: u64| 100.0 - 10.0 * (-((i as f64 + 0.5) / seeds as f64).ln()).ln();
        let all = (0..seeds).map(|i| run(gumbel(i).round() as u64, &[])).collect();
        judged(vec![row(text)], runs(vec![(None, all)])).expect("judged").remove(0)
    };
    let many = of(100);
    // Its median: 100 - 10 ln(ln 2 / 1000).
    assert!((many.simulated - 172.7).abs() < 8.0, "{many:?}");
    assert!(many.low < 172.7 && 172.7 < many.high, "{many:?}");
    assert_eq!(many.agrees, Some(false));
    let few = of(19);
    assert_eq!((few.simulated, few.agrees), (few.high, None), "the largest of them, not judged");
}

#[test]
fn a_ratio_of_variants_is_that_of_their_means() {
    let base = runs(vec![(None, vec![run(1, &[]), run(3, &[])])]);
    let after = runs(vec![(None, vec![run(4, &[]), run(4, &[])])]);
    let relative = row(r#"{"what":"m","metric":"m","relative_to":"base","at_most":2}"#);
    let spec = spec(vec![variant("base", vec![]), variant("after", vec![relative])], vec![]);
    let judged = judge(&spec, &[base, after]).expect("judged");
    let row = &judged.variants[1].rows[0];
    assert_eq!((row.simulated, row.unit, row.agrees), (2.0, RowUnit::Ratio, Some(true)));
    assert_eq!((row.low, row.high), (1.333_333_33, 4.0), "of the seeds one by one");
}

#[test]
fn a_sweep_has_a_row_for_each_value_and_may_be_relative_to_its_peak() {
    let of = || {
        runs(vec![
            (Some(1.0), vec![run(10, &[])]),
            (Some(2.0), vec![run(40, &[])]),
            (Some(4.0), vec![run(20, &[])]),
        ])
    };
    let text = r#"{"what":"m","metric":"m","of_peak":true,"published":[0.25,1.0,0.9],"within_percent":10}"#;
    let rows = judged(vec![row(text)], of()).expect("judged");
    let shown: Vec<_> = rows.iter().map(|row| (row.at, row.simulated, row.agrees)).collect();
    let expected =
        [(Some(1.0), 0.25, Some(true)), (Some(2.0), 1.0, Some(true)), (Some(4.0), 0.5, Some(false))];
    assert_eq!(shown, expected);
    let rows = judged(vec![row(r#"{"what":"m","metric":"m","at":2,"at_least":40}"#)], of()).expect("judged");
    assert_eq!((rows.len(), rows[0].agrees), (1, Some(true)));
    let of_first = row(r#"{"what":"m","metric":"m","of_value":1,"at":4,"at_least":2.5}"#);
    let rows = judged(vec![of_first], of()).expect("judged");
    assert_eq!((rows[0].simulated, rows[0].unit, rows[0].agrees), (2.0, RowUnit::Ratio, Some(false)));
    let of_none = row(r#"{"what":"m","metric":"m","of_value":3}"#);
    assert!(judged(vec![of_none], of()).expect_err("no such value").problem.starts_with("`of_value`"));
}

#[test]
fn the_figure_of_another_variant_may_be_taken_off_each_of_its_own_peak() {
    let swept = |low, high| runs(vec![(Some(1.0), vec![run(low, &[])]), (Some(2.0), vec![run(high, &[])])]);
    let less = row(r#"{"what":"m","metric":"m","of_peak":true,"less":"base","at":1,"at_least":0.1}"#);
    let spec = spec(vec![variant("base", vec![]), variant("after", vec![less])], vec![]);
    let judged = judge(&spec, &[swept(2, 10), swept(15, 20)]).expect("judged");
    let row = &judged.variants[1].rows[0];
    assert_eq!((row.simulated, row.agrees), (0.55, Some(true)));
}

#[test]
fn mistakes_in_rows_are_told() {
    let of = || runs(vec![(None, vec![run(1, &[1, 2])])]);
    let problem = |text: &str| judged(vec![row(text)], of()).expect_err("a mistake").to_string();
    let nothing = problem(r#"{"what":"a","metric":"x.9"}"#);
    assert!(nothing.contains("no metric `x.9`; did you mean `x."), "{nothing}");
    let far = problem(r#"{"what":"a","metric":"quicksilver"}"#);
    assert!(far.contains("no metric `quicksilver`; `compare --format json`"), "{far}");
    assert!(problem(r#"{"what":"a","metric":"x.*"}"#).contains("need a `fold`"));
    assert!(
        problem(r#"{"what":"a","metric":"m","relative_to":"b"}"#).contains("is no variant; there are: v")
    );
    assert!(problem(r#"{"what":"a","metric":"m","published":[1,2]}"#).contains("2 published figures for 1"));
    assert!(problem(r#"{"what":"a","metric":"m","at":3}"#).contains("no value of the sweep"));
    let zero =
        judged(vec![row(r#"{"what":"a","metric":"m","per":"x.0"}"#)], runs(vec![(None, vec![run(1, &[0])])]));
    assert!(zero.expect_err("a mistake").problem.contains("is 0"));
}

#[test]
fn a_table_becomes_a_row_for_each_cell_with_the_tolerance_of_its_column() {
    let table: TableSpec = serde_json::from_str(
        r#"{"metric":"{column}.{row}","rows":["0","1"],"columns":[{"name":"x"},{"name":"m","within_percent":4,"group":"fine"}],
            "published":[[5,6],[7,8]],"within_percent":35,"or_within":40,"group":"cells"}"#,
    )
    .expect("a table");
    let rows = table.expand().expect("as wide as its columns");
    let cell = |index: usize| {
        let row: &RowSpec = &rows[index];
        (row.metric.patterns()[0].as_str(), row.within_percent, row.or_within, row.group.as_deref())
    };
    assert_eq!(cell(0), ("x.0", Some(35.0), Some(40.0), Some("cells")));
    assert_eq!(cell(3), ("m.1", Some(4.0), None, Some("fine")));
    let narrow = TableSpec { published: vec![vec![1.0], vec![2.0]], ..table.clone() };
    assert!(narrow.expand().is_err());
    let short = TableSpec { published: vec![], ..table };
    assert!(short.expand().is_err());
}

#[test]
fn a_requirement_counts_its_group_and_single_rows_must_agree() {
    let cell = |published: u64| {
        row(&format!(r#"{{"what":"m","metric":"m","published":{published},"or_within":1,"group":"cells"}}"#))
    };
    let single = |known: &str| row(&format!(r#"{{"what":"m","metric":"m","at_most":1{known}}}"#));
    let requirement = |share| RequirementSpec {
        what: "most".to_owned(),
        group: "cells".to_owned(),
        variants: vec![],
        share,
        full_only: false,
        unreached: None,
    };
    let failures = |share, known: &str| {
        let rows = vec![cell(5), cell(6), cell(7), cell(100), single(known)];
        let of = runs(vec![(None, vec![run(6, &[])])]);
        let judged = judge(&spec(vec![variant("v", rows)], vec![requirement(share)]), &[of]).expect("judged");
        assert_eq!((judged.requirements[0].agree, judged.requirements[0].of), (3, 4));
        example(judged).failures().len()
    };
    assert_eq!(failures(0.75, r#","unreached":"because""#), 0);
    assert_eq!(failures(0.8, r#","unreached":"because""#), 1);
    assert_eq!(failures(0.75, ""), 1);
}

#[test]
fn what_needs_the_full_length_is_not_judged_in_short_runs() {
    let text = r#"{"what":"m","metric":"m","at_most":1,"full_only":true}"#;
    let of = || [runs(vec![(None, vec![run(6, &[])])])];
    let full = spec(vec![variant("v", vec![row(text)])], vec![]);
    let quick = ExperimentSpec { full_length: false, ..full.clone() };
    assert_eq!(judge(&full, &of()).expect("judged").variants[0].rows[0].agrees, Some(false));
    assert_eq!(judge(&quick, &of()).expect("judged").variants[0].rows[0].agrees, None);
}

/// A result around judged variants.
fn example(judged: Judged) -> ReproducedExperiment {
    ReproducedExperiment {
        name: "000".to_owned(),
        title: "Title".to_owned(),
        source: "seed".to_owned(),
        about: "About.".to_owned(),
        seeds: vec![1],
        sweep: None,
        variants: judged.variants,
        requirements: judged.requirements,
        free: vec![],
        sensitivity: vec![],
        quick_events: vec![],
        fit: None,
    }
}

/// A sweep over names: rows name them, and the report knows their numbers.
#[test]
fn a_sweep_may_go_over_names() {
    let observed = |number, name: &str, m| Observed {
        at: Some(Place { number, name: Some(name.to_owned()) }),
        runs: vec![run(m, &[])],
    };
    let mut kernels = runs(vec![]);
    kernels.observed = vec![observed(1.0, "6.1", 10), observed(2.0, "6.6", 25)];
    let row = row(r#"{"what":"m","metric":"m","of_value":"6.1","at":"6.6","at_least":2.5}"#);
    let found = judged(vec![row], kernels).expect("judged").remove(0);
    assert_eq!((found.at, found.at_name.as_deref(), found.simulated), (Some(2.0), Some("6.6"), 2.5));
    assert_eq!((found.agrees, found.place().as_deref()), (Some(true), Some("6.6")));
}

#[test]
fn an_interval_is_that_of_the_mean_over_the_seeds() {
    let ten = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
    let of = || runs(vec![(None, ten.iter().map(|hours| run((hours * 1e6) as u64, &[])).collect())]);
    let text = r#"{"what":"m","metric":"m","unit":"ms","interval":true}"#;
    let row = judged(vec![row(text)], of()).expect("judged").remove(0);
    // Student's sleep data: [1.06, 2.65] by another implementation.
    assert_eq!(row.span, RowSpan::Interval);
    assert!((row.low - 1.06).abs() < 0.05 && (row.high - 2.65).abs() < 0.15, "{} {}", row.low, row.high);
}

#[test]
fn of_one_seed_there_is_no_interval() {
    let text = r#"{"what":"m","metric":"m","interval":true}"#;
    let row = judged(vec![row(text)], runs(vec![(None, vec![run(7, &[])])])).expect("judged").remove(0);
    assert_eq!((row.span, row.low, row.high), (RowSpan::Seeds, 7.0, 7.0));
}

/// 100, 200, 400 and 100, 300, 500 at 8, 16 and 32 pass 250 at 16 + 16/4 and at 8 + 8 * 3/4.
#[test]
fn a_figure_passes_a_threshold_at_a_value_of_the_sweep() {
    let at = |place: f64, a: u64, b: u64| (Some(place), vec![run(a, &[]), run(b, &[])]);
    let of = || runs(vec![at(8.0, 100, 100), at(16.0, 200, 300), at(32.0, 400, 500)]);
    let place = |threshold: &str| {
        let text = format!(r#"{{"what":"m","metric":"m","passes":{threshold},"at_most":20}}"#);
        let mut rows = judged(vec![row(&text)], of()).expect("judged");
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    };
    let passed = place("250");
    assert_eq!((passed.simulated, passed.low, passed.high), (17.0, 14.0, 20.0));
    assert_eq!((passed.at, passed.unit, passed.agrees), (None, RowUnit::Count, Some(true)));
    assert_eq!([place("50").simulated, place("900").simulated], [8.0, 32.0]);
    let text = r#"{"what":"m","metric":"m","passes":5}"#;
    let error = judged(vec![row(text)], runs(vec![(None, vec![run(7, &[])])])).expect_err("no sweep");
    assert!(error.to_string().contains("needs a sweep"), "{error}");
}

#[test]
fn intervals_and_thresholds_beside_what_contradicts_them_are_refused() {
    for text in [
        r#"{"what":"m","metric":"m","interval":true,"over_seeds":"max"}"#,
        r#"{"what":"m","metric":"m","passes":5,"at":8}"#,
    ] {
        row(text).check().expect_err(text);
    }
}
