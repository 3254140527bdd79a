use super::super::WIDTH;
use super::*;
use crate::compare::{Arm, compare};
use schema::{LoadResult, RunResult, example};

/// Runs of cyclictest with a worst latency per seed.
fn runs(seeds: std::ops::RangeInclusive<u64>, worst_ns: impl Fn(u64) -> u64) -> Vec<RunResult> {
    seeds
        .map(|seed| {
            let mut run = example::run();
            run.engine.seed = seed;
            run.loads.truncate(1);
            run.replay.clear();
            run.groups.clear();
            run.notes.clear();
            run.kernel.changes.clear();
            run.warnings.clear();
            let LoadResult::Cyclictest(result) = &mut run.loads[0] else {
                panic!("cyclictest is the first load")
            };
            if let Some(latency) = &mut result.threads[0].latency_ns {
                latency.max = worst_ns(seed);
            }
            run
        })
        .collect()
}

fn against(base: &[RunResult], variant: &[RunResult]) -> Comparison {
    let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
    compare(&arm("6.1", base), &[arm("NO_RT_PUSH_IPI", variant)]).expect("runs that can be paired")
}

/// A push by IPI that was switched off: herds on the run-queue lock again (seed 001).
fn herd(seeds: u64) -> Comparison {
    let base = runs(1..=seeds, |seed| 130_000 + 977 * seed);
    let mut variant = runs(1..=seeds, |seed| 400_000 + 3_331 * (seed * 7 % 5));
    for run in &mut variant {
        run.cpus[0].rq_lock.waiters_max = 12;
        run.totals.push_ipis = 0;
        run.totals.pulls = 3_000 + run.engine.seed;
        run.kernel.changes = example::run().kernel.changes;
    }
    against(&base, &variant)
}

fn check_width(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
        assert_eq!(line, line.trim_end(), "blanks at the end of {line:?}");
    }
}

#[test]
fn what_changed_comes_first_and_the_rest_is_folded() {
    let text = comparison(&herd(10), Rows::Folded);
    check_width(&text);
    insta::assert_snapshot!(text, @r"
        schedlab 0.1.0, 10 seeds (1-10), 10.0s simulated
        load     cyclictest -t2 -p90 -i100 -h 10
        base     6.1 = kernel 6.1, machine laptop, 2 CPUs
        with     NO_RT_PUSH_IPI = kernel 6.1 NO_RT_PUSH_IPI
                 2s:sched_latency_ns=12000000, machine laptop, 2 CPUs

        NO_RT_PUSH_IPI against 6.1: 5 of 69 metrics changed
          cyclictest worst latency: 3.00 ± 0.06 times higher with NO_RT_PUSH_IPI
          metric                    base  with differs     95% interval change
        * pulls                        4  3006   +3002   +3000 to +3003   x751
        * push IPIs                    9     0      -9                -  -100%
        - rq lock most waiters         2    12     +10                -  +500%
        - cyclictest worst latency 135us 407us  +271us +267us to +275us  +200%
        - cyclictest T0 max        135us 407us  +271us +267us to +275us  +200%
        64 metrics identical under every seed
        2 metrics in this variant only, so not compared: cyclictest phase1 worst
          latency, ...

        + better, - worse, * neither. 95% interval of the difference, paired by seed:
        BCa bootstrap over 10 seeds. No interval (-): every seed gives the same
        difference. Changed: the interval excludes 0 and the finding is among those of
        which 5% are expected to be chance (Benjamini-Hochberg).
        ");
}

#[test]
fn all_rows_show_every_metric() {
    let compared = herd(5);
    let text = comparison(&compared, Rows::All);
    check_width(&text);
    assert!(text.contains("Student's t over 5 seeds"), "{text}");
    for metric in &compared.variants[0].metrics {
        let start = metric.metric.label.split(' ').next().expect("a word");
        assert!(text.contains(start), "{start} is missing");
    }
    assert!(!text.contains("identical under"), "nothing is folded: {text}");
}

#[test]
fn one_seed_says_that_it_proves_nothing() {
    let text = comparison(&herd(1), Rows::Folded);
    check_width(&text);
    insta::assert_snapshot!(text, @r"
        schedlab 0.1.0, seed 1, 10.0s simulated
        load     cyclictest -t2 -p90 -i100 -h 10
        base     6.1 = kernel 6.1, machine laptop, 2 CPUs
        with     NO_RT_PUSH_IPI = kernel 6.1 NO_RT_PUSH_IPI
                 2s:sched_latency_ns=12000000, machine laptop, 2 CPUs

        NO_RT_PUSH_IPI against 6.1: 5 of 69 metrics differ; one seed cannot tell change
          from chance
          cyclictest worst latency: 3.10 times higher with NO_RT_PUSH_IPI
          metric                    base  with differs 95% interval change
        * pulls                        4  3001   +2997            -   x750
        * push IPIs                    9     0      -9            -  -100%
        - rq lock most waiters         2    12     +10            -  +500%
        - cyclictest worst latency 131us 407us  +276us            -  +210%
        - cyclictest T0 max        131us 407us  +276us            -  +210%
        64 metrics identical under every seed
        2 metrics in this variant only, so not compared: cyclictest phase1 worst
          latency, ...

        + better, - worse, * neither. One seed gives no interval: repeat with more
        seeds.
        ");
}

/// A task may be there under one seed of several: that says nothing of the others.
#[test]
fn a_metric_that_one_seed_has_does_not_take_the_verdict_from_the_rest() {
    let mut compared = herd(10);
    let changed = compared.variants[0].count(Verdict::Changed);
    let metric = compared.variants[0].metrics.iter_mut().find(|metric| metric.verdict == Verdict::Changed);
    metric.expect("a change").verdict = Verdict::Untested;
    let text = comparison(&compared, Rows::Folded).split_whitespace().collect::<Vec<_>>().join(" ");
    let all = compared.variants[0].metrics.len();
    let said =
        format!("{} of {all} metrics changed; differing under the only seed that has them: 1", changed - 1);
    assert!(text.contains(&said), "{text}");
}

#[test]
fn a_load_without_randomness_is_exact() {
    let text = comparison(&against(&runs(1..=3, |_| 100_000), &runs(1..=3, |_| 104_000)), Rows::Folded);
    check_width(&text);
    insta::assert_snapshot!(text, @r"
        schedlab 0.1.0, 3 seeds (1-3), 10.0s simulated
        load     cyclictest -t2 -p90 -i100 -h 10
        base     6.1 = kernel 6.1, machine laptop, 2 CPUs
        with     NO_RT_PUSH_IPI = kernel 6.1, machine laptop, 2 CPUs

        NO_RT_PUSH_IPI against 6.1: 2 of 69 metrics changed; no seed makes a difference
          cyclictest worst latency: 4.00 % higher with NO_RT_PUSH_IPI
          metric                    base  with differs change
        - cyclictest worst latency 100us 104us +4.00us  +4.0%
        - cyclictest T0 max        100us 104us +4.00us  +4.0%
        67 metrics identical under every seed

        + better, - worse, * neither.
        ");
}

#[test]
fn the_widest_row_fits() {
    let mut compared = herd(10);
    // The last is the idle time of 512 CPUs over twenty hours.
    let extremes = [(Unit::Count, -999_999.4f64), (Unit::Nanoseconds, -12.34e3), (Unit::Nanoseconds, 3.6e16)];
    for (metric, (unit, number)) in compared.variants[0].metrics.iter_mut().zip(extremes) {
        metric.metric.label = "a-comm-of-15-ch: involuntary switches".to_owned();
        metric.metric.unit = unit;
        (metric.base, metric.variant, metric.difference) = (number.abs() * 0.8, number.abs(), number);
        metric.interval = Some(schema::comparison::Interval { low: number, high: number });
    }
    check_width(&comparison(&compared, Rows::All));
    for metric in &mut compared.variants[0].metrics {
        metric.replay_error = Some(12_345.6 * metric.base);
    }
    check_width(&comparison(&compared, Rows::All));
}

/// Three figures change by 4 %: of the recorded command in which the replay is 1 % off, of another task in
/// which it is 20 % off, and of one on which its verdict is poor.
#[test]
fn a_change_that_may_be_the_replays_own_error_is_marked_and_poor_tasks_stand_apart() {
    let mut compared = against(&runs(1..=3, |_| 100_000), &runs(1..=3, |_| 104_000));
    let metrics = &mut compared.variants[0].metrics;
    metrics.truncate(2);
    metrics.push(metrics[0].clone());
    let facts = [("tool", 0.2, false, false), ("make", 0.01, false, true), ("idler", 0.6, true, false)];
    for (metric, (name, off, poor, of_command)) in metrics.iter_mut().zip(facts) {
        metric.metric.label = format!("{name} worst latency");
        (metric.metric.headline, metric.replay_error) = (true, Some(off * metric.base));
        (metric.poor, metric.of_command) = (poor, of_command);
    }
    let text = comparison(&compared, Rows::Folded);
    check_width(&text);
    let (_, section) = text.split_once("\n\n").expect("a head");
    insta::assert_snapshot!(section, @r"
    NO_RT_PUSH_IPI against 6.1: 3 of 3 metrics changed; no seed makes a difference;
      2 of them by less than the replay itself is off
      tool worst latency: 4.00 % higher with NO_RT_PUSH_IPI; the replay itself is
        20.0% off in this figure
      make worst latency: 4.00 % higher with NO_RT_PUSH_IPI; the replay itself is
        1.0% off in this figure
      metric              base  with differs change replay off
    - make worst latency 100us 104us +4.00us  +4.0%       1.0%
    ~ tool worst latency 100us 104us +4.00us  +4.0%      20.0%
    figures in which the replay, or that of their task, is far from the recording:
      metric               base  with differs change replay off
    ~ idler worst latency 100us 104us +4.00us  +4.0%      60.0%
    ~ changes by a smaller factor than the replay itself is off in this figure

    + better, - worse, * neither.
    ");
}

#[test]
fn what_must_not_be_overlooked_follows_the_head() {
    let base = runs(1..=2, |seed| 100_000 + seed);
    let mut variant = base.clone();
    variant[0].warnings.push("EEVDF is not described".to_owned());
    let text = comparison(&against(&base, &variant), Rows::Folded);
    let first = text.split("\n\n").nth(1);
    assert_eq!(first, Some("warning: NO_RT_PUSH_IPI: EEVDF is not described"), "{text}");
}

#[test]
fn the_base_under_another_name_is_called_so() {
    let same = runs(1..=4, |seed| 100_000 + seed);
    let mut compared = against(&same, &same);
    compared.variants[0].same_as_base = true;
    let text = comparison(&compared, Rows::Folded);
    check_width(&text);
    assert!(
        text.contains(
            "\nNO_RT_PUSH_IPI against 6.1: one and the same simulation, kernel 6.1 with equal\n  settings, so nothing can \
             change\n69 metrics identical"
        ),
        "{text}"
    );
}

#[test]
fn no_change_is_said_in_one_line() {
    let same = runs(1..=4, |seed| 100_000 + seed);
    let text = comparison(&against(&same, &same), Rows::Folded);
    assert!(
        text.contains("\nNO_RT_PUSH_IPI against 6.1: 0 of 69 metrics changed\n69 metrics identical"),
        "{text}"
    );
}

#[test]
fn sentences_use_times_per_cent_or_the_values_themselves() {
    let mut metric = herd(10).variants[0].metrics[0].clone();
    let mut check = |base: f64, variant: f64, times, plus_minus, expected: &str| {
        metric.metric.label = "make time".to_owned();
        (metric.base, metric.variant, metric.difference) = (base, variant, variant - base);
        (metric.times, metric.times_plus_minus) = (times, plus_minus);
        assert_eq!(sentence(&metric, "X"), expected);
    };
    check(310.0, 100.0, Some(3.1), Some(0.004), "make time: 3.10 times lower with X");
    check(100.0, 105.0, Some(1.05), Some(0.000_04), "make time: 5.00 % higher with X");
    check(310.0, 100.0, Some(3.1), Some(0.4), "make time: 3.10 ± 0.40 times lower with X");
    check(100.0, 310.0, Some(3.1), None, "make time: 3.10 times higher with X");
    check(105.0, 100.0, Some(1.05), Some(0.01), "make time: 4.76 ± 0.91 % lower with X");
    check(100.0, 105.0, Some(1.05), Some(0.01), "make time: 5.00 ± 1.00 % higher with X");
    check(0.0, 12.5, None, None, "make time: 12.5 instead of 0 with X");
    check(12.5, 0.25, Some(50.0), Some(848.0), "make time: 0.25 instead of 12.5 with X");
}

#[test]
fn metrics_that_cannot_be_compared_are_counted() {
    let base = runs(1..=3, |_| 100_000);
    let mut variant = base.clone();
    for run in &mut variant {
        run.tasks.retain(|task| task.comm != "periodic");
    }
    let text = comparison(&against(&base, &variant), Rows::Folded);
    check_width(&text);
    assert!(text.contains("20 metrics in base only, so not compared:"), "{text}");
}

#[test]
fn seeds_are_written_as_ranges() {
    assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
    assert_eq!(ranges(&[u64::MAX]), u64::MAX.to_string());
}

#[test]
fn how_far_to_trust_it_comes_last() {
    let mut base = runs(1..=2, |_| 130_000);
    base[0].replay = example::run().replay;
    base[0].notes = vec!["3 events were lost".to_owned()];
    let mut variant = base.clone();
    variant[0].replay.clear();
    variant[0].notes.push("had not finished".to_owned());
    let text = comparison(&against(&base, &variant), Rows::Folded);
    check_width(&text);
    assert!(text.contains("\nReplay of make10.dat beside the recording, on recorded, 2 CPUs"), "{text}");
    let (_, end) = text.split_once("\nnote: 3 events were lost\n").expect("a note");
    assert!(end.starts_with("note: NO_RT_PUSH_IPI: had not finished\n\nverdict: "), "{text}");
}

#[test]
fn what_is_no_difference_in_the_digits_of_a_sentence_is_not_told_in_one() {
    let told = |more_ns: u64| {
        let text = comparison(
            &against(&runs(1..=8, |_| 1_000_000_000), &runs(1..=8, |_| 1_000_000_000 + more_ns)),
            Rows::All,
        );
        assert!(text.contains("cyclictest worst latency"), "it stays in the table: {text}");
        text.lines().find(|line| line.starts_with("  cyclictest worst latency:")).map(str::to_owned)
    };
    assert_eq!(told(20_000), None, "0.002 %");
    assert_eq!(
        told(200_000).as_deref(),
        Some("  cyclictest worst latency: 0.02 % higher with NO_RT_PUSH_IPI")
    );
}

/// Keys are for programs.
#[test]
fn what_is_not_compared_is_named_in_words() {
    assert_eq!(in_words("groups.system.slice.rt_throttled"), "group system.slice: rt throttled");
    assert_eq!(in_words("tasks.periodic.wait"), "tasks periodic wait");
    let figures = crate::compare::measure(&example::run());
    let of_idle = figures.iter().find(|figure| figure.metric.key.starts_with("idle.")).expect("it idles");
    assert_eq!(in_words(&of_idle.metric.key), of_idle.metric.label, "one name wherever it is told");
}
