//! Pages that explain: single wakeups, each with its place in a timeline, and blame.

use super::recorded::{timeline, timeline_of};
use crate::error::Error;
use crate::experiment::{Experiment, Run};
use crate::inspect;
use crate::sources::shown;
use crate::why::{Answer, AskedRecording, Question, answer};
use report::page::{Content, Page, Timeline};
use schema::why::WhyResult;
use schema::{Nanos, Window};

/// Why tasks were late, and the page that shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// What was found.
    pub result: WhyResult,
    /// The same to look at, with all that is known of the run or of the recording.
    pub page: Page,
}

/// [`why`](crate::why()), with its page.
///
/// # Errors
/// Those of `why`.
pub fn why_with_page(experiment: &Experiment, question: Question) -> Result<Explained, Error> {
    let Answer { why, run } = answer(experiment, question)?;
    let page = run.page_with(&why);
    Ok(Explained { result: why, page })
}

impl AskedRecording {
    /// What was found, with its page.
    ///
    /// # Errors
    /// None that opening the recording has not had.
    pub fn with_page(self) -> Result<Explained, Error> {
        let AskedRecording { why: result, path, opened, question } = self;
        let zero = Nanos(opened.zero_ns);
        let whole = timeline(&shown(&path), &opened);
        let timelines =
            timelines(whole, late(&result, zero), |name, stretch| timeline_of(name, &opened, stretch));
        let mut content = Content::of_inspection(&inspect::look(&path, opened, &question.looks_at())?);
        content.explain(&result, zero, &timelines);
        Ok(Explained { result, page: Page { content, timelines } })
    }
}

impl Run {
    /// The run as a page that also says why the worst wakeups of these tasks, or of all, were late, and what
    /// all latencies are due to; without that where nobody was woken. `experiment` is the one that ran, with
    /// its log.
    ///
    /// # Errors
    /// One of its tasks is not there.
    pub fn page_with_reasons(&self, experiment: &Experiment) -> Result<Page, Error> {
        let question = Question { blame: true, ..Question::default() };
        match crate::why::explain(experiment, self, &experiment.tasks, question) {
            Ok(why) => Ok(self.page_with(&why)),
            Err(Error::NoWakeups | Error::NoWakeupsThere) => Ok(self.page()),
            Err(error) => Err(error),
        }
    }

    fn page_with(&self, why: &WhyResult) -> Page {
        let mut content = self.content();
        let Some(logged) = &self.logged else { return Page::of(content) };
        let zero = Nanos(logged.start.0);
        let whole = logged.timeline("run", self.result.window);
        let timelines =
            timelines(whole, late(why, zero), |name, stretch| logged.timeline(name, Some(stretch)));
        content.explain(why, zero, &timelines);
        Page { content, timelines }
    }
}

/// As many stretches are shown where a page has no room for the whole.
const MOST_STRETCHES: usize = 20;
/// At least so much before and after an explained wakeup, nanoseconds.
const AROUND_NS: u64 = 20_000_000;

/// From when each was due to when it executed, on the clock of the timelines.
fn late(why: &WhyResult, zero: Nanos) -> impl Iterator<Item = Window> {
    let on_clock = move |time: Nanos| time.0.saturating_sub(zero.0);
    why.explanations
        .iter()
        .map(move |one| Window { from_ns: on_clock(one.due_at), to_ns: on_clock(one.first) })
}

/// The whole; where a page has no room for it, a stretch around each explained wakeup, the worst first.
fn timelines(
    whole: Timeline,
    late: impl Iterator<Item = Window>,
    part: impl Fn(&str, Window) -> Timeline,
) -> Vec<Timeline> {
    if whole.has_room() {
        return vec![whole];
    }
    let end_ns = whole.start_ns + whole.length_ns;
    let mut stretches: Vec<Window> = Vec::new();
    for Window { from_ns: due, to_ns: first } in late {
        let is_in = |stretch: &Window| stretch.from_ns <= due && first <= stretch.to_ns;
        let is_whole = whole.start_ns <= due && first <= end_ns;
        if is_whole && !stretches.iter().any(is_in) && stretches.len() < MOST_STRETCHES {
            let around = AROUND_NS.max(2 * (first - due));
            let from_ns = due.saturating_sub(around).max(whole.start_ns);
            stretches.push(Window { from_ns, to_ns: (first + around).min(end_ns) });
        }
    }
    if stretches.is_empty() {
        return vec![whole];
    }
    let timeline = |stretch: Window| {
        let [from, to] = [stretch.from_ns, stretch.to_ns].map(report::numbers::moment);
        part(&format!("{from} to {to}").replace("us", "µs"), stretch)
    };
    stretches.into_iter().map(timeline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::page::timeline::{Builder, Event, Kind};

    fn part(name: &str, stretch: Window) -> Timeline {
        Builder::new(name, 1, Nanos(stretch.from_ns), Nanos(stretch.to_ns), stretch.from_ns).finish()
    }

    fn late(due_ns: u64, latency_ns: u64) -> Window {
        Window { from_ns: due_ns, to_ns: due_ns + latency_ns }
    }

    /// The third lies in the stretch of the first, the last is due as the run begins.
    const LATE: [(u64, u64); 4] =
        [(3_000_000_000, 50_000_000), (7_000_000_000, 1_000), (3_060_000_000, 900), (5, 800)];

    #[test]
    fn without_room_for_the_whole_each_explained_wakeup_has_its_stretch() {
        let mut whole = part("run", Window { from_ns: 0, to_ns: 10_000_000_000 });
        let names = |whole: &Timeline| -> Vec<String> {
            let made =
                timelines(whole.clone(), LATE.map(|(due, latency)| late(due, latency)).into_iter(), part);
            made.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&whole), ["run"]);
        // More than any page has room for.
        whole.events = vec![Event { time_ns: 1, cpu: 0, task: 0, kind: Kind::Wakeup(0) }; 2_000_000];
        assert_eq!(names(&whole), ["2.9s to 3.15s", "6.98s to 7.02s", "0s to 20.001ms"]);
    }
}
