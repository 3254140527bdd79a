//! What the model's own error makes of an answer: docs/accuracy.md, as it was measured on recordings.

use schema::TuneFigure;

const PAGE: &str = include_str!("../../../docs/accuracy.md");

/// The question that is about a change of a setting. One setting has recordings with and without it.
const OF_SETTINGS: &str = "What would change with another setting (START_DEBIT)?";

/// Which question of the page is about a figure: the beginning of its key, the end of it, the question.
const QUESTIONS: &[(&str, &[&str], &str)] = &[
    (
        "cyclictest",
        &["max", "worst_latency", "p99", "p99_latency"],
        "How late is a real-time timer, at worst?",
    ),
    (
        "cyclictest",
        &["min", "avg", "mean_latency"],
        "How late is a real-time timer beside other work, usually?",
    ),
    ("rt_migrate", &[], "What do real-time threads do that share mutexes?"),
    ("oltp", &[], "How much does a database do with more clients?"),
    ("hog", &[], "How do fair tasks share CPUs?"),
    ("periodic", &[], "What do periodic real-time tasks do?"),
    ("rt_tasks", &[], "How long do the real-time tasks of a recording wait?"),
];

/// A row of the page's first table.
struct Answer<'p> {
    /// Typical distance from the recordings, a share.
    off: f64,
    words: &'p str,
    answer: &'p str,
}

fn answer(question: &str) -> Option<Answer<'static>> {
    let row =
        PAGE.lines().find_map(|line| line.strip_prefix("| ")?.strip_prefix(question)?.strip_prefix(" | "))?;
    let mut cells = row.split(" | ");
    let (words, _, answer) = (cells.next()?, cells.next()?, cells.next()?);
    let off = words.strip_suffix(" %")?.parse::<f64>().ok()? / 100.0;
    Some(Answer { off, words, answer: answer.trim_end_matches(" |").trim_matches('*') })
}

/// What to make of a gain in this figure, in sentences.
#[must_use]
pub fn trust(key: &str, gained: Option<&TuneFigure>) -> Vec<String> {
    let (load, last) = (key.split('.').next().unwrap_or(key), key.rsplit('.').next().unwrap_or(key));
    let about = QUESTIONS
        .iter()
        .find(|(begins, ends, _)| load.starts_with(begins) && (ends.is_empty() || ends.contains(&last)));
    let mut said = vec![match about.and_then(|(.., question)| Some((question, answer(question)?))) {
        Some((question, Answer { words, answer, .. })) => {
            format!(
                "Of recordings of real kernels, \"{question}\": typically {words} off: {}.",
                plain(answer)
            )
        }
        None => format!(
            "No recording of a real kernel has a figure as {key}: how far the model is off in it is unknown."
        ),
    }];
    let Some(changes) = answer(OF_SETTINGS) else { return said };
    said.push(format!(
        "What a setting changes is typically {} off where it was recorded with and without it, which is \
         START_DEBIT alone: {}.",
        changes.words,
        plain(changes.answer)
    ));
    if let Some(TuneFigure { base, with, .. }) =
        gained.filter(|figure| figure.base > 0.0 && figure.with > 0.0)
    {
        let factor = (with / base).max(base / with);
        said.push(if factor - 1.0 > changes.off {
            "The gain is larger than that. But one setting that was recorded is no proof for others: that it is \
             a gain on a real machine, too, is not shown. Measure it there."
                .to_owned()
        } else {
            "The gain is smaller than that: a real machine may as well show none. Measure it there."
                .to_owned()
        });
    }
    said
}

/// `**no**: order of magnitude only` without the marks.
fn plain(answer: &str) -> String {
    answer.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_answers_every_question() {
        for question in QUESTIONS.iter().map(|(.., question)| *question).chain([OF_SETTINGS]) {
            let found = answer(question).unwrap_or_else(|| panic!("{question} is in docs/accuracy.md"));
            assert!((0.0..2.0).contains(&found.off) && !found.answer.is_empty(), "{question}");
        }
    }

    #[test]
    fn a_gain_is_set_against_the_error_of_changes() {
        let figure = |with| TuneFigure { base: 100.0, with, difference: with - 100.0, interval: None };
        let said = |key, with| trust(key, Some(&figure(with))).join(" ");
        let off = answer(OF_SETTINGS).expect("a row").off;
        assert!(said("cyclictest.p99_latency", 100.0 / (1.5 + off)).contains("larger than that"));
        assert!(said("cyclictest.p99_latency", 100.0 / (1.0 + off / 2.0)).contains("smaller than that"));
        assert!(said("cyclictest.t0.max", 50.0).contains("at worst?"));
        assert!(said("fair_tasks.wait", 50.0).contains("is unknown"));
    }
}
