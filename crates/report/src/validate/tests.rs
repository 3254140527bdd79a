use super::*;
use crate::reproduce::{ByHand, Claims, FiguresOfVariant};
use schema::example::validation::{figure, validation};
use schema::validation::{ValidatedFigure, ValidatedReference, ValidatedRun};

fn bound(rest: &str) -> Bound {
    let text = format!("[[bound]]\nwhat = \"a\"\nquestion = \"b\"\nshare = 0.5\n{rest}");
    Bounds::parse(&text).expect("a bound").bound.remove(0)
}

/// A replay in which this was recorded, and simulated, of one task after the other.
fn switches(pairs: &[(f64, f64)]) -> Vec<ValidatedReference> {
    let mut reference = validation().references.remove(1);
    let one = |(recorded, simulated): &(f64, f64)| ValidatedFigure {
        recorded: Some(*recorded),
        simulated: *simulated,
        ..figure()
    };
    reference.runs[0].figures = pairs.iter().map(one).collect();
    vec![reference]
}

#[test]
fn the_bounds_that_come_with_the_program_can_be_read() {
    let bounds = Bounds::parse(crate::replay::BOUNDS_FILE).expect("a file of bounds");
    assert!(bounds.bound.len() > 10);
}

#[test]
fn a_share_of_the_figures_has_to_be_close() {
    let pairs = [(100.0, 100.0), (100.0, 115.0), (100.0, 84.0), (100.0, 300.0), (100.0, 96.0)];
    let references = switches(&pairs);
    let of = |rest: &str| judge(&[bound(rest)], &references).remove(0);
    let half = of("within = { percent = 15 }");
    assert_eq!((half.reached, half.of, half.met), (3, 5, Some(true)), "15 % off is within 15 %");
    assert_eq!(half.median_off, Some(0.15));
    let good = of("within = { good = \"switches\" }");
    assert_eq!((good.reached, good.within.as_str()), (3, "15 %"), "as a good verdict on a replay");
    assert_eq!(of("within = { percent = 10 }").met, Some(false));
    assert_eq!(of("within = { factor = 3 }").reached, 5);
    let few = switches(&pairs[..4]);
    let of_few = |share: f64| judge(&[Bound { share, ..bound("within = { percent = 15 }") }], &few).remove(0);
    assert_eq!(of_few(0.5).met, None, "half of four is no share");
    assert_eq!(of_few(1.0).met, Some(false), "all of four is");
    assert_eq!(of("within = { percent = 15 }\nfigures = [\"migrations\"]").met, None, "there are none");
}

#[test]
fn a_change_has_a_direction_if_it_is_one() {
    let references = switches(&[(2.0, 1.5), (0.5, 1.1), (1.01, 0.9), (0.5, 1.0)]);
    let side = judge(&[bound("within = \"side\"")], &references).remove(0);
    assert_eq!((side.reached, side.of), (1, 3), "1 % is no change");
}

#[test]
fn each_condition_leaves_figures_out() {
    let references = switches(&[(100.0, 100.0)]);
    let of = |rest: &str| {
        let bound = bound(&format!("within = {{ percent = 1 }}\n{rest}"));
        judge(&[bound], &references).remove(0).of
    };
    assert_eq!(of("mode = \"replay\"\nclass = \"native\"\nrealtime = true\ncpus_at_most = 2"), 1);
    for other in [
        "mode = \"forward\"",
        "class = \"guest\"",
        "realtime = false",
        "cpus_at_most = 1",
        "claim = \"input\"",
        "family = \"balancing\"",
        "recorded_above = 100",
    ] {
        assert_eq!(of(other), 0, "{other}");
    }
}

#[test]
fn what_is_no_bound_is_refused_with_its_place() {
    let problem = |text: &str| Bounds::parse(text).expect_err("no bound");
    let error = problem("[[bound]]\nwhat = \"a\"\n");
    assert!(error.span.is_some() && error.problem.contains("question"), "{error}");
    let share = "[[bound]]\nwhat = \"a\"\nquestion = \"b\"\nshare = 90\nwithin = { percent = 1 }";
    assert!(problem(share).problem.contains("`share` is 90"), "{}", problem(share));
}

#[test]
fn the_page_has_each_question_once_and_each_band() {
    let page = page(&validation(), &[]);
    assert_eq!(page.matches("| Switches of a replay |").count(), 1);
    for row in [
        "| When it ends | - | 0 | not measured |",
        "| native real-time: switches | 15 % | 85 % | 75.0 % | 4 | 2.0 % | **not reached** |",
        "- native real-time: switches: nobody knows the fourth",
        "- 5-hogs: a daemon, as often as it was seen",
        "| 60 to 68 ms | 56 to 68 | 80 ms | +25.0% | **missed**: the emulation has late ticks |",
        "| latency | 25 % | 50 % | 20 wakeups |",
    ] {
        assert!(page.contains(row), "no {row} in\n{page}");
    }
    let run: &ValidatedRun = &validation().references[1].runs[0];
    assert!(!page.contains(&run.name), "figures without a band count with others only");
}

#[test]
fn the_page_says_of_each_experiment_what_was_fitted() {
    let named = |name: &str| Claims { name: name.to_owned(), predicted: 7, ..Claims::default() };
    let figures = |variant: &str, figures| FiguresOfVariant { variant: variant.to_owned(), figures };
    let by_hand = |parameter: &str, to: &str| ByHand { parameter: parameter.to_owned(), to: to.to_owned() };
    let fitted = Claims {
        fitted: vec!["lines".to_owned(), "jitter".to_owned()],
        by: vec![figures("before", 16), figures("long before", 1)],
        by_hand: vec![by_hand("work", "its row"), by_hand("wait", "its row")],
        outcome: Some("The prediction is worse.".to_owned()),
        assumed: vec!["kernel".to_owned()],
        missed: vec!["nobody knows".to_owned()],
        ..named("a")
    };
    let later = Claims { as_fitted_in: Some("a".to_owned()), ..named("b") };
    let page = page(&validation(), &[fitted, later, named("c")]);
    for row in [
        "| a | lines; jitter; work (by hand); wait (by hand) | 16 figures of before; 1 figure of long before; its row \
         | 7 | 1 | kernel |\n",
        "| b | as in a |  | 7 | 0 |  |\n",
        "| c | nothing |  | 7 | 0 |  |\n",
        "\n- a: The prediction is worse.\n",
    ] {
        assert!(page.contains(row), "no {row} in\n{page}");
    }
}
