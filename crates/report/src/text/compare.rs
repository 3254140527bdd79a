//! A comparison: first in sentences, then as a table of what changed.

use super::paragraph::{fit, wrap};
use super::{Rows, head, notes, replay_fidelity, replay_verdict, warnings};
use crate::numbers::{count, digits3, duration, duration_ns, many};
use schema::comparison::{
    Comparison, Configuration, IntervalMethod, MetricComparison, VariantComparison, Verdict,
};
use schema::{Better, Unit};

mod table;

pub(super) use table::COLUMNS;

/// Sentences for one variant.
const MAX_SENTENCES: usize = 5;
/// Metrics that changed, in a folded table.
const MAX_ROWS: usize = 30;
/// The same of tasks on which the replay's verdict is poor.
const MAX_POOR_ROWS: usize = 10;
/// Columns for the name of a metric.
const LABEL_COLUMNS: u16 = 26;

/// The whole comparison: head, then for each variant what changed, in words and numbers, how it was judged,
/// how close a replay came to its recording, and notes.
#[must_use]
pub fn comparison(comparison: &Comparison, rows: Rows) -> String {
    let mut sections = vec![comparison_head(comparison), warnings(&comparison.warnings)];
    for variant in &comparison.variants {
        sections.push(variant_section(comparison, variant, rows));
    }
    sections.push(method(comparison));
    sections.extend(comparison.replay.iter().map(|fidelity| replay_fidelity(fidelity, rows)));
    sections.push(notes(&comparison.notes));
    sections.push(comparison.replay.iter().map(|replay| replay_verdict(replay, comparison.window)).collect());
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

/// What was compared, with all that a repetition needs.
fn comparison_head(comparison: &Comparison) -> String {
    let seeds = match comparison.seeds.as_slice() {
        [seed] => format!("seed {seed}"),
        seeds => format!("{} seeds ({})", seeds.len(), ranges(seeds)),
    };
    let simulated = duration_ns(comparison.simulated_ns);
    let mut out =
        wrap(&format!("schedlab {}, {seeds}, {simulated} simulated", comparison.version), "", "         ");
    for load in &comparison.loads {
        out += &head::labelled("load", load);
    }
    if let Some(window) = comparison.window {
        out += &head::labelled("window", &format!("{} of each run: all figures", head::stretch(window)));
    }
    out += &head::labelled("base", &configuration(&comparison.base));
    for variant in &comparison.variants {
        out += &head::labelled("with", &configuration(&variant.configuration));
    }
    if let Some(command) = &comparison.command {
        out += &head::labelled("command", command);
    }
    out
}

pub(crate) fn configuration(configuration: &Configuration) -> String {
    let Configuration { name, machine, kernel, .. } = configuration;
    format!("{name} = kernel {}, machine {}", head::kernel(kernel), head::machine(machine))
}

/// Ascending numbers as on a kernel command line: `1-10,42`.
pub(crate) fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let parts: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    parts.join(",")
}

pub(super) fn variant_section(comparison: &Comparison, variant: &VariantComparison, rows: Rows) -> String {
    let name = &variant.configuration.name;
    let title = format!("{name} against {}: {}", comparison.base.name, outcome(comparison, variant));
    let mut out = wrap(&title, "", "  ");
    for metric in headlines(variant) {
        out += &wrap(&sentence(metric, name), "  ", "    ");
    }
    let [trusted, poor] = [false, true].map(|poor| in_table(variant, poor, rows));
    out += &table::table(variant, &trusted);
    if !poor.is_empty() {
        out += "figures in which the replay, or that of their task, is far from the recording:\n";
        out += &table::table(variant, &poor);
    }
    if trusted.iter().chain(&poor).any(|metric| is_doubtful(metric)) {
        out += "~ changes by a smaller factor than the replay itself is off in this figure\n";
    }
    let unchecked = |metric: &&MetricComparison| metric.replay_error.is_none();
    if of_replay(variant) && trusted.iter().chain(&poor).any(unchecked) {
        out += "- under \"replay off\": the recording does not have this figure\n";
    }
    out += &rest(variant, rows);
    out
}

/// Whether some of its figures stand beside a recording.
fn of_replay(variant: &VariantComparison) -> bool {
    variant.metrics.iter().any(|metric| metric.replay_error.is_some())
}

/// The metrics that a table shows, those of the recorded command first.
fn in_table(variant: &VariantComparison, poor: bool, rows: Rows) -> Vec<&MetricComparison> {
    let all = variant.metrics.iter().filter(|metric| metric.poor == poor);
    let mut metrics: Vec<&MetricComparison> = match rows {
        Rows::All => all.collect(),
        Rows::Folded => all.filter(|metric| shown(metric) && table::can_be_seen(metric)).collect(),
    };
    // Stable: otherwise they stay in their order.
    metrics.sort_by_key(|metric| (metric.metric.key != "replay.finish", !metric.of_command));
    if rows == Rows::Folded {
        metrics.truncate(if poor { MAX_POOR_ROWS } else { MAX_ROWS });
    }
    metrics
}

/// How much changed, or why nothing can, in words.
pub(crate) fn outcome(comparison: &Comparison, variant: &VariantComparison) -> String {
    if variant.same_as_base { same(&comparison.base, &variant.configuration) } else { verdict(variant) }
}

/// Why nothing can change.
fn same(base: &Configuration, variant: &Configuration) -> String {
    let profile = &variant.kernel.profile;
    match (&variant.kernel.asked, &base.kernel.asked) {
        (asked, of_base) if asked != of_base => {
            let name = |asked: &Option<String>| asked.clone().unwrap_or_else(|| profile.clone());
            format!(
                "{} runs as {profile}, and so does {}: what differs between the two is not modelled, so this comparison \
                 says nothing",
                name(asked),
                name(of_base)
            )
        }
        _ => format!(
            "one and the same simulation, kernel {profile} with equal settings, so nothing can change"
        ),
    }
}

/// How many metrics changed, in words.
fn verdict(variant: &VariantComparison) -> String {
    let all = variant.metrics.len();
    let differ = all - variant.count(Verdict::Identical);
    let untested = variant.count(Verdict::Untested);
    let mut text = if untested > 0 && untested == differ {
        format!("{differ} of {all} metrics differ; one seed cannot tell change from chance")
    } else if variant.exact {
        format!("{differ} of {all} metrics changed; no seed makes a difference")
    } else {
        format!("{} of {all} metrics changed", variant.count(Verdict::Changed))
    };
    if untested > 0 && untested < differ {
        text += &format!("; differing under the only seed that has them: {untested}");
    }
    let doubtful = variant.metrics.iter().filter(|metric| is_doubtful(metric)).count();
    if doubtful > 0 {
        text += &format!("; {doubtful} of them by less than the replay itself is off");
    }
    text
}

/// A change that is smaller than the replay's own distance from the recording.
fn is_doubtful(metric: &MetricComparison) -> bool {
    shown(metric) && metric.is_within_replays_error()
}

/// Metrics that are worth a sentence and differ, in the order of the metrics.
pub(crate) fn headlines(variant: &VariantComparison) -> Vec<&MetricComparison> {
    let mut chosen: Vec<_> = variant
        .metrics
        .iter()
        .filter(|metric| metric.metric.headline && shown(metric) && !metric.poor && can_be_told(metric))
        .collect();
    chosen.sort_by_key(|metric| metric.rank);
    chosen.truncate(MAX_SENTENCES);
    chosen
}

/// Whether a difference is one in the digits of a sentence.
fn can_be_told(metric: &MetricComparison) -> bool {
    const SMALLEST: f64 = 0.000_05;
    metric.times.is_none_or(|times| times - 1.0 >= SMALLEST)
}

fn shown(metric: &MetricComparison) -> bool {
    matches!(metric.verdict, Verdict::Changed | Verdict::Untested)
}

/// A difference in words, and what the recording says against it.
pub(crate) fn sentence(metric: &MetricComparison, name: &str) -> String {
    let mut text = difference(metric, name);
    if metric.is_in_doubt()
        && let Some(off) = table::off(metric)
    {
        text += &format!("; the replay itself is {off} off in this figure");
    }
    text
}

/// One difference in hyperfine's words: `cyclictest worst latency: 3.10 ± 0.40 times lower with
/// NO_RT_PUSH_IPI`.
fn difference(metric: &MetricComparison, name: &str) -> String {
    let label = &metric.metric.label;
    let direction = match (metric.difference < 0.0, metric.metric.is_a_moment()) {
        (true, false) => "lower",
        (false, false) => "higher",
        (true, true) => "earlier",
        (false, true) => "later",
    };
    // A factor that may as well be 0 says nothing: the two values do.
    let certain = |times: &f64| metric.times_plus_minus.is_none_or(|half| half < *times);
    let Some(times) = metric.times.filter(certain) else {
        let (with, without) = (value(metric, metric.variant), value(metric, metric.base));
        return format!("{label}: {with} instead of {without} with {name}");
    };
    // What is less than its last digit would look like certainty.
    let told = |half: &String| half != "0.00";
    let plus_minus = metric.times_plus_minus;
    if times >= 1.1 {
        let plus_minus = plus_minus.map(digits3).filter(told);
        let plus_minus = plus_minus.map_or(String::new(), |half| format!(" ± {half}"));
        return format!("{label}: {}{plus_minus} times {direction} with {name}", digits3(times));
    }
    // Less than a tenth is told in per cent of the base. `times` is base / variant when it got lower, so its
    // uncertainty shrinks by the square of it on the way to variant / base.
    let share = if metric.difference < 0.0 { 1.0 - 1.0 / times } else { times - 1.0 };
    let scale = if metric.difference < 0.0 { 100.0 / (times * times) } else { 100.0 };
    let plus_minus = plus_minus.map(|half| format!("{:.2}", half * scale)).filter(told);
    let plus_minus = plus_minus.map_or(String::new(), |half| format!(" ± {half}"));
    format!("{label}: {:.2}{plus_minus} % {direction} with {name}", share * 100.0)
}

/// `+` for better, `-` for worse, `*` for a change that is neither, `~` for one that may be the replay's own
/// error.
fn mark(metric: &MetricComparison) -> &'static str {
    match (metric.metric.better, metric.difference < 0.0) {
        _ if !shown(metric) => "",
        _ if is_doubtful(metric) => "~",
        (Better::Neutral, _) => "*",
        (Better::Lower, true) | (Better::Higher, false) => "+",
        (Better::Lower, false) | (Better::Higher, true) => "-",
    }
}

fn value(metric: &MetricComparison, value: f64) -> String {
    match metric.metric.unit {
        Unit::Count => count(value),
        Unit::Nanoseconds => duration(value),
    }
}

fn signed(metric: &MetricComparison, difference: f64) -> String {
    let text = value(metric, difference);
    if difference > 0.0 { format!("+{text}") } else { text }
}

/// The key of a metric that has no label here, for people: as its label has it, where that has a name in it.
fn in_words(key: &str) -> String {
    let words = |key: &str| key.replace(['.', '_'], " ");
    for (prefix, of) in [("groups.", "group"), ("idle.", "idle state")] {
        // Names of groups and states may have dots of their own.
        if let Some((name, metric)) = key.strip_prefix(prefix).and_then(|rest| rest.rsplit_once('.')) {
            return format!("{of} {name}: {}", words(metric));
        }
    }
    words(key)
}

/// What the table does not show.
fn rest(variant: &VariantComparison, rows: Rows) -> String {
    let mut out = String::new();
    if rows == Rows::Folded {
        let shown = variant.metrics.iter().filter(|metric| shown(metric)).count();
        let listed = [false, true].map(|poor| in_table(variant, poor, rows).len()).iter().sum::<usize>();
        if shown > listed {
            out += &format!(
                "{} changed less; --full shows them\n",
                many((shown - listed) as u64, "more metric")
            );
        }
        let identical = variant.count(Verdict::Identical);
        let not_told = variant.count(Verdict::NotSignificant);
        let metrics = |count: usize| many(count as u64, "metric");
        // Who sees no figure at all is told how to see some.
        let hint = if shown == 0 && not_told > 0 { "; --full shows their figures" } else { "" };
        match (identical, not_told) {
            (0, 0) => {}
            (_, 0) => out += &format!("{} identical under every seed\n", metrics(identical)),
            (0, _) => out += &format!("{} not told from chance{hint}\n", metrics(not_told)),
            _ => {
                let identical = metrics(identical);
                let text =
                    format!("{identical} identical under every seed, {not_told} not told from chance{hint}");
                out += &wrap(&text, "", "  ");
            }
        }
    }
    for (keys, owner) in [(&variant.only_in_base, "base"), (&variant.only_in_variant, "this variant")] {
        if let [first, ..] = keys.as_slice() {
            let count = many(keys.len() as u64, "metric");
            let more = if keys.len() > 1 { ", ..." } else { "" };
            let first = in_words(first);
            out += &wrap(&format!("{count} in {owner} only, so not compared: {first}{more}"), "", "  ");
        }
    }
    let fewest = variant.metrics.iter().min_by_key(|metric| metric.pairs);
    let most = variant.metrics.iter().map(|metric| metric.pairs).max().unwrap_or(0);
    if let Some(metric) = fewest.filter(|metric| metric.pairs < most) {
        let few = metric.pairs;
        let text = format!("{}: only {few} of {most} seeds have it under both", metric.metric.label);
        out += &wrap(&text, "", "  ");
    }
    out
}

/// How it was judged, for the reader who asks.
pub(crate) fn method(comparison: &Comparison) -> String {
    let marks = "+ better, - worse, * neither.";
    if comparison.variants.iter().all(|variant| variant.exact) {
        return wrap(marks, "", "");
    }
    let seeds = comparison.seeds.len();
    let text = match comparison.method.interval {
        IntervalMethod::None => {
            return wrap(&format!("{marks} One seed gives no interval: repeat with more seeds."), "", "");
        }
        IntervalMethod::StudentT => format!("Student's t over {seeds} seeds"),
        IntervalMethod::BcaBootstrap => format!("BCa bootstrap over {seeds} seeds"),
    };
    let has_none = |metric: &MetricComparison| shown(metric) && metric.interval.is_none();
    let varying = comparison.variants.iter().filter(|variant| !variant.exact);
    let dash = match varying.flat_map(|variant| &variant.metrics).any(has_none) {
        true => " No interval (-): every seed gives the same difference.",
        false => "",
    };
    let text = format!(
        "{marks} 95% interval of the difference, paired by seed: {text}.{dash} Changed: the interval excludes 0 and the \
         finding is among those of which {:.0}% are expected to be chance (Benjamini-Hochberg).",
        comparison.method.false_discovery_rate * 100.0
    );
    wrap(&text, "", "")
}

#[cfg(test)]
mod tests;
