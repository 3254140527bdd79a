//! Published experiments: what they must show, that it hangs on what they are about, and that the stored
//! results are those of this program. Thousands of runs: most of what `make test` takes after compiling.

use lab::{Files, Host, Length, PUBLISHED, PublishedExperiment, RunsSoFar};
use schema::reproduction::{ReproducedExperiment, Reproduction};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

fn experiment(name: &str) -> PublishedExperiment {
    PublishedExperiment::of_name(name, &Files::new()).expect(name).remove(0)
}

/// Of all tests together: what one has run, no other runs again.
static SO_FAR: LazyLock<RunsSoFar> = LazyLock::new(RunsSoFar::default);

fn quick(experiment: &PublishedExperiment) -> ReproducedExperiment {
    let host = Host { files: &Files::new(), cpu_clock: None, finished: &|_| (), so_far: &SO_FAR };
    experiment.run(Length::Quick, host).expect("it runs")
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
    for name in PUBLISHED.iter().map(|file| file.name).chain(["001-recorded", "rt-push-ipi-sockets"]) {
        let json = fs::read_to_string(result_path(&format!("{name}.json"))).expect("a stored result");
        let report = Reproduction::from_json(&json).expect("our own JSON");
        let text = snapbox::Data::read_from(&result_path(&format!("{name}.txt")), None);
        snapbox::assert_data_eq!(report::text::reproduction(&report), text.raw());
    }
}

/// A word of the settings, what stands in its place (or nothing), and rows that must agree one by one, or
/// groups, that are lost with that.
struct Loss<'a> {
    word: &'a str,
    instead: &'a str,
    rows: &'a [&'a str],
}

fn without<'a>(word: &'a str, rows: &'a [&'a str]) -> Loss<'a> {
    Loss { word, instead: "", rows }
}

fn instead_of<'a>(word: &'a str, instead: &'a str, rows: &'a [&'a str]) -> Loss<'a> {
    Loss { word, instead, rows }
}

/// As the experiments are, nothing is lost: the first test.
#[track_caller]
fn assert_loses(name: &str, losses: &[Loss<'_>]) {
    for Loss { word, instead, rows } in losses {
        let lost = quick(&experiment(name).with_instead(word, instead)).failures();
        for part in *rows {
            let found = lost.iter().any(|failure| failure.contains(part));
            assert!(found, "{word} -> {instead:?}: {part:?} is not among {lost:#?}");
        }
    }
}

/// Iterations and the totals of migrations and of voluntary switches hardly change with the routing, in the
/// document as here: no switch makes them disagree.
#[test]
fn seed_000_hangs_on_the_routing_of_wakeups() {
    let after = [
        "PI, after: largest rise of migrations, thread 1 to 7",
        "PI, after: migrations of thread 7",
        "PI, after: involuntary switches, total",
        "PI, after: cells within 35 % or 40",
        "no PI, after: most migrations of threads 5 to 7",
        "no PI, after: cliff",
        "no PI, after: involuntary switches, total",
        "no PI, after: cells within 35 % or 40",
    ];
    let before = [
        "PI, before: fewest migrations of threads 1 to 7",
        "PI, before: cells within 35 % or 40",
        "no PI, before: fewest migrations of threads 1 to 7",
        "no PI, before: involuntary switches, total",
        "no PI, before: cells within 35 % or 40",
    ];
    let today = [
        "PI, 6.1: migrations of thread 7",
        "PI, 6.1: cells within 35 % or 40",
        "no PI, 6.1: most migrations of threads 5 to 7",
        "no PI, 6.1: cliff",
        "no PI, 6.1: cells within 35 % or 40",
    ];
    let losses = [
        without("wake_route=strictly_higher", &after),
        instead_of("2.6.36", "2.6.36 wake_route=strictly_higher", &before),
        instead_of("6.1", "2.6.36", &today),
    ];
    assert_loses("000", &losses);
}

/// Minima and means are the same with and without the series, in the document as here: no switch makes them
/// disagree. What it makes of the maxima is known to be missed.
#[test]
fn seed_002_hangs_on_the_series() {
    let losses = [instead_of("2.6.23-rt5", "2.6.23-rt5-gh", &["23.1-rt5: largest maximum"])];
    assert_loses("002", &losses);
}

#[test]
fn seed_003_hangs_on_the_penalty_and_on_the_debit() {
    let penalty = [
        "fork storm, START_NICE: hog's share",
        "nested forks, START_NICE: hog's share over that of neither",
        "keyrepeat, START_NICE: spread between drawings over neither's",
        "keyrepeat, START_NICE: stops of the cursor over START_DEBIT's",
    ];
    let debit = ["neither: average latency", "START_DEBIT: average latency over that of neither"];
    let losses = [without("START_NICE", &penalty), without("NO_START_DEBIT", &debit)];
    assert_loses("003", &losses);
}

#[test]
fn each_improvement_of_seed_002_has_an_effect_of_its_own() {
    let losses = [
        without("overload_rule=migratory", &["true overload: fewer waits"]),
        without("search=cpupri_2007", &["2-d search: cheaper searches"]),
        without("wake_route=not_preempting", &["no load calculation: fewer moves"]),
        without("topology=on", &["all four: fewer migrations than without topology"]),
    ];
    assert_loses("002-ablation", &losses);
}

#[test]
fn the_scaling_of_seed_002_hangs_on_the_search() {
    let rows =
        ["2-d: search to the linear one at 8", "2-d: search to the linear one at 128", "2-d: a gain on many"];
    assert_loses("002-scaling", &[without("search=linear", &rows)]);
}

#[test]
fn seed_001_hangs_on_rt_push_ipi() {
    let pull = ["pull: most of these that held their own lock"];
    let push = [
        "RT_PUSH_IPI, 2015: largest latency is",
        "RT_PUSH_IPI, 2015: largest latency, of pull's",
        "RT_PUSH_IPI, 2015: most CPUs that waited for one lock",
        "RT_PUSH_IPI, 2015: tasks pulled",
        "RT_PUSH_IPI, 2017: largest latency is",
        "RT_PUSH_IPI, 2017: waiters, of pull's",
        "RT_PUSH_IPI, broadcast (first draft): largest latency is",
        "RT_PUSH_IPI, broadcast (first draft): most push IPIs in flight",
    ];
    let switched = [
        "switched on after half a second: largest latency after it",
        "switched on after half a second: before, by after",
    ];
    let losses = [
        instead_of("NO_RT_PUSH_IPI", "RT_PUSH_IPI", &pull),
        instead_of("RT_PUSH_IPI", "NO_RT_PUSH_IPI", &push),
        instead_of("500ms:RT_PUSH_IPI", "500ms:NO_RT_PUSH_IPI", &switched),
    ];
    assert_loses("001", &losses);
    assert_loses(
        "001-long",
        &[instead_of("RT_PUSH_IPI", "NO_RT_PUSH_IPI", &["largest latency of the runs"])],
    );
    assert_loses("001-seconds", &[instead_of("NO_RT_PUSH_IPI", "RT_PUSH_IPI", &["pull: largest latency"])]);
}

/// One interrupt in flight: for each CPU with a walker of its own, of all CPUs with one for the root domain;
/// not so when every overloaded CPU is interrupted.
#[test]
fn seed_001_hangs_on_the_walker() {
    let [broadcast, per_source, root_domain] =
        ["push_ipi_walker=broadcast", "push_ipi_walker=per_source", "push_ipi_walker=root_domain"];
    let losses = [
        instead_of(per_source, broadcast, &["RT_PUSH_IPI, 2015: most push IPIs in flight for one CPU"]),
        instead_of(root_domain, per_source, &["RT_PUSH_IPI, 2017: most push IPIs in flight"]),
        instead_of(broadcast, root_domain, &["(first draft): most push IPIs in flight"]),
    ];
    assert_loses("001", &losses);
    let many = ["broadcast: largest latency", "broadcast: most CPUs that waited for one lock"];
    let losses = [
        instead_of("NO_RT_PUSH_IPI", "RT_PUSH_IPI", &["pull: largest latency"]),
        instead_of(broadcast, per_source, &many),
        instead_of(per_source, broadcast, &["2015: largest latency"]),
        instead_of(root_domain, broadcast, &["2017: largest latency", "2017: most push IPIs in flight"]),
    ];
    assert_loses("001-many-queues", &losses);
}

/// The collapse of the column `tip` is one of that kernel's.
#[test]
fn seed_004_hangs_on_the_kernel_that_forgets_its_buddies() {
    let rows = ["pgsql tip: 256 clients over the peak at 256", "mysql tip: 256 clients over the peak at 256"];
    assert_loses("004", &[instead_of("kernel=tip", "kernel=6.1", &rows)]);
}

/// Keeping an unused last buddy carries the gain.
#[test]
fn the_gain_of_seed_004_hangs_on_keeping_the_last_buddy() {
    let losses = [
        without("pick_mode=tip", &["tip+ with pick_mode=tip: over pgsql tip at 64"]),
        without("NO_LAST_BUDDY", &["tip+ without LAST_BUDDY: over pgsql tip at 64"]),
        without("pick_mode=after", &["tip with pick_mode=after only: over pgsql tip+ at 64"]),
        without("buddy_gate=off", &["tip+ without the gate: over pgsql tip+, few clients at 8"]),
    ];
    assert_loses("004-ablation", &losses);
    let rows = ["vmark tip+ without LAST_BUDDY: over tip"];
    assert_loses("004-vmark", &[without("NO_LAST_BUDDY", &rows)]);
}

/// What the other parts of seed 004 serve: idle CPUs, and latency.
#[test]
fn seed_004_hangs_on_the_gate_the_tick_and_the_hot_buddies() {
    let rows = ["not for idle CPUs (after): buddies left alone, by those before"];
    assert_loses("004-idle", &[without("hot_buddy_dst_busy=off", &rows)]);
    let rows =
        ["with it (tip+): mean latency, by that without", "with it (tip+): maximum latency, by that without"];
    assert_loses("004-tick", &[without("tick_latency_check=off", &rows)]);
    let rows = ["kept, gated, no check: buddies picked, by those without"];
    assert_loses("004-keyrepeat", &[without("buddy_gate=off", &rows)]);
}

#[test]
fn the_published_experiments_of_eevdf_hang_on_their_mechanisms() {
    let parity = ["context switches, by those without", "wakeups that did not preempt, by those without"];
    assert_loses("eevdf-parity", &[instead_of("RUN_TO_PARITY", "NO_RUN_TO_PARITY", &parity)]);
    let short = ["PREEMPT_SHORT: less delay of short slices: mean, by that without"];
    assert_loses("eevdf-short", &[instead_of("PREEMPT_SHORT", "NO_PREEMPT_SHORT", &short)]);
    let turns = ["B for 8: BAACCBDD: turns of A", "AACCBBCC: turns of A", "BCCAABCC: turns of A"];
    assert_loses("eevdf-slices", &[instead_of("kernel=6.12", "kernel=6.6", &turns)]);
    let dice = ["dice: more requests a second, by those with cost"];
    let raised = ["raised cost: more requests a second, by those with cost"];
    let losses = [
        instead_of("NI_RANDOM", "NO_NI_RANDOM", &dice),
        instead_of("newidle_failure=raised", "newidle_failure=time_taken", &raised),
    ];
    assert_loses("eevdf-newidle", &losses);
    assert_loses("eevdf-base-slice", &[without("base_slice_ns=2800000", &["0.70 ms: ticks of a stint"])]);
}

/// A burst is what ends the tail; and only a server that stops when the last fair task leaves, and revises
/// what it has left, goes before real-time tasks.
#[test]
fn the_published_experiments_of_groups_and_servers_hang_on_their_mechanisms() {
    let burst = ["burst of 400 ms: delay, p99, by that without burst"];
    assert_loses("bw-burst", &[without("group=g=cpu.max.burst:400000", &burst)]);
    let regression = ["write, 6.12.83: largest latency", "write, 6.12.83: mean, by that of 6.12.82"];
    let losses = [
        instead_of("dl_server_wakeup=revised_all", "dl_server_wakeup=new_period", &regression),
        without("dl_server_stop=lazy", &["write, 6.12.92: largest latency"]),
    ];
    assert_loses("dl-server-wakeup", &losses);
}

/// What PREEMPT_RT is bought for, and what it costs, hangs on each of its parts.
#[test]
fn preempt_rt_hangs_on_its_threads_and_locks() {
    let losses = [
        without("kernel_locks=spin", &["whose locks spin: worst latency, by PREEMPT_RT"]),
        without("irq_threads=driver", &["without interrupt threads: worst latency, by PREEMPT_RT"]),
        instead_of(
            "kernel=6.12-rt",
            "kernel=6.12-rt hrtimer_context=all_hard",
            &["beside loops, 6.12-rt: mean latency, by 6.12", "one fair sleeper, 6.12-rt: switches, by 6.12"],
        ),
        without("timer_thread=ktimers", &["6.12-rt with ktimers: mean latency, by 6.12"]),
    ];
    assert_loses("preempt-rt", &losses);
}

/// Both parts are needed, with and without RUN_TO_PARITY: what protects, and that the tick then asks.
#[test]
fn short_waits_hang_on_protection_by_the_shortest_slice() {
    let after =
        ["after: wait between two turns at 10", "after, NO_RUN_TO_PARITY: wait between two turns at 10"];
    let losses = [
        instead_of("kernel=6.18", "kernel=6.18 protection=deadline", &after),
        instead_of("kernel=6.18", "kernel=6.18 tick_end=deadline", &after),
        instead_of("kernel=6.12", "kernel=6.18", &["before: cases whose lag leaves the bounds"]),
    ];
    assert_loses("eevdf-protection", &losses);
}
