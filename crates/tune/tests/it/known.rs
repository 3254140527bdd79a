//! Loads whose answer the published changes give, and one to which the knobs mean nothing.

use lab::{Experiment, ExperimentText, Files, Reading, Settings};
use schema::{LoadText, TuneDirection, TuneEffect, TuneResult, TuneVerdict};
use tune::{Error, Goal, KnobsFile, Request, Words, tune};

struct Asked<'a> {
    loads: &'a [&'a str],
    settings: &'a str,
    duration_ms: Option<u64>,
    goal: &'a str,
    direction: TuneDirection,
    subject_to: &'a [String],
    knobs: &'a str,
}

const NOTHING: Asked<'_> = Asked {
    loads: &[],
    settings: "",
    duration_ms: None,
    goal: "",
    direction: TuneDirection::Minimize,
    subject_to: &[],
    knobs: "",
};

fn ask(asked: &Asked<'_>) -> Result<TuneResult, Error> {
    let files = Files::new();
    let load = |load: &&str| LoadText { load: (*load).to_owned(), file: None };
    let text = ExperimentText {
        loads: asked.loads.iter().map(load).collect(),
        duration_ns: asked.duration_ms.map(|ms| ms * 1_000_000),
        ..ExperimentText::default()
    };
    let text = Settings::parse(asked.settings)?.over(&text);
    let experiment = Experiment::open(&text, &files)?;
    let knobs = KnobsFile::parse("knobs.toml", asked.knobs)?;
    let request = Request {
        words: Words { text, experiment, reading: &Reading::default(), recorded_on: None, base: "" },
        goal: Goal { text: asked.goal.to_owned(), direction: asked.direction },
        subject_to: asked.subject_to,
        knobs: Some(&knobs),
        seeds: 6,
        folder: None,
    };
    tune(&request, &files, &|_| ())
}

/// Seed 001: forty CPUs that pull one task hold each other up; RT_PUSH_IPI ends that. A feature of the fair
/// class means nothing to real-time tasks.
#[test]
fn rt_push_ipi_helps_a_herd() {
    let asked = Asked {
        loads: &[
            "cyclictest --numa -p95 -m -d0 -i100 --cycle-cost 5000",
            "periodic --random -n 4 -p 200 -r 50 -P 50",
        ],
        settings: "machine=seed001 kernel=4.0 double_lock=fair preempt_model=full NO_RT_PUSH_IPI",
        duration_ms: Some(10),
        goal: "max(cyclictest)",
        knobs: "[[knob]]\nfeature = 'RT_PUSH_IPI'\n[[knob]]\nfeature = 'START_DEBIT'\n",
        ..NOTHING
    };
    let result = ask(&asked).expect("an answer");
    assert_eq!(
        (result.verdict, result.chosen.as_slice()),
        (TuneVerdict::Found, ["RT_PUSH_IPI".to_owned()].as_slice())
    );
    let figure = result.confirmed.and_then(|trial| trial.goal).expect("confirmed");
    assert!(figure.with < 0.7 * figure.base, "{figure:?}");
    assert_eq!(result.screen[1].effect, TuneEffect::Inert);
    assert_eq!(result.how_to[0].commands, ["echo RT_PUSH_IPI > /sys/kernel/debug/sched_features"]);
    assert!(result.comparison.expect("side by side").variants[0].metrics.len() > 20);
}

/// Seed 000: a woken task that would have to preempt one of higher priority goes elsewhere, and the highest
/// keeps its CPU.
#[test]
fn the_highest_priority_keeps_its_cpu_by_seed_000() {
    let asked = Asked {
        loads: &["rt-migrate -i 20"],
        settings: "machine=seed000 sched_rt_runtime_us=-1 kernel=2.6.36",
        goal: "rt_migrate.t7.migrated",
        knobs: "[[knob]]\nset = ['wake_route=strictly_higher']\n",
        ..NOTHING
    };
    let result = ask(&asked).expect("an answer");
    assert_eq!(result.chosen, ["wake_route=strictly_higher"]);
    let note = result.how_to[0].note.as_deref().expect("no kernel has a switch for it");
    assert!(result.how_to[0].commands.is_empty() && note.starts_with("no kernel can switch this"), "{note}");
}

/// An A/A question: no fair task, so nothing of the fair class can matter.
#[test]
fn knobs_that_mean_nothing_to_a_load_do_not_help() {
    let asked = Asked {
        loads: &["cyclictest -t2 -p80 -i1000"],
        settings: "machine=laptop cpus=2 kernel=6.18.y",
        duration_ms: Some(50),
        goal: "p99(cyclictest)",
        knobs: "[[knob]]\nfeature = 'RUN_TO_PARITY'\n[[knob]]\n\
                tunable = 'base_slice_ns'\nvalues = [400000, 3000000]\n",
        ..NOTHING
    };
    let result = ask(&asked).expect("an answer");
    assert_eq!((result.verdict, result.chosen.len(), result.runs), (TuneVerdict::NothingHelps, 0, 6 + 3 * 2));
    assert!(result.confirmed.is_none() && result.how_to.is_empty() && result.trust.is_empty());
}

/// Another command line is a value, too: of four loops only what has a higher priority gets its CPU at once.
#[test]
fn a_load_may_be_given_another_priority() {
    let asked = Asked {
        loads: &["cyclictest -t1 -i1000", "hog -n 4"],
        settings: "machine=laptop cpus=2 kernel=6.18.y",
        duration_ms: Some(100),
        goal: "mean(cyclictest)",
        knobs: "[[knob]]\nname = 'priority'\nload = 'cyclictest -t1 -i1000'\n\
                instead = ['cyclictest -t1 -p50 -i1000']\n",
        ..NOTHING
    };
    let result = ask(&asked).expect("an answer");
    assert_eq!(result.chosen, ["cyclictest -t1 -p50 -i1000"]);
    assert_eq!(result.how_to[0].note.as_deref(), Some("in place of cyclictest -t1 -i1000"));
}

#[test]
fn what_a_kernel_has_not_got_is_told_before_anything_is_tried() {
    let asked = Asked {
        loads: &["hog -n 1"],
        settings: "machine=laptop kernel=6.18.y",
        duration_ms: Some(1),
        goal: "hog.cycles",
        knobs: "[[knob]]\nset = ['LAST_BUDDY']\n",
        ..NOTHING
    };
    let error = ask(&asked).expect_err("a feature of CFS").to_string();
    assert!(error.starts_with("knob `LAST_BUDDY`: `LAST_BUDDY` is not in 6.18.y"), "{error}");
    let unknown = ask(&Asked { goal: "hog.cyclse", ..asked }).expect_err("a typing error").to_string();
    assert!(unknown.ends_with("did you mean `hog.cycles`?"), "{unknown}");
}
