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
    experiment.run(Length::Quick, &|_| ()).expect("it runs")
}

fn result_path(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results")).join(file)
}

fn stored(file: &str) -> ReproducedExperiment {
    let path = result_path(file);
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

/// What is there to read says what is there for programs.
#[test]
fn stored_texts_are_those_of_the_stored_results() {
    for name in PUBLISHED.iter().map(|file| file.name).chain(["001-recorded"]) {
        let json = fs::read_to_string(result_path(&format!("{name}.json"))).expect("a stored result");
        let text = fs::read_to_string(result_path(&format!("{name}.txt"))).expect("a stored text");
        let report = Reproduction::from_json(&json).expect("our own JSON");
        assert_eq!(report::text::reproduction(&report), text, "docs/results/{name}.txt is outdated");
    }
}

/// A word of the settings, and the rows that must agree one by one, or groups, that are lost without it.
struct Loss<'a> {
    word: &'a str,
    rows: &'a [&'a str],
}

#[track_caller]
fn assert_loses(name: &str, losses: &[Loss<'_>]) {
    let unchanged = quick(&experiment(name)).failures();
    for Loss { word, rows } in losses {
        let mut lost = quick(&experiment(name).without(word)).failures();
        lost.retain(|failure| !unchanged.contains(failure));
        for part in *rows {
            let found = lost.iter().any(|failure| failure.contains(part));
            assert!(found, "without {word}: {part:?} is not among {lost:#?}");
        }
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
    let before = [
        "PI, before: fewest migrations of threads 1 to 7",
        "no PI, before: fewest migrations of threads 1 to 7",
        "no PI, before: involuntary switches, total",
        "no PI, before: cells within 35 % or 40",
    ];
    let losses = [
        Loss { word: "wake_route=strictly_higher", rows: &expected },
        // Without it, the kernel is 6.1, which routes like the change.
        Loss { word: "2.6.36", rows: &before },
    ];
    assert_loses("000", &losses);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_002_hangs_on_the_series() {
    let rows = ["23.1-rt5-gh: mean of the maxima to the baseline's"];
    assert_loses("002", &[Loss { word: "2.6.23-rt5-gh", rows: &rows }]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_003_hangs_on_the_penalty_and_on_the_debit() {
    let penalty = [
        "fork storm, START_NICE: hog's share",
        "nested forks, START_NICE: hog's share over that of neither",
        "keyrepeat, START_NICE: spread between drawings over neither's",
        "keyrepeat, START_NICE: stops of the cursor over START_DEBIT's",
    ];
    let debit = ["neither: average latency", "START_DEBIT: average latency over that of neither"];
    let losses = [Loss { word: "START_NICE", rows: &penalty }, Loss { word: "NO_START_DEBIT", rows: &debit }];
    assert_loses("003", &losses);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn each_improvement_of_seed_002_has_an_effect_of_its_own() {
    let losses = [
        Loss {
            word: "overload_rule=migratory",
            rows: &["true overload: fewer waits", "true overload: lower maxima", "all four: lower maxima"],
        },
        Loss { word: "search=cpupri_2007", rows: &["2-d search: cheaper searches"] },
        Loss { word: "wake_route=not_preempting", rows: &["no load calculation: fewer moves"] },
        Loss { word: "topology=on", rows: &["all four: fewer migrations than without topology"] },
    ];
    assert_loses("002-ablation", &losses);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn the_scaling_of_seed_002_hangs_on_the_search() {
    let rows =
        ["2-d: search to the linear one at 8", "2-d: search to the linear one at 128", "2-d: a gain on many"];
    assert_loses("002-scaling", &[Loss { word: "search=linear", rows: &rows }]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_001_hangs_on_rt_push_ipi() {
    let expected = [
        "RT_PUSH_IPI, 2015: largest latency, of pull's",
        "RT_PUSH_IPI, 2015: most CPUs that waited for one lock",
        "RT_PUSH_IPI, 2015: tasks pulled",
        "RT_PUSH_IPI, 2017: largest latency",
        "RT_PUSH_IPI, broadcast (first draft): most push IPIs in flight",
    ];
    let switched = ["switched on after half a second: before, by after"];
    let losses =
        [Loss { word: "RT_PUSH_IPI", rows: &expected }, Loss { word: "500ms:RT_PUSH_IPI", rows: &switched }];
    assert_loses("001", &losses);
}

/// One interrupt in flight for each walker: not so when every overloaded CPU is interrupted, the rule's default aside.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_001_hangs_on_the_walker() {
    let expected = ["RT_PUSH_IPI, broadcast (first draft): most push IPIs in flight"];
    assert_loses("001", &[Loss { word: "push_ipi_walker=broadcast", rows: &expected }]);
    let many = ["broadcast: largest latency"];
    assert_loses("001-many-queues", &[Loss { word: "push_ipi_walker=broadcast", rows: &many }]);
}

/// The collapse of the column `tip` is one of that kernel's.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_004_hangs_on_the_kernel_that_forgets_its_buddies() {
    let rows = ["pgsql tip: 256 clients over the peak at 256", "mysql tip: 256 clients over the peak at 256"];
    assert_loses("004", &[Loss { word: "kernel=tip", rows: &rows }]);
}

/// Keeping an unused last buddy carries the gain.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn the_gain_of_seed_004_hangs_on_keeping_the_last_buddy() {
    let losses = [
        Loss { word: "pick_mode=tip", rows: &["tip+ with pick_mode=tip: over pgsql tip at 64"] },
        Loss { word: "NO_LAST_BUDDY", rows: &["tip+ without LAST_BUDDY: over pgsql tip at 64"] },
        Loss { word: "pick_mode=after", rows: &["tip with pick_mode=after only: over pgsql tip+ at 64"] },
        Loss { word: "buddy_gate=off", rows: &["tip+ without the gate: over pgsql tip+, few clients at 8"] },
    ];
    assert_loses("004-ablation", &losses);
    let rows = ["vmark tip+ without LAST_BUDDY: over tip"];
    assert_loses("004-vmark", &[Loss { word: "NO_LAST_BUDDY", rows: &rows }]);
}

/// What the other parts of seed 004 serve: idle CPUs, and latency.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow unoptimised")]
fn seed_004_hangs_on_the_gate_the_tick_and_the_hot_buddies() {
    let rows = ["not for idle CPUs (after): buddies left alone, by those before"];
    assert_loses("004-idle", &[Loss { word: "hot_buddy_dst_busy=off", rows: &rows }]);
    let rows =
        ["with it (tip+): mean latency, by that without", "with it (tip+): maximum latency, by that without"];
    assert_loses("004-tick", &[Loss { word: "tick_latency_check=off", rows: &rows }]);
    let rows = ["kept, gated, no check: buddies picked, by those without"];
    assert_loses("004-keyrepeat", &[Loss { word: "buddy_gate=off", rows: &rows }]);
}
