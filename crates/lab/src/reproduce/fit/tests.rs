use super::*;
use crate::reproduce::{RunsSoFar, tests::host};
use crate::{Experiment, Files, LoadSpec, machine};
use schema::reproduction::ReproducedExperiment;

const LOAD: &str = "cyclictest -t1 -p80 -i1000 -n -l20 --cycle-cost {work}";

/// Published figures are filled in by whoever knows them: {latency} and {time} of the variant before.
const TIMER: &str = r#"
title = "A timer beside a hog"
source = "nowhere"
about = "A test."
settings = "machine=my.toml cpus=1 kernel=6.1"
loads = ["LOAD", "hog"]
seeds = 2
quick = { seeds = 1 }

[[free]]
name = "work"
value = 3000
reason = "no document gives it"

[fit]
about = "A test."
figures = [{ variant = "before", rows = ["late*", "CPU time"] }]

[[fit.parameter]]
name = "switch"
values = [250, 500, 1000, 2000, 4000, 8000]
machine = { "costs.context_switch.ns" = 1, "costs.schedule.ns" = 0.5 }
why = "nobody measured it"

[[fit.parameter]]
name = "work"
values = [1000, 5000, 25000, 125000]
why = "nobody says"

[[variant]]
name = "before"
role = "fitted"

  [[variant.row]]
  what = "latency"
  metric = "cyclictest.mean_latency"
  published = {latency}

  [[variant.row]]
  what = "CPU time"
  metric = "tasks.cyclictest.cpu_time"
  published = {time}

  [[variant.row]]
  what = "switches"
  metric = "totals.context_switches"

[[variant]]
name = "after"
role = "prediction"
settings = "kernel=2.6.36"

  [[variant.row]]
  what = "latency"
  metric = "cyclictest.mean_latency"
  published = 1000
"#;

/// The machine `laptop` with these costs of a switch.
fn machine_of(context_switch: u64, schedule: u64) -> String {
    let laptop = crate::machines::machine_text("laptop", &Files::new()).expect("a machine");
    let mut table: toml::Table = laptop.parse().expect("a machine file");
    for (name, ns) in [("context_switch", context_switch), ("schedule", schedule)] {
        table["costs"][name]["ns"] = toml::Value::Integer(ns as i64);
    }
    table.to_string()
}

fn files(context_switch: u64, schedule: u64) -> Files {
    Files::from([("my.toml".to_owned(), machine_of(context_switch, schedule).into())])
}

/// What a machine with these costs does under this work, by the library and no experiment file.
fn truth(context_switch: u64, work: u64) -> [u64; 2] {
    let files = files(context_switch, context_switch / 2);
    let mut experiment = Experiment::new(machine("my.toml", Some(1), &files).expect("a machine"));
    let timer = LOAD.replace("{work}", &work.to_string());
    for load in [timer.as_str(), "hog"] {
        experiment.loads.push(LoadSpec::open(load, &files).expect("a load"));
    }
    experiment.kernel = crate::KernelConfig::of_name("6.1").expect("a kernel");
    experiment.seed = 1;
    let run = experiment.run().expect("it runs").result;
    let figures = report::compare::measure(&run);
    ["cyclictest.mean_latency", "tasks.cyclictest.cpu_time"]
        .map(|key| figures.iter().find(|figure| figure.metric.key == key).expect("a figure").value)
}

fn timer(edit: impl Fn(&str) -> String) -> Result<PublishedExperiment, Error> {
    let [latency, time] = truth(2000, 5000).map(|figure| figure.to_string());
    let text = TIMER.replace("LOAD", LOAD).replace("{latency}", &latency).replace("{time}", &time);
    PublishedExperiment::parse("timer", "timer.toml", &edit(&text))
}

fn fitted(experiment: &PublishedExperiment, files: &Files) -> Fit {
    experiment.fit(Length::Quick, host(files, &RunsSoFar::default())).expect("it runs")
}

fn chosen_values(fit: &Fit) -> Vec<f64> {
    fit.parameters.iter().map(|parameter| parameter.fitted).collect()
}

#[test]
fn it_finds_the_values_that_made_the_figures() {
    let fit = fitted(&timer(str::to_owned).expect("a file"), &files(777, 300));
    assert_eq!(chosen_values(&fit), [2000.0, 5000.0], "{fit:#?}");
    assert_eq!(fit.loss_fitted, 0.0);
    assert!(fit.loss_at_start > 0.0 && fit.loss_in_files > 0.0, "{fit:#?}");
    let start: Vec<f64> = fit.parameters.iter().map(|parameter| parameter.start).collect();
    assert_eq!((start, fit.steps[0].loss), (vec![1000.0, 5000.0], fit.loss_at_start), "the middle");
    let of_machine: Vec<(&str, f64, f64)> =
        fit.parameters[0].places.iter().map(|of| (of.place.as_str(), of.in_file, of.fitted)).collect();
    let wanted = [("costs.context_switch.ns", 777.0, 2000.0), ("costs.schedule.ns", 300.0, 1000.0)];
    assert_eq!(of_machine, wanted);
    let of_file = &fit.parameters[1].places[0];
    assert_eq!((of_file.place.as_str(), of_file.in_file, of_file.fitted), ("{work}", 3000.0, 5000.0));
    assert!(!fit.is_in_files());
}

/// The figures of a loss are those of its definition, with the logarithms taken by hand.
#[test]
fn the_loss_is_the_mean_of_the_logarithms_of_the_ratios() {
    let [latency, time] = truth(2000, 5000).map(|figure| figure as f64);
    let experiment = timer(|text| {
        let text = text.replace(&format!("published = {latency}"), &format!("published = {}", 2.0 * latency));
        text.replace(&format!("published = {time}"), &format!("published = {}", time / 2.0))
    });
    let mut experiment = experiment.expect("a file");
    // Where only the values that made the figures are left to choose from, both are off by a factor of 2.
    for (parameter, value) in
        experiment.file.fit.iter_mut().flat_map(|fit| &mut fit.parameters).zip([2000.0, 5000.0])
    {
        parameter.values = vec![value];
    }
    let fit = fitted(&experiment, &files(777, 300));
    assert!((fit.loss_fitted - 2.0_f64.ln()).abs() < 1e-6, "{}", fit.loss_fitted);
}

/// Half of what figures were cut to is added to them.
#[test]
fn a_figure_that_was_cut_stands_for_the_middle_of_what_is_cut_to_it() {
    let cut = |text: &str| text.replace("figures = [", "cut_to = 500\nfigures = [");
    let [latency, _] = truth(2000, 5000).map(|figure| figure as f64);
    let fit = fitted(&timer(cut).expect("a file"), &files(777, 300));
    assert_eq!(fit.figures[0].published, latency + 250.0);
    assert_eq!(fit.predicted[0].published, 1250.0, "of all figures of the document");
}

/// Nothing that stands in a file now, and no figure of a prediction, has a part in it.
#[test]
fn what_is_chosen_hangs_on_the_figures_of_the_fit_alone() {
    let fit = fitted(&timer(str::to_owned).expect("a file"), &files(777, 300));
    let elsewhere = timer(|text| text.replace("published = 1000", "published = 9").replace("= 3000", "= 1"));
    let other = fitted(&elsewhere.expect("a file"), &files(5000, 40));
    assert_eq!((chosen_values(&other), &other.steps), (chosen_values(&fit), &fit.steps));
    assert_ne!(other.predicted_loss_fitted, fit.predicted_loss_fitted);
}

/// With its values in the files, the experiment has the figures that the fit said.
#[test]
fn the_prediction_is_what_comes_with_the_values_in_the_files() {
    let fit = fitted(&timer(str::to_owned).expect("a file"), &files(777, 300));
    let written = timer(|text| text.replace("value = 3000", "value = 5000")).expect("a file");
    let files = files(2000, 1000);
    let again = fitted(&written, &files);
    assert!(again.is_in_files());
    assert_eq!(again.loss_in_files, again.loss_fitted);
    let result: ReproducedExperiment =
        written.run(Length::Quick, host(&files, &RunsSoFar::default())).expect("it runs");
    assert_eq!(result.variants[1].rows[0].simulated, fit.predicted[0].fitted);
    assert_eq!((fit.predicted.len(), fit.predicted[0].variant.as_str()), (1, "after"));
}

/// The files that come with the program hold values of their fits, not ones that somebody has changed since.
/// The search itself takes minutes: `schedlab reproduce 002 --fit`.
#[test]
fn figures_that_are_fitted_are_among_the_values_of_the_fit() {
    let mut seen = 0;
    for published in crate::PUBLISHED {
        let experiment = PublishedExperiment::builtin(published).expect(published.name);
        for parameter in experiment.file.fit.iter().flat_map(|fit| &fit.parameters) {
            let name = machine_name(&experiment.file).expect("a machine");
            let text = machine_text(&name, &Files::new()).expect("a machine");
            let figure = |place: &str| machine_figure(&experiment.file, &name, place, &text).expect(place);
            let holds = |value: &f64| {
                parameter.machine.iter().all(|(place, of_one)| figure(place) == (of_one * value).round())
            };
            assert!(parameter.values.iter().any(holds), "{name} holds no value of `{}`", parameter.name);
            seen += parameter.machine.len();
        }
    }
    assert!(seen > 0);
}

#[cfg(feature = "threads")]
#[test]
fn the_number_of_threads_changes_nothing() {
    let experiment = timer(str::to_owned).expect("a file");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| fitted(&experiment, &files(777, 300)))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn a_machine_with_what_was_found_is_that_machine() {
    let experiment = timer(str::to_owned).expect("a file");
    let files = files(777, 300);
    let fit = fitted(&experiment, &files);
    let machine = experiment.fitted_machine(&fit, &files).expect("a machine").expect("it chooses some of it");
    let figures: Vec<(&str, f64)> = machine.figures.iter().map(|of| (of.place.as_str(), of.number)).collect();
    assert_eq!(figures, [("costs.context_switch.ns", 2000.0), ("costs.schedule.ns", 1000.0)]);
    assert_eq!(
        (machine.text, machine.figures[0].to.as_str()),
        (machine_of(777, 300), "2 figures of \"before\"")
    );
}

#[test]
fn a_fit_that_is_none_is_refused() {
    let cases = [
        (
            "variant = \"before\", rows",
            "variant = \"after\", rows",
            "\"after\" is a prediction, and nothing may be chosen",
        ),
        (
            "variant = \"before\", rows",
            "variant = \"befor\", rows",
            "no variant \"befor\"; did you mean \"before\"?",
        ),
        (
            "\"CPU time\"]",
            "\"CPU tim\"]",
            "no row `CPU tim` of \"before\" has a published figure; did you mean `CPU time`?",
        ),
        ("\"CPU time\"]", "\"switches\"]", "no row `switches` of \"before\" has a published figure"),
        ("rows = [\"late*\", \"CPU time\"]", "rows = []", "say which rows of \"before\""),
        ("figures = [", "cut_to = 0\nfigures = [", "`cut_to` is what figures are multiples of: above 0"),
        (
            "about = \"A test.\"\nfigures",
            "about = \"A test.\"\nseeds = 0\nfigures",
            "[fit]: `seeds` must be at least 1",
        ),
        ("name = \"switch\"", "name = \"work\"", "parameter `work`: it stands there twice"),
        ("[250, 500,", "[500, 250,", "parameter `switch`: `values` are at least two, each larger"),
        (
            "[250, 500,",
            "[0, 500,",
            "parameter `switch`: values and figures of the machine have to be above 0",
        ),
        ("machine = {", "# ", "parameter `switch`: no [[free]] with a `value` has this name"),
    ];
    for (from, to, wanted) in cases {
        let error = timer(|text| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let error = error.expect_err(wanted).to_string();
        assert!(error.starts_with("timer.toml: ") && error.contains(wanted), "{from} -> {to}: {error}");
    }
    let divided =
        |text: &str| text.replacen("what = \"latency\"", "what = \"latency\"\n  relative_to = \"after\"", 1);
    let error = timer(divided).expect_err("by a prediction").to_string();
    assert!(error.contains("\"after\" is a prediction"), "{error}");
    let absent = timer(|text| text.replace("costs.schedule.ns", "costs.shedule.ns")).expect("a file");
    let error = absent.fit(Length::Quick, host(&files(777, 300), &RunsSoFar::default()));
    assert!(
        error.expect_err("no such place").to_string().contains("costs.shedule.ns: it has no such figure")
    );
    let none = timer(|text| {
        let (before, behind) = text.split_once("[fit]").expect("a fit");
        before.to_owned() + &behind[behind.find("[[variant]]").expect("variants")..]
    });
    let error = none.expect("a file").fit(Length::Quick, host(&files(777, 300), &RunsSoFar::default()));
    assert!(error.expect_err("nothing was fitted").to_string().contains("it has no table [fit]"));
}
