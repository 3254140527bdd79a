use super::*;
use schema::comparison::{MetricComparison, Verdict};
use schema::{LoadResult, RunResult, example};

/// Runs with seeds 1 to `seeds` in which `edit` has set the figures.
fn runs(seeds: u64, edit: impl Fn(&mut RunResult, u64)) -> Vec<RunResult> {
    (1..=seeds)
        .map(|seed| {
            let mut run = example::run();
            run.engine.seed = seed;
            run.loads.truncate(1);
            edit(&mut run, seed);
            run
        })
        .collect()
}

fn set_worst_latency(run: &mut RunResult, ns: u64) {
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    if let Some(latency) = &mut result.threads[0].latency_ns {
        latency.max = ns;
    }
}

/// Noise that is the same for the same seed, -50 to 50.
fn noise(seed: u64, stream: u64) -> i64 {
    let mut random = crate::stats::SplitMix64::new(seed * 1_000 + stream);
    random.next_index(101) as i64 - 50
}

fn against(base: &[RunResult], variant: &[RunResult]) -> Comparison {
    let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
    compare(&arm("base", base), &[arm("NO_RT_PUSH_IPI", variant)]).expect("runs that can be paired")
}

fn metric<'a>(comparison: &'a Comparison, key: &str) -> &'a MetricComparison {
    let metrics = &comparison.variants[0].metrics;
    metrics.iter().find(|metric| metric.metric.key == key).expect("a figure of every run")
}

#[test]
fn pairing_by_seed_finds_a_change_far_smaller_than_the_noise() {
    // Seeds differ by thousands, the change is 100: only the paired difference shows it.
    for seeds in [5, 12] {
        let base = runs(seeds, |run, seed| run.totals.migrations = 10_000 * seed);
        let shifted = |run: &mut RunResult, seed: u64| {
            run.totals.migrations = (10_000 * seed + 100).saturating_add_signed(noise(seed, 1) / 10);
        };
        let comparison = against(&base, &runs(seeds, shifted));
        let found = metric(&comparison, "totals.migrations");
        assert_eq!(found.verdict, Verdict::Changed, "{found:?}");
        assert!(found.interval.expect("several seeds").contains(100.0), "{found:?}");
        assert_eq!(comparison.variants[0].count(Verdict::Changed), 1);
    }
}

#[test]
fn noise_alone_is_not_a_change() {
    for seeds in [2, 3, 5, 8, 20] {
        let noisy = |arm: u64| {
            runs(seeds, |run, seed| {
                run.totals.migrations = 1_000u64.saturating_add_signed(noise(seed, arm));
                run.totals.wakeups = 1_000u64.saturating_add_signed(noise(seed, arm + 1));
                run.totals.context_switches = 1_000u64.saturating_add_signed(noise(seed, arm + 2));
            })
        };
        let comparison = against(&noisy(10), &noisy(20));
        assert_eq!(comparison.variants[0].count(Verdict::Changed), 0, "{seeds} seeds");
        assert_eq!(comparison.variants[0].count(Verdict::NotSignificant), 3, "{seeds} seeds");
    }
}

#[test]
fn order_of_runs_does_not_matter() {
    let base = runs(5, |run, seed| run.totals.migrations = 100 * seed);
    let mut variant = runs(5, |run, seed| run.totals.migrations = 100 * seed + 7);
    let straight = against(&base, &variant);
    variant.reverse();
    assert_eq!(against(&base, &variant), straight);
    assert_eq!(straight.seeds, [1, 2, 3, 4, 5]);
}

#[test]
fn a_load_without_randomness_gives_exact_differences() {
    let base = runs(3, |_, _| ());
    let variant = runs(3, |run, _| run.totals.migrations += 1);
    let comparison = against(&base, &variant);
    assert!(comparison.variants[0].exact);
    let found = metric(&comparison, "totals.migrations");
    assert_eq!((found.verdict, found.difference), (Verdict::Changed, 1.0));
    assert_eq!((found.interval, found.p_value, found.times_plus_minus), (None, None, None));
    assert_eq!(metric(&comparison, "totals.wakeups").verdict, Verdict::Identical);
}

#[test]
fn a_difference_without_spread_has_no_interval() {
    // Wakeups depend on the seed, so the comparison is not exact; migrations do not, or differ by the same.
    let base = runs(8, |run, seed| (run.totals.wakeups, run.totals.migrations) = (100 + seed, 1_000 * seed));
    let variant =
        runs(8, |run, seed| (run.totals.wakeups, run.totals.migrations) = (100 + 2 * seed, 1_000 * seed + 7));
    let comparison = against(&base, &variant);
    assert!(!comparison.variants[0].exact);
    let found = metric(&comparison, "totals.migrations");
    assert_eq!((found.verdict, found.difference, found.interval), (Verdict::Changed, 7.0, None));
    assert!(metric(&comparison, "totals.wakeups").interval.is_some());
    assert_eq!(metric(&comparison, "totals.pulls").interval, None, "no difference at all");
    assert!(!comparison.to_json().contains("null"));
}

/// Of n differences all have one sign by chance in two of 2^n cases: 6 % for five.
#[test]
fn a_few_equal_differences_may_be_chance() {
    for (seeds, verdict) in
        [(2, Verdict::NotSignificant), (5, Verdict::NotSignificant), (6, Verdict::Changed)]
    {
        let base = runs(seeds, |run, seed| (run.totals.wakeups, run.totals.pulls) = (100 + seed, 5));
        let variant = runs(seeds, |run, seed| (run.totals.wakeups, run.totals.pulls) = (100 + seed, 9));
        let comparison = against(&base, &variant);
        assert!(!comparison.variants[0].exact);
        assert_eq!(metric(&comparison, "totals.pulls").verdict, verdict, "{seeds} seeds");
    }
}

#[test]
fn one_seed_gives_differences_but_no_verdict() {
    let comparison = against(&runs(1, |_, _| ()), &runs(1, |run, _| run.totals.pulls = 400));
    let variant = &comparison.variants[0];
    assert!(!variant.exact);
    assert_eq!((variant.count(Verdict::Untested), variant.count(Verdict::Changed)), (1, 0));
    let first = &variant.metrics[0];
    assert_eq!((first.metric.key.as_str(), first.difference, first.interval), ("totals.pulls", 396.0, None));
}

#[test]
fn the_largest_relative_change_comes_first_and_the_unchanged_keep_their_order() {
    let variant = runs(4, |run, _| {
        run.totals.wakeups *= 2;
        run.totals.context_switches *= 3;
        run.totals.pushes = 0;
    });
    let comparison = against(&runs(4, |_, _| ()), &variant);
    let metrics = &comparison.variants[0].metrics;
    let first: Vec<&str> = metrics.iter().take(3).map(|metric| metric.metric.key.as_str()).collect();
    assert_eq!(first, ["totals.pushes", "totals.context_switches", "totals.wakeups"]);
    assert!(metrics[3..].is_sorted_by_key(|metric| metric.rank));
}

#[test]
fn a_single_false_alarm_among_many_figures_is_taken_back() {
    // Student's t of these five alone is 3.9, p = 0.018; but forty other figures were looked at as well.
    let differences = [10, 30, 20, 5, 25];
    let variant = runs(5, |run, seed| run.totals.migrations += differences[seed as usize - 1]);
    let comparison = against(&runs(5, |_, _| ()), &variant);
    let found = metric(&comparison, "totals.migrations");
    assert!(!found.interval.expect("several seeds").contains(0.0), "{found:?}");
    assert!((found.p_value.expect("several seeds") - 0.018).abs() < 0.001, "{found:?}");
    assert_eq!(found.verdict, Verdict::NotSignificant);
}

#[test]
fn a_figure_that_a_run_lacks_is_compared_where_both_have_it() {
    let base = runs(4, |run, _| run.loads = vec![example::run().loads[3].clone()]);
    let variant = runs(4, |run, seed| {
        run.loads = vec![example::run().loads[3].clone()];
        if let (LoadResult::Make(make), 1) = (&mut run.loads[0], seed) {
            make.seconds = None;
        }
        run.tasks.retain(|task| task.comm != "periodic");
    });
    let comparison = against(&base, &variant);
    assert_eq!(metric(&comparison, "make.time").pairs, 3);
    let only_in_base = &comparison.variants[0].only_in_base;
    assert!(only_in_base.contains(&"tasks.periodic.wait".to_owned()), "{only_in_base:?}");
    assert!(comparison.variants[0].only_in_variant.is_empty());
}

#[test]
fn every_variant_is_judged_on_its_own() {
    let base = runs(5, |_, _| ());
    let (same, other) = (runs(5, |_, _| ()), runs(5, |run, _| run.totals.pulls += 99));
    let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
    let both = compare(&arm("base", &base), &[arm("same", &same), arm("other", &other)]).expect("pairs");
    let alone = compare(&arm("base", &base), &[arm("other", &other)]).expect("pairs");
    assert_eq!(both.variants[0].count(Verdict::Changed), 0);
    assert_eq!(both.variants[1], alone.variants[0]);
}

#[test]
fn a_comparison_survives_the_round_trip_through_json() {
    let base = runs(9, |run, seed| set_worst_latency(run, 400_000 + seed * 997));
    let variant = runs(9, |run, seed| set_worst_latency(run, 130_000 + seed * seed * 331));
    let comparison = against(&base, &variant);
    let text = comparison.to_json();
    assert_eq!(serde_json::from_str::<Comparison>(&text).expect("own output is readable"), comparison);
    let other = text.replacen("schedlab-compare/1", "schedlab/1", 1);
    assert!(serde_json::from_str::<Comparison>(&other).is_err());
}

#[test]
fn runs_that_cannot_be_paired_are_refused() {
    let three = runs(3, |_, _| ());
    let two = runs(2, |_, _| ());
    let twice = [two.clone(), two.clone()].concat();
    let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
    let check = |base: &Arm<'_>, variants: &[Arm<'_>], message: &str| {
        assert_eq!(compare(base, variants).expect_err("must be refused").to_string(), message);
    };
    check(&arm("a", &two), &[], "there is no configuration to compare \"a\" with; give at least one");
    check(
        &arm("a", &two),
        &[arm("b", &[])],
        "\"b\" has no runs; every configuration needs one for each seed",
    );
    check(&arm("a", &twice), &[arm("b", &two)], "\"a\" has two runs with seed 1; give each seed once");
    let missing = "\"b\" has no run with seed 3, \"a\" has one; run every configuration with the same seeds";
    check(&arm("a", &three), &[arm("b", &two)], missing);
    check(&arm("b", &two), &[arm("a", &three)], missing);
}

/// A cause of lateness that a run lacks took no time there, whichever of the two runs it is.
#[test]
fn a_cause_that_a_run_lacks_counts_as_nothing() {
    let late_by = |due_to: &str, total_ns| schema::why::LateBy {
        victim: "cyclictest".to_owned(),
        due_to: due_to.to_owned(),
        times: 1,
        total_ns,
        wakeups: 1,
    };
    let base = runs(6, |run, seed| {
        run.late_by = vec![late_by("hog runs (fair)", 1_000 + seed)];
        run.late_by.extend((seed == 3).then(|| late_by("switch", 600)));
    });
    let variant = runs(6, |run, seed| {
        run.late_by = if seed == 6 { Vec::new() } else { vec![late_by("wakeup path", 50)] };
    });
    let comparison = against(&base, &variant);
    let of = |cause: &str| {
        let found = metric(&comparison, &format!("late_by.cyclictest.{cause}"));
        (found.pairs, found.base, found.variant)
    };
    assert_eq!(of("hog runs (fair)"), (6, 1_003.5, 0.0));
    assert_eq!(of("switch"), (6, 100.0, 0.0));
    let (pairs, base, variant) = of("wakeup path");
    assert_eq!((pairs, base), (6, 0.0));
    assert!((variant - 250.0 / 6.0).abs() < 1e-6, "{variant}");
    assert!(comparison.variants[0].only_in_base.iter().all(|key| !key.starts_with("late_by")));
    let hog = metric(&comparison, "late_by.cyclictest.hog runs (fair)");
    assert_eq!(hog.verdict, Verdict::Changed);
}

/// Who is through with twice the work in the same time, and is as late each time, is no later.
#[test]
fn what_latencies_are_due_to_is_told_of_a_wakeup() {
    let late = |wakeups| schema::why::LateBy {
        victim: "worker".to_owned(),
        due_to: "hog runs (fair)".to_owned(),
        times: wakeups,
        total_ns: 250 * wakeups,
        wakeups,
    };
    let base = runs(4, |run, seed| run.late_by = vec![late(100 + seed)]);
    let variant = runs(4, |run, seed| run.late_by = vec![late(200 + seed)]);
    let comparison = against(&base, &variant);
    let found = metric(&comparison, "late_by.worker.hog runs (fair)");
    assert_eq!((found.base, found.variant, found.verdict), (250.0, 250.0, Verdict::Identical));
}
