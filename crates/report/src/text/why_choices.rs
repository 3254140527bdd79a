//! What else the scheduler could have decided for.

use super::Rows;
use super::paragraph::wrap;
use super::why::{exact, who};
use crate::numbers::duration_ns;
use schema::Nanos;
use schema::why::{Explanation, Precedence, WhyAlternative, WhyDecision};

/// So many decisions are told where not all are wanted, and so many alternatives of each.
const DECISIONS: usize = 4;
const ALTERNATIVES: usize = 4;

/// A paragraph for each decision that had alternatives.
pub(super) fn choices(one: &Explanation, rows: Rows) -> String {
    let told = |text: String| wrap(&text, "choice  ", "        ");
    sentences(one, rows, exact).into_iter().map(told).collect()
}

/// A sentence for each decision that had alternatives. Times are in the words of a table or of a page.
pub(crate) fn sentences(one: &Explanation, rows: Rows, to_the_ns: impl Fn(Nanos) -> String) -> Vec<String> {
    let all = one.stretches.iter().flat_map(|stretch| &stretch.decisions);
    let is_one = |other: &WhyAlternative| !matches!(other, WhyAlternative::Cpu { allowed: false, .. });
    let with_choice: Vec<&WhyDecision> =
        all.filter(|decision| decision.alternatives.iter().any(is_one)).collect();
    let shown = if rows == Rows::All { with_choice.len() } else { DECISIONS.min(with_choice.len()) };
    let most = if rows == Rows::All { usize::MAX } else { ALTERNATIVES };
    let told = |decision: &&WhyDecision| {
        let after = to_the_ns(Nanos(decision.at.0.saturating_sub(one.due_at.0)));
        let mut others: Vec<String> =
            decision.alternatives.iter().take(most).map(|other| alternative(other, decision.at)).collect();
        let told = decision.alternatives.len().min(most);
        let more = decision.alternatives.len() - told + decision.more_alternatives as usize;
        if more > 0 {
            others.push(format!("{more} more"));
        }
        format!("{}, after {after}: {}", decision.reason, others.join("; "))
    };
    let mut sentences: Vec<String> = with_choice[..shown].iter().map(told).collect();
    if shown < with_choice.len() {
        sentences.push(format!("{} more decisions had others", with_choice.len() - shown));
    }
    sentences
}

fn alternative(one: &WhyAlternative, at: Nanos) -> String {
    match one {
        WhyAlternative::Cpu { cpu, allowed: false, .. } => format!("CPU {cpu} was not allowed"),
        WhyAlternative::Cpu { cpu, runs: None, .. } => format!("CPU {cpu} idled"),
        WhyAlternative::Cpu { cpu, runs: Some(task), precedence, .. } => {
            let why = match precedence {
                None => ", behind it",
                Some(Precedence::Fair) => ", fair as well",
                Some(_) => ", before it",
            };
            format!("CPU {cpu} had {}{why}", who(task))
        }
        WhyAlternative::Task { task, since } => {
            format!("{} waited, for {}", who(task), duration_ns(at.0.saturating_sub(since.0)))
        }
    }
}
