//! References: those that come with the program, what is stored of them, and one of somebody's own.

use lab::Files;
use lab::validate::{Host, References, SHIPPED, shipped, stored};
use schema::validation::{Claim, Durations, Validation, ValidationMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const STORED: &str = "validation/results.json";

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn stored_result() -> Validation {
    let bytes = fs::read(root().join(STORED)).expect("it is in the repository");
    stored(STORED, &Files::from([(STORED.to_owned(), bytes)])).expect("our own JSON")
}

fn of_program() -> References {
    let files = shipped();
    References::of_files("", &files.keys().cloned().collect::<Vec<_>>(), &files).expect("they are readable")
}

fn run(references: &References, files: &Files) -> Validation {
    references.run(Host { files, finished: &|| () }).expect("it runs")
}

/// Paths below `validation/` of what belongs to references.
fn in_folder(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_str().expect("plain").to_owned();
        if path.is_dir() {
            in_folder(&path, &format!("{below}{name}/"), found);
        } else if !name.ends_with(".md") && format!("validation/{below}{name}") != STORED {
            found.insert(format!("{below}{name}"));
        }
    }
}

#[test]
fn every_file_of_a_reference_comes_with_the_program() {
    let mut there = BTreeSet::new();
    in_folder(&root().join("validation"), "", &mut there);
    let known: BTreeSet<String> = SHIPPED.iter().map(|file| file.path.to_owned()).collect();
    assert_eq!(known, there, "lab/src/validate/shipped.rs lists them");
}

/// To write both anew: `schedlab validate --save validation/results.json --page docs/accuracy.md`.
#[test]
fn the_page_is_that_of_the_stored_result_and_the_bounds_are_those_of_the_file() {
    let stored = stored_result();
    let page = fs::read_to_string(root().join("docs/accuracy.md")).expect("it is in the repository");
    assert_eq!(
        report::validate::page(&stored, &lab::claims().expect("our own files")),
        page,
        "docs/accuracy.md is outdated"
    );
    let again = of_program().judged(stored.references.clone());
    assert_eq!(again.bounds, stored.bounds, "validation/bounds.toml has changed: {STORED} is outdated");
    assert_eq!(stored.failures(), [""; 0]);
    // A reason that has outlived what it explains would hide the next time.
    let outdated = stored.bounds.iter().filter(|bound| bound.met == Some(true) && bound.unreached.is_some());
    assert_eq!(outdated.map(|bound| &*bound.what).collect::<Vec<_>>(), [""; 0]);
}

/// Of each kind of run one that is short: forward on 2 and 4 CPUs with a log and the counters of balancing,
/// replays of both classes of machines, replays on another number of CPUs.
#[test]
fn the_stored_result_is_that_of_this_program() {
    let (stored, files) = (stored_result(), shipped());
    let names: Vec<&str> = stored.references.iter().map(|reference| reference.name.as_str()).collect();
    let of_program = of_program();
    let known: Vec<&str> = of_program.list.iter().map(|reference| reference.name.as_str()).collect();
    assert_eq!(names, known, "{STORED} is outdated");
    for name in
        ["native-6.18/mix-rr", "native-6.18/mix-nice", "guest-6.1/mix-smp2/rr", "guest-6.1/mix-smp1/balance"]
    {
        let now = run(&of_program.clone().named(name), &files).references.remove(0);
        let before = stored.references.iter().find(|reference| reference.name == name).expect("it is stored");
        assert_eq!(&now, before, "{STORED} is outdated");
    }
}

#[test]
fn each_mode_and_each_claim_is_among_what_is_measured() {
    let stored = stored_result();
    for mode in [ValidationMode::Forward, ValidationMode::Replay, ValidationMode::Transfer] {
        assert!(stored.figures().any(|(_, run, _)| run.mode == mode), "{mode:?}");
    }
    for claim in [Claim::Input, Claim::Reading, Claim::Inference, Claim::Prediction] {
        assert!(stored.figures().any(|(_, _, figure)| figure.claim == claim), "{claim:?}");
    }
}

const OWN: &str = r#"
about = "One hog that counts for a second."
class = "mine"
cpus = 1
settings = "6.1.y machine=laptop cpus=1 {SETTING}"

[[forward]]
name = "a hog"
loads = ["hog -n 2", "cyclictest -t1 -p80 -i1000"]
for = "100ms"
seeds = 2

[[forward.figure]]
what = "CPU time"
unit = "ms"
measure = { tasks = { of = "hog", figure = "cpu_ms", take = "sum" } }
recorded = { files = ["result.json"], at = { at = "/cpu_ms" } }
within_percent = 2
family = "hogs"

[[forward.figure]]
what = "p90 of the timer"
unit = "us"
measure = { result = { at = "/loads/1/threads/0/latency_ns/p90", times = 0.001 } }
at_most = 100
"#;

const OWN_BOUNDS: &str = r#"
[[bound]]
what = "hogs"
question = "How much do hogs get?"
family = "hogs"
within = { percent = 2 }
share = 1.0
"#;

fn own(setting: &str) -> Files {
    let file = |path: &str, text: &str| (format!("here/{path}"), text.as_bytes().to_vec());
    Files::from([
        file("bounds.toml", OWN_BOUNDS),
        file("hog/reference.toml", &OWN.replace("{SETTING}", setting)),
        file("hog/result.json", r#"{"cpu_ms": 99.5}"#),
    ])
}

fn of_own(files: &Files) -> Result<References, lab::Error> {
    References::of_files("here/", &files.keys().cloned().collect::<Vec<_>>(), files)
}

/// Timers, recorded as a histogram of which the longest is beyond.
const DISTRIBUTION: &str = r#"
[[forward.distribution]]
what = "lateness"
measure = { quantiles = [[0.5, "/loads/1/threads/0/latency_ns/p50"], [1.0, "/loads/1/threads/0/latency_ns/max"]], all = "/loads/1/threads/0/latency_ns/count", unit_ns = 1 }
recorded = { files = ["hist.json"], at = { histogram = "/h/*", unit_ns = 1000 } }
"#;

/// They are told, and judged by nobody.
#[test]
fn a_distribution_stands_beside_the_figures() {
    let mut files = own("");
    let reference = format!("{}{DISTRIBUTION}", OWN.replace("{SETTING}", ""));
    files.insert("here/hog/reference.toml".to_owned(), reference.clone().into_bytes());
    files.insert("here/hog/hist.json".to_owned(), br#"{"h": [{"4": 7}, {"4": 1, "9": 2}]}"#.to_vec());
    let validation = run(&of_own(&files).expect("readable"), &files);
    let [distribution] = &validation.references[0].runs[0].distributions[..] else { panic!("one") };
    assert_eq!(distribution.recorded, Durations::from(BTreeMap::from([(3_968, 8), (9_000, 2)])));
    let simulated = &distribution.simulated.quantiles;
    // 99 timers in each seed of 100 ms: the longest is one of so many.
    assert_eq!((simulated[0].share, simulated[1].share), (0.5, 0.98989899));
    assert!(0 < simulated[0].ns && simulated[0].ns <= simulated[1].ns, "{simulated:?}");
    assert_eq!(validation.failures(), [""; 0]);
    #[cfg(feature = "plots")]
    {
        let plot = report::plot::validated(&validation).remove(0);
        let words = "hog, a hog: lateness";
        assert!(plot.name == "hog.a-hog.lateness" && plot.svg.contains(words), "{}", plot.name);
    }
    let wrong = reference.replace("/loads/1/threads/0/latency_ns/p50", "/loads/1/p50");
    files.insert("here/hog/reference.toml".to_owned(), wrong.into_bytes());
    let error = of_own(&files).expect("readable").run(Host { files: &files, finished: &|| () });
    let error = error.expect_err("it is not there").to_string();
    assert!(error.contains("distribution `lateness`: nothing stands at /loads/1/p50"), "{error}");
}

/// And it is by what is simulated that it is judged: where real-time tasks come first, the timer is in time;
/// where they may use half a second in a second only, the hogs get the rest all the same, as it needs less.
#[test]
fn a_reference_of_ones_own_needs_no_code() {
    let files = own("");
    let references = of_own(&files).expect("it is readable");
    assert_eq!((references.list[0].name.as_str(), references.runs()), ("hog", 2));
    let validation = run(&references, &files);
    let figures = &validation.references[0].runs[0].figures;
    assert_eq!((figures[0].recorded, figures[0].within), (Some(99.5), Some(true)), "{figures:?}");
    assert_eq!((figures[1].band.as_deref(), figures[1].within), (Some("at most 100"), Some(true)));
    assert_eq!((validation.bounds.len(), validation.bounds[0].met), (1, Some(true)), "its own bounds");
    assert_eq!(validation.failures(), [""; 0]);
}

/// Two hogs get twice the time of one CPU on two, whatever the machine; that here is one of the folder's own.
const AGAINST: &str = r#"
about = "Two hogs."
class = "mine"
cpus = 2
settings = "6.1.y machine=mine.toml"

[[forward]]
name = "on two CPUs"
loads = ["hog -n 2"]
settings = "cpus=2"
against = "cpus=1"
for = "100ms"
seeds = 1

[[forward.figure]]
what = "CPU time"
unit = "%"
measure = { tasks = { of = "hog", figure = "cpu_ms", take = "sum" } }
at_least = 99
at_most = 101
"#;

#[test]
fn a_run_may_be_set_against_other_settings_on_a_machine_of_its_own() {
    let mut files = own("");
    let ideal = lab::machine_text("ideal", &files).expect("a machine of the program");
    files.insert("here/hog/mine.toml".to_owned(), ideal.replace("\"ideal\"", "\"mine\"").into_bytes());
    files.insert("here/hog/reference.toml".to_owned(), AGAINST.as_bytes().to_vec());
    files.remove("here/bounds.toml");
    let references = of_own(&files).expect("it is readable");
    assert_eq!(references.runs(), 2, "both of one seed");
    let told = run(&references, &files).references.remove(0).runs.remove(0);
    assert_eq!(told.figures[0].within, Some(true), "{:?}", told.figures);
    assert_eq!(told.settings, "6.1.y machine=mine.toml cpus=2 against cpus=1");
    let same = AGAINST.replace("against = \"cpus=1\"", "against = \"cpus=2\"");
    files.insert("here/hog/reference.toml".to_owned(), same.into_bytes());
    let error = of_own(&files).expect_err("nothing to compare").to_string();
    assert!(error.contains("`against` has the same settings"), "{error}");
}

/// The reasons why our recordings miss the program's bounds are none for those of others.
#[test]
fn others_folders_have_the_programs_bounds_without_its_reasons() {
    let mut files = own("");
    files.remove("here/bounds.toml");
    let bounds = |references: References| references.judged(Vec::new()).bounds;
    let (theirs, ours) = (bounds(of_own(&files).expect("readable")), bounds(of_program()));
    assert_eq!(theirs.len(), ours.len());
    assert!(ours.iter().any(|bound| bound.unreached.is_some()));
    assert!(theirs.iter().all(|bound| bound.unreached.is_none()));
}

#[test]
fn what_is_missed_is_told_by_name() {
    let mut files = own("");
    files.insert("here/hog/result.json".to_owned(), br#"{"cpu_ms": 50}"#.to_vec());
    let failures = run(&of_own(&files).expect("readable"), &files).failures();
    let [figure, bound] = failures.as_slice() else { panic!("{failures:?}") };
    assert!(
        figure.starts_with("hog, a hog: CPU time is ") && figure.ends_with("49 to 51 wanted"),
        "{figure}"
    );
    assert_eq!(bound, "hogs: 0.0 % of 1 are within 2 %, 100 % wanted");
}

/// A bound says what is wanted of a share of all figures: of a part it is told, and no failure. A figure
/// that has a band of its own is one.
#[test]
fn a_part_of_the_references_misses_no_share() {
    let mut files = own("");
    files.insert("here/hog/result.json".to_owned(), br#"{"cpu_ms": 50}"#.to_vec());
    let without_band = OWN.replace("{SETTING}", "").replace("within_percent = 2\n", "");
    files.insert("here/hog/reference.toml".to_owned(), without_band.clone().into_bytes());
    files.insert("here/other/reference.toml".to_owned(), without_band.into_bytes());
    files.insert("here/other/result.json".to_owned(), br#"{"cpu_ms": 99.5}"#.to_vec());
    let all = of_own(&files).expect("readable");
    let missed = |references: References| {
        let validation = run(&references, &files);
        (validation.bounds[0].met, validation.failures().len())
    };
    assert_eq!(missed(all.clone()), (Some(false), 1), "half of them");
    assert_eq!(missed(all.clone().named("hog")), (Some(false), 0), "told, and no failure");
    assert_eq!(missed(all.clone().named("")), (Some(false), 1), "that is no part");
    assert_eq!(missed(all.named("other")), (Some(true), 0));
    files.insert("here/hog/reference.toml".to_owned(), OWN.replace("{SETTING}", "").into_bytes());
    let banded = run(&of_own(&files).expect("readable").named("hog"), &files);
    assert_eq!(banded.failures().len(), 1, "its own band: {:?}", banded.failures());
}

/// What ran beside a program was chosen by the recording: its figures are no predictions, and the run says
/// what it was.
#[test]
fn what_is_inferred_of_a_run_makes_its_figures_inferences() {
    let mut files = own("");
    let claims = |files: &Files| {
        let run = run(&of_own(files).expect("readable"), files).references.remove(0).runs.remove(0);
        (run.inferred, run.figures.iter().map(|figure| figure.claim).collect::<Vec<_>>())
    };
    assert_eq!(claims(&files), (None, vec![Claim::Prediction; 2]));
    let named = "name = \"a hog\"\n";
    let inferred =
        OWN.replace("{SETTING}", "").replace(named, &format!("{named}inferred = \"a second hog\"\n"));
    files.insert("here/hog/reference.toml".to_owned(), inferred.into_bytes());
    assert_eq!(claims(&files), (Some("a second hog".to_owned()), vec![Claim::Inference; 2]));
}

#[test]
fn what_is_wrong_with_a_reference_is_said_with_its_file() {
    let error = |path: &str, text: &str| {
        let mut files = own("");
        files.insert(format!("here/{path}"), text.as_bytes().to_vec());
        let references = of_own(&files).map(|all| all.run(Host { files: &files, finished: &|| () }));
        references.and_then(|run| run.map(drop)).expect_err("it is wrong").to_string()
    };
    let reference = "hog/reference.toml";
    let changed = |from: &str, to: &str| error(reference, &OWN.replace("{SETTING}", "").replace(from, to));
    for (from, to, words) in [
        ("seeds = 2", "seed = 2", "unknown field"),
        ("seeds = 2", "seeds = 0", "`seeds` must be at least 1"),
        ("[\"hog -n 2\"", "[\"hog -m 2\"", "a hog"),
        ("at = \"/cpu_ms\"", "at = \"/cpu\"", "nothing stands at /cpu"),
        ("at_most = 100", "at_most = 100\nat_least = 200", "no figure can lie within these bounds"),
        ("of = \"hog\"", "of = \"hug\"", "no task is called hug"),
        ("at_most = 100", "within_percent = 5", "needs what was `recorded`"),
        ("at_most = 100", "unreached = \"so\"", "nothing is wanted of it alone"),
        ("seeds = 2", "each_seed = { phase = [\"1\"] }", "each_seed.phase has 1 values"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(words) && error.contains("here/hog/"), "{from} → {to}: {error}");
    }
    assert!(error(reference, "about = \"\"\nclass = \"\"\ncpus = 1").contains("neither a [[forward]]"));
    assert!(error("bounds.toml", "[[bound]]\nshare = 1").contains("here/bounds.toml"));
    assert!(error("x.dat", "no trace").contains("here/x.dat"));
}
