//! Published experiments: what they must show, that it hangs on what they are about, and that the stored results are
//! those of this program. Too slow unoptimised: run with `--release`, as `make test` does.

use report::reproduce::{ReproducedExperiment, Reproduction};
use schedlab::{Length, PUBLISHED, PublishedExperiment};
use std::fs;
use std::path::PathBuf;

fn experiment(name: &str) -> PublishedExperiment {
    PublishedExperiment::of_name(name).expect(name).remove(0)
}

fn quick(experiment: &PublishedExperiment) -> ReproducedExperiment {
    experiment.run(Length::Quick, &|| ()).expect("it runs")
}

fn stored(file: &str) -> ReproducedExperiment {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results")).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Reproduction::from_json(&text).expect("a stored result").experiments.remove(0)
}

/// Whatever must agree does, and docs/results/ is what this program makes. To store new results:
/// `schedlab reproduce NAME --sensitivity --save docs/results`.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn every_experiment_agrees_and_its_stored_results_are_of_this_program() {
    for file in PUBLISHED {
        let result = quick(&experiment(file.name));
        assert_eq!(result.failures(), [""; 0], "{}", file.name);
        let name = file.name;
        assert_eq!(
            result,
            stored(&format!("{name}.quick.json")),
            "docs/results/{name}.quick.json is outdated"
        );
        let events: Vec<u64> = result.variants.iter().map(|variant| variant.events).collect();
        assert_eq!(
            stored(&format!("{name}.json")).quick_events,
            events,
            "docs/results/{name}.json is outdated"
        );
    }
}

/// The rows that must agree one by one, or groups, that are lost when a word is taken out of the settings.
fn lost_without(name: &str, word: &str) -> Vec<String> {
    let without = experiment(name).without(word);
    let unchanged = quick(&experiment(name)).failures();
    quick(&without).failures().into_iter().filter(|failure| !unchanged.contains(failure)).collect()
}

#[track_caller]
fn assert_loses(name: &str, word: &str, expected: &[&str]) {
    let lost = lost_without(name, word);
    for part in expected {
        assert!(lost.iter().any(|failure| failure.contains(part)), "{part:?} is not among {lost:#?}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_000_hangs_on_the_routing_of_wakeups() {
    let expected = [
        "PI, after: largest rise of migrations, thread 1 to 7",
        "PI, after: migrations of thread 7",
        "no PI, after: cells within 35 % or 40",
    ];
    assert_loses("000", "wake_route=strictly_higher", &expected);
}
