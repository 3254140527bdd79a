use super::*;
use crate::Files;
use machine::MachineSpec;
use parameters::NewFigure;
use std::collections::BTreeMap;
use std::sync::Mutex;

const SMALL: &str = r#"
title = "Two hogs"
source = "nowhere"
about = "A test."
settings = "machine=laptop cpus=1"
loads = ["hog -n {hogs}"]
for = "40ms"
seeds = 2
quick = { seeds = 1, for = "20ms", values = [2] }
sweep = { name = "hogs", values = [1, 2] }

[[free]]
name = "context switch"
machine = "costs.context_switch"

[[variant]]
name = "as it is"
role = "fitted"
settings = "6.1"

[[variant]]
name = "one slice"
role = "prediction"
settings = "6.1 NO_WAKEUP_PREEMPTION sched_min_granularity_ns=100000000"

  [[variant.row]]
  what = "switches"
  metric = "totals.context_switches"
  relative_to = "as it is"
  published = [0.3, 0.11]
  within_percent = 60
"#;

fn small(edit: impl Fn(&str) -> String) -> Result<PublishedExperiment, Error> {
    PublishedExperiment::parse("small", "small.toml", &edit(SMALL))
}

pub(super) fn host<'a>(files: &'a Files, so_far: &'a RunsSoFar) -> Host<'a> {
    Host { files, cpu_clock: None, finished: &|_| (), so_far }
}

fn run_small(experiment: &PublishedExperiment, length: Length) -> ReproducedExperiment {
    experiment.run(length, host(&Files::new(), &RunsSoFar::default())).expect("it runs")
}

#[test]
fn every_experiment_that_comes_with_the_program_can_be_read() {
    for file in PUBLISHED {
        let experiment = PublishedExperiment::builtin(file).expect(file.name);
        assert_eq!(experiment.file.variant.len(), experiment.variants().count());
        for length in [Length::Full, Length::Quick] {
            let planned = plan::variants(&experiment.file, length, &Changes::default(), &Files::new())
                .expect(file.name);
            assert!(planned.iter().all(|variant| !variant.points.is_empty()), "{}", file.name);
        }
        for free in &experiment.file.free {
            free.describe(&experiment.file, &Files::new()).expect(file.name);
        }
    }
}

/// The page says of each file of the folder what is fitted and what is predicted.
#[test]
fn every_file_of_the_folder_says_what_it_claims() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let names = std::fs::read_dir(folder).expect("the folder").filter_map(|entry| {
        let name = entry.expect("readable").file_name().into_string().expect("plain");
        name.strip_suffix(".toml").map(str::to_owned)
    });
    let there: std::collections::BTreeSet<String> = names.collect();
    let claims = super::claims::claims().expect("our own files");
    assert_eq!(claims.len(), there.len(), "each once");
    assert_eq!(claims.into_iter().map(|of| of.name).collect::<std::collections::BTreeSet<_>>(), there);
}

#[test]
fn each_variant_runs_at_each_value_of_the_sweep_with_each_seed() {
    let experiment = small(str::to_owned).expect("a file");
    let full = run_small(&experiment, Length::Full);
    let rows = &full.variants[1].rows;
    assert_eq!(rows.iter().map(|row| row.at).collect::<Vec<_>>(), [Some(1.0), Some(2.0)]);
    assert_eq!((full.seeds.len(), full.variants[0].simulated_ns), (2, 40_000_000));
    assert!(rows.iter().all(|row| row.agrees == Some(true)), "{rows:?}");
    assert_eq!((experiment.runs(Length::Full, false), experiment.runs(Length::Quick, true)), (8, 8));
}

/// How many runs were made, and how many asked for.
fn made(experiment: &PublishedExperiment, so_far: &RunsSoFar) -> (usize, usize) {
    let runs = Mutex::new(Vec::new());
    let finished = |run: FinishedRun<'_>| runs.lock().expect("no panic").push(run.cpu.is_some());
    let files = Files::new();
    let host = Host { files: &files, cpu_clock: Some(|| Nanos::ZERO), finished: &finished, so_far };
    experiment.run(Length::Full, host).expect("it runs");
    let runs = runs.into_inner().expect("no panic");
    (runs.iter().filter(|made| **made).count(), runs.len())
}

/// What tells simulations apart is what happens in them, not what they are called; a seed does.
#[test]
fn a_simulation_that_comes_again_is_not_run_again() {
    let so_far = RunsSoFar::default();
    let experiment = small(str::to_owned).expect("a file");
    assert_eq!(made(&experiment, &so_far), (8, 8));
    assert_eq!(made(&experiment, &so_far), (0, 8), "all are known");
    assert_eq!(made(&experiment, &RunsSoFar::default()), (8, 8), "elsewhere none is");
    let word = "NO_WAKEUP_PREEMPTION";
    let other_name = experiment.clone().with_instead(word, "NO_WAKEUP_PREEMPTION NO_WAKEUP_PREEMPTION");
    assert_eq!(made(&other_name, &so_far), (0, 8), "the same under another name");
    assert_eq!(made(&experiment.clone().with_instead(word, ""), &so_far), (4, 8), "another kernel");
    let longer = small(|text| text.replace("\"40ms\"", "\"60ms\"")).expect("a file");
    assert_eq!(made(&longer, &so_far), (8, 8), "longer runs");
    let one_more = small(|text| text.replace("seeds = 2", "seeds = 3")).expect("a file");
    assert_eq!(made(&one_more, &so_far), (4, 12), "one more seed");
}

/// Runs that outlive a reproduction.
#[derive(Clone, Debug, Default)]
struct Kept(std::sync::Arc<Mutex<BTreeMap<RunHash, RunFigures>>>);

impl KeptRuns for Kept {
    fn find(&self, run: RunHash) -> Option<RunFigures> {
        self.0.lock().expect("no panic").get(&run).cloned()
    }

    fn keep(&self, run: RunHash, told: &RunFigures) -> Result<(), Error> {
        self.0.lock().expect("no panic").insert(run, told.clone());
        Ok(())
    }
}

#[test]
fn what_was_kept_need_not_run_again() {
    let experiment = small(str::to_owned).expect("a file");
    let kept = Kept::default();
    let later = || RunsSoFar::kept_in(Box::new(kept.clone()));
    let reproduce = |so_far: &RunsSoFar| {
        let told = experiment.run(Length::Full, host(&Files::new(), so_far)).expect("it runs");
        serde_json::to_string(&told).expect("JSON")
    };
    let first = reproduce(&later());
    assert_eq!(kept.0.lock().expect("no panic").len(), 8);
    assert_eq!(made(&experiment, &later()), (0, 8));
    assert_eq!(reproduce(&later()), first, "with the same result");
    // Killed after five.
    while kept.0.lock().expect("no panic").len() > 5 {
        kept.0.lock().expect("no panic").pop_last();
    }
    assert_eq!(made(&experiment, &later()), (3, 8));
    let longer = small(|text| text.replace("\"40ms\"", "\"60ms\"")).expect("a file");
    assert_eq!(made(&longer, &later()), (8, 8), "those are other ones");
    let other_machine = small(|text| text.replace("cpus=1", "cpus=2")).expect("a file");
    assert_eq!(made(&other_machine, &later()), (8, 8), "and those");
}

#[test]
fn quick_runs_are_shorter_and_may_leave_out_values() {
    let quick = run_small(&small(str::to_owned).expect("a file"), Length::Quick);
    let row = &quick.variants[1].rows[0];
    assert_eq!((row.at, row.published, quick.variants[1].rows.len()), (Some(2.0), Some(0.11), 1));
    assert_eq!((quick.seeds.len(), quick.variants[0].simulated_ns), (1, 20_000_000));
}

/// A kernel, say: the word stands in settings and in the report.
#[test]
fn a_sweep_may_go_over_words() {
    let over_kernels = |text: &str| {
        let text = text.replace("{hogs}", "2").replace("settings = \"6.1\"", "settings = \"{kernel}\"");
        let text = text.replace("values = [2]", "values = [\"6.1\"]");
        let text = text
            .replace("name = \"hogs\", values = [1, 2]", "name = \"kernel\", values = [\"2.6.36\", \"6.1\"]");
        text.replace("within_percent = 60", "within_percent = 60\n  at = \"6.1\"")
    };
    let quick = run_small(&small(over_kernels).expect("a file"), Length::Quick);
    let rows = &quick.variants[1].rows;
    assert_eq!((rows[0].at, rows[0].at_name.as_deref(), rows.len()), (Some(2.0), Some("6.1"), 1));
    assert_eq!(rows[0].published, Some(0.11), "that of the second value");
    let full = run_small(&small(over_kernels).expect("a file"), Length::Full);
    assert_eq!(full.variants[1].rows.len(), 1, "at one kernel only");
}

#[test]
fn the_same_experiment_gives_the_same_bytes() {
    let experiment = small(str::to_owned).expect("a file");
    assert_eq!(run_small(&experiment, Length::Full), run_small(&experiment, Length::Full));
}

#[test]
fn an_agreement_is_lost_without_the_setting_it_is_about() {
    let experiment = small(str::to_owned).expect("a file");
    let experiment = experiment.with_instead("sched_min_granularity_ns=100000000", "");
    let row = &run_small(&experiment, Length::Quick).variants[1].rows[0];
    assert!(row.simulated > 0.5 && row.agrees == Some(false), "{row:?}");
}

#[test]
fn without_a_setting_only_the_variants_are_left_that_hang_on_it() {
    let third = "\n[[variant]]\nname = \"alone\"\nrole = \"prediction\"\nsettings = \"2.6.36\"\n";
    let left = |word: &str| -> Vec<String> {
        let experiment = small(|text| text.to_owned() + third).expect("a file").with_instead(word, "");
        experiment.variants().map(|variant| variant.name).collect()
    };
    assert_eq!(left("NO_WAKEUP_PREEMPTION"), ["as it is", "one slice"]);
    assert_eq!(left("2.6.36"), ["alone"]);
    assert_eq!(left("cpus=1").len(), 3);
}

#[test]
fn a_row_of_which_nothing_is_wanted_is_reported_and_not_counted() {
    let experiment = small(|text| text.replace("published = [0.3, 0.11]\n  within_percent = 60\n", ""));
    let result = run_small(&experiment.expect("a file"), Length::Quick);
    let row = &result.variants[1].rows[0];
    assert!(row.simulated > 0.0 && (row.agrees, &row.wanted) == (None, &None), "{row:?}");
    assert_eq!((result.judged().count(), result.failures()), (0, vec![]));
}

#[test]
fn a_free_parameter_is_halved_and_doubled() {
    let experiment = small(|text| text.replace("relative_to = \"as it is\"", "")).expect("a file");
    let reported = run_small(&experiment, Length::Quick);
    assert_eq!(reported.free[0].name, "context switch");
    assert!(reported.free[0].value.ends_with(" ns") && !reported.free[0].reason.is_empty());
    let found = experiment.sensitivity(host(&Files::new(), &RunsSoFar::default())).expect("it runs");
    assert_eq!(found.iter().map(|s| s.factor).collect::<Vec<_>>(), [0.5, 2.0]);
    assert!(found.iter().all(|s| s.parameter == "context switch" && s.rows.len() == 1));
}

/// No kernel ticks 50 times a second.
#[test]
fn or_it_takes_its_other_values() {
    let ticks = "name = \"hz\"\nvalue = 100\nother_values = [250, 1000]\nreason = \"unknown\"";
    let swept =
        |text: &str| text.replace("name = \"context switch\"\nmachine = \"costs.context_switch\"", ticks);
    let experiment = small(|text| swept(text).replace("cpus=1", "cpus=1 hz={hz}")).expect("a file");
    let found = experiment.sensitivity(host(&Files::new(), &RunsSoFar::default())).expect("it runs");
    assert_eq!(found.iter().map(|s| s.factor).collect::<Vec<_>>(), [2.5, 10.0]);
    let no_value = small(|text| swept(text).replace("value = 100", "machine = \"costs.context_switch\""));
    let ran = no_value.expect("a file").run(Length::Quick, host(&Files::new(), &RunsSoFar::default()));
    assert!(ran.unwrap_err().to_string().contains("`other_values` go with a `value`"));
}

#[test]
fn a_sweep_over_machines_may_have_a_parameter_of_the_machine() {
    let swept = small(|text| text.replace("cpus=1", "cpus={hogs}")).expect("a file");
    assert_eq!(run_small(&swept, Length::Quick).free[0].name, "context switch");
}

#[test]
fn a_changed_figure_of_the_machine_changes_the_machine() {
    let experiment = small(str::to_owned).expect("a file");
    let cost = |factor| {
        let changes = Changes::of_factor(&experiment.file.free[0], factor).machine;
        let content = parameters::changed_machine(&experiment.file, "laptop", &changes, &Files::new())
            .expect("possible");
        MachineSpec::parse(&content, "laptop").expect("a machine file").costs.context_switch.0
    };
    assert_eq!(cost(2.0), 4 * cost(0.5));
    let change = |place: &str, to| parameters::MachineChange { place: place.to_owned(), to };
    let changed =
        |changes: &[_]| parameters::changed_machine(&experiment.file, "laptop", changes, &Files::new());
    let is = |number| [change("costs.context_switch.ns", NewFigure::Is(number))];
    let content = changed(&is(1234.4)).expect("possible");
    assert!(content.contains("ns = 1234\n"), "times stay whole: {content}");
    for (place, to) in
        [("costs.nothing", NewFigure::Times(2.0)), ("costs.context_switch", NewFigure::Is(1.0))]
    {
        let nothing = changed(&[change(place, to)]);
        assert!(nothing.expect_err("no such figure").to_string().contains("has no such figure"), "{place}");
    }
}

#[test]
fn a_group_table_says_what_words_of_settings_would() {
    let with = |files: &str| {
        let table = format!("[[group]]\nname = \"g\"\nin = [\"all\"]\n{files}\n\n[[variant]]");
        small(|text| text.replacen("[[variant]]", &table, 1)).expect("a file")
    };
    let limited = with("\"cpu.max\" = \"10000 100000\"\n\"cpu.weight\" = 300");
    let words = "group=g=cpu.max:10000/100000,cpu.weight:300 in=g=all";
    assert!(limited.file.settings.ends_with(words), "{}", limited.file.settings);
    let so_far = RunsSoFar::default();
    let run = with("\"cpu.mx\" = 1").run(Length::Quick, host(&Files::new(), &so_far));
    assert!(run.expect_err("no such file").to_string().contains("cpu.mx"));
}

#[test]
fn mistakes_in_a_file_are_told_with_their_place() {
    let error = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        let file = small(|text| text.replacen(from, to, 1));
        let so_far = RunsSoFar::default();
        let run = file.and_then(|experiment| experiment.run(Length::Quick, host(&Files::new(), &so_far)));
        run.expect_err("a mistake").to_string()
    };
    let cases = [
        ("seeds = 2", "seeds = two", "small.toml: "),
        ("[\"hog -n {hogs}\"]", "[]", "variant \"as it is\" has no load: give `loads`"),
        ("seeds = 2", "seeds = 0", "`seeds` must be at least 1"),
        ("title", "titel", "unknown field `titel`"),
        ("role = \"fitted\"", "role = \"guess\"", "unknown variant `guess`"),
        ("name = \"one slice\"", "name = \"as it is\"", "two variants are called"),
        ("values = [2]", "values = [3]", "3 in quick.values is no value of the sweep"),
        ("[1, 2]", "[1, \"2\"]", "the values of a sweep are numbers or words, not both"),
        ("values = [2]", "values = [\"2\"]", "\"2\" in quick.values is no value of the sweep"),
        ("{hogs}", "{hogs} -p {pigs}", "nothing is called {pigs}; give it a value"),
        ("{hogs}", "{hogs} {pigs", "is not closed"),
        ("{hogs}", "2", "{hogs} stands in no load and no settings"),
        (
            "[0.3, 0.11]",
            "[0.3]",
            "row `switches`: `published` has to have one figure for each of the 2 values",
        ),
        (
            "within_percent = 60",
            "within_percent = 60\nlargest_of_runs = 0",
            "is a number of runs: at least 1",
        ),
        ("\"6.1\"", "\"6.21\"", "variant \"as it is\": "),
        ("costs.context_switch", "costs.switch", "free parameter `context switch`"),
        ("within_percent = 60", "group = \"g\"", "no requirement says how many of the group \"g\""),
        ("within_percent = 60", "at_least = 0", "row `switches`: every figure is at least 0"),
        (
            "within_percent = 60",
            "at_least = 5\nat_most = 1",
            "row `switches`: no figure can lie within these",
        ),
        ("within_percent = 60", "at_most = nan", "row `switches`: no figure can lie within these"),
        ("published = [0.3, 0.11]", "", "a tolerance needs a `published` figure"),
        ("within_percent = 60", "unreached = \"x\"", "nothing is wanted of this one"),
        (
            "metric = \"totals.context_switches\"",
            "metric = \"totals.context_switch\"",
            "no metric `totals.context_switch`; did you mean `totals.context_switches`?",
        ),
    ];
    for (from, to, expected) in cases {
        let text = error(from, to);
        assert!(text.contains(expected), "{from} -> {to}: {text}");
    }
}

#[test]
fn a_name_is_one_experiment_and_its_beginning_several() {
    let names = |name: &str| -> Vec<String> {
        PublishedExperiment::of_name(name, &Files::new()).expect(name).into_iter().map(|e| e.name).collect()
    };
    assert_eq!(names("all").len(), PUBLISHED.len());
    assert_eq!(names("001"), ["001"]);
    assert_eq!(names("002-"), ["002-ablation", "002-scaling"]);
    let error = PublishedExperiment::of_name("999", &Files::new()).expect_err("none").to_string();
    assert!(error.contains("no experiment is called `999`; there are: all, 000"), "{error}");
}
