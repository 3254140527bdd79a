//! What a page says of why tasks were late: explanations with their places in its timelines, and blame.

use super::{Cell, Content, Table, Unit, duration};
use crate::page::Timeline;
use crate::page::timeline::Reason;
use crate::text::Rows;
use crate::text::why::{of_due, told, who};
use crate::text::why_choices::sentences;
use crate::text::why_recorded::{clock, handler, meaning};
use crate::text::why_remedies::{elsewhere, mark};
use crate::why::CauseKind;
use schema::why::{
    Blame, BlameRow, Cause, Explanation, Remedies, RemedyCost, WhyOrigin, WhyRecorded, WhyResult, WhyStretch,
    WhyWaker,
};
use schema::{Nanos, Pid};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why tasks were late.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Why {
    /// How many wakeups there are, explained or not.
    pub wakeups: u64,
    /// The kinds of causes in words; stretches and rows name them by number.
    pub kinds: Vec<&'static str>,
    /// Single wakeups.
    pub explanations: Vec<Explained>,
    /// What the decisions mean that these name.
    pub decisions: Vec<Reason>,
    /// What all latencies are due to, by the names of the tasks.
    pub blame: Vec<Blamed>,
}

/// Why a task was late once. Times are nanoseconds on the clock of the timelines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Who was late.
    pub who: String,
    /// Its pid.
    pub pid: Pid,
    /// What should have woken it, in words that follow *after*.
    pub due: String,
    /// When that was.
    pub due_ns: u64,
    /// The same on the clock of the recording, where there is one.
    pub clock: Option<String>,
    /// When it executed.
    pub first_ns: u64,
    /// On which CPU.
    pub cpu: u16,
    /// In which timeline of the page it lies, from 0; none where none has room for it.
    pub timeline: Option<usize>,
    /// What the latency is made of, in its order.
    pub stretches: Vec<ExplainedStretch>,
    /// What its first work is longer by.
    pub afterwards: Vec<ExplainedStretch>,
    /// What else is known, a sentence each.
    pub notes: Vec<String>,
    /// Who woke whom, and what would have helped.
    pub tables: Vec<Table>,
}

/// A part of a latency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedStretch {
    /// Its cause.
    pub text: String,
    /// Number of the kind of cause.
    pub kind: usize,
    /// Where, if a CPU is concerned.
    pub cpu: Option<u16>,
    /// From when on.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// Names of what the scheduler decided about the task meanwhile.
    pub decisions: Vec<String>,
}

/// What all latencies of the tasks of a name are due to. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blamed {
    /// Who was late: a command name.
    pub victim: String,
    /// How many tasks have it.
    pub tasks: u64,
    /// How often they were woken.
    pub wakeups: u64,
    /// All latencies together.
    pub total_ns: u64,
    /// The latency that 99 of 100 do not exceed.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Each cause with its culprit, the one that takes most first.
    pub rows: Vec<BlamedRow>,
}

/// A cause with its culprit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlamedRow {
    /// In words.
    pub due_to: String,
    /// Number of the kind of cause.
    pub kind: usize,
    /// How many stretches it has.
    pub times: u64,
    /// How much of all latencies.
    pub all_ns: u64,
    /// How much of the one at the 99th percentile.
    pub p99_ns: u64,
    /// How much of those above that.
    pub tail_ns: u64,
}

impl Content {
    /// Adds why tasks were late. `zero` is what the timelines call 0, on the clock of the explanations.
    pub fn explain(&mut self, result: &WhyResult, zero: Nanos, timelines: &[Timeline]) {
        let mut decisions: BTreeMap<&str, &str> = BTreeMap::new();
        let stretches = result.explanations.iter().flat_map(|one| &one.stretches);
        for decision in stretches.flat_map(|stretch| &stretch.decisions) {
            decisions.insert(decision.reason, decision.meaning);
        }
        let reason = |(name, meaning): (&str, &str)| Reason { name: name.into(), meaning: meaning.into() };
        self.why = Some(Why {
            wakeups: result.wakeups,
            kinds: CauseKind::ALL.into_iter().map(CauseKind::words).collect(),
            explanations: result.explanations.iter().map(|one| explained(one, zero, timelines)).collect(),
            decisions: decisions.into_iter().map(reason).collect(),
            blame: result.blame.iter().map(blamed).collect(),
        });
        if let Some(worst) = result.explanations.iter().max_by_key(|one| one.latency) {
            let label = format!("longest of the explained latencies, of {}", worst.task.comm);
            self.figure(label, worst.latency.0 as f64, Unit::Ns);
        }
        // What a run says of itself stands there already.
        let new = result.notes.iter().filter(|note| !self.notes.contains(note)).cloned().collect::<Vec<_>>();
        self.notes.extend(new);
    }
}

fn explained(one: &Explanation, zero: Nanos, timelines: &[Timeline]) -> Explained {
    let on_clock = |time: Nanos| time.0.saturating_sub(zero.0);
    let (due_ns, first_ns) = (on_clock(one.due_at), on_clock(one.first));
    let has_room = |timeline: &Timeline| {
        timeline.start_ns <= due_ns && first_ns <= timeline.start_ns + timeline.length_ns
    };
    let stretch = |stretch: &WhyStretch| ExplainedStretch {
        text: told(stretch, in_words, |time| in_words(time.0)),
        kind: number(&stretch.cause),
        cpu: stretch.cpu.map(|cpu| cpu.0),
        from_ns: on_clock(stretch.from),
        to_ns: on_clock(stretch.to),
        decisions: stretch.decisions.iter().map(|decision| decision.reason.to_owned()).collect(),
    };
    let recorded = one.recorded.as_deref();
    let mut notes: Vec<String> = recorded.and_then(left).into_iter().collect();
    notes.extend(sentences(one, Rows::Folded, |time| in_words(time.0)).into_iter().map(choice));
    if let Some(remedies) = &one.remedies {
        notes.push(verdict(remedies).to_owned());
    }
    let wakers = recorded.filter(|told| !told.wakers.is_empty()).map(|told| wakers(told, one.first));
    let remedies = one.remedies.as_ref().filter(|remedies| !remedies.tried.is_empty()).map(remedies);
    Explained {
        who: who(&one.task),
        pid: one.task.pid,
        due: of_due(&one.due),
        due_ns,
        clock: recorded.map(|_| clock(one.due_at)),
        first_ns,
        cpu: one.cpu.0,
        timeline: timelines.iter().position(has_room),
        stretches: one.stretches.iter().map(stretch).collect(),
        afterwards: one.afterwards.iter().map(stretch).collect(),
        notes,
        tables: wakers.into_iter().chain(remedies).collect(),
    }
}

fn number(cause: &Cause) -> usize {
    CauseKind::of(cause) as usize
}

/// Which choices there were.
fn choice(told: String) -> String {
    format!("Choice: {told}.")
}

/// In the words of a page.
fn in_words(ns: u64) -> String {
    duration(ns as f64)
}

/// How a task of a recording had left its CPU.
fn left(told: &WhyRecorded) -> Option<String> {
    let (left, wait) = (told.left.as_ref()?, told.wait?);
    let [state, means] = [left.state, meaning(left.state)];
    let wait = duration(wait.0 as f64);
    Some(format!("Before: {state} ({means}) since {}, {wait} before it executed.", clock(left.at)))
}

/// Who woke whom, the last waker first, back to what began it.
fn wakers(told: &WhyRecorded, first: Nanos) -> Table {
    let columns = [
        ("woken by", Unit::Text),
        ("so long before it executed", Unit::Ns),
        ("had waited itself", Unit::Ns),
        ("note", Unit::Text),
    ];
    let mut table = Table::new("Who woke whom", &columns);
    let row = |waker: &WhyWaker| {
        let note = match (waker.woken, &waker.left) {
            (None, _) => "its own wakeup is not recorded",
            (Some(_), Some(left)) if left.state == "D" => "behind a D sleep",
            (Some(_), _) => "",
        };
        vec![
            Cell::text(who(&waker.task)),
            Cell::count(first.0.saturating_sub(waker.woke.0)),
            waker.woken.map_or(Cell::Empty(()), |_| Cell::count(waker.waited.0)),
            Cell::text(note),
        ]
    };
    table.rows = told.wakers.iter().map(row).collect();
    let origin = match &told.origin {
        WhyOrigin::Handler { handler: Some(one) } => Some(handler(one)),
        WhyOrigin::Handler { handler: None } => Some("an interrupt".to_owned()),
        WhyOrigin::Cycle { task } => Some(format!("and so on in a circle, which {} closes", who(task))),
        WhyOrigin::Longer {} => Some("and so on".to_owned()),
        WhyOrigin::Preempted {} | WhyOrigin::NotRecorded {} => None,
    };
    let row = |text| vec![Cell::Text(text), Cell::Empty(()), Cell::Empty(()), Cell::text("")];
    table.rows.extend(origin.map(row));
    table
}

fn verdict(remedies: &Remedies) -> &'static str {
    match (remedies.any_helps, remedies.tried.is_empty()) {
        (_, true) => "Nothing could be tried against it: no setting or priority is related.",
        (true, _) => "What is marked + or ! would have helped.",
        (false, _) => "Nothing that was tried helps.",
    }
}

fn remedies(remedies: &Remedies) -> Table {
    let columns = [
        ("what is changed", Unit::Text),
        ("this latency", Unit::Ns),
        ("worst later", Unit::Ns),
        ("elsewhere", Unit::Text),
        ("why it was tried", Unit::Text),
    ];
    let mut table = Table::new("What would have helped", &columns);
    let run = match remedies.replayed {
        None => "The same run".to_owned(),
        Some(there) => format!("A replay, from the wakeup on that was due at {} there,", clock(there.due_at)),
    };
    table.note = Some(format!(
        "{run} with one thing changed from just before the moment on. It helps (+) if this latency and the worst \
         one later are both shorter by a tenth; (!) but others wait longer by a tenth."
    ));
    let costs = |cost: &RemedyCost| elsewhere(cost, "→", in_words);
    let later = Cell::count(remedies.worst_later.0);
    let now = remedies.replayed.map_or(Cell::Empty(()), |there| Cell::count(there.latency.0));
    table.rows.push(vec![Cell::text("(nothing)"), now, later, Cell::text(""), Cell::text("")]);
    for remedy in &remedies.tried {
        let mark = mark(remedy).map_or(String::new(), |mark| format!("{mark} "));
        let elsewhere: Vec<String> = remedy.elsewhere.iter().map(costs).collect();
        table.rows.push(vec![
            Cell::Text(format!("{mark}{}", remedy.change)),
            Cell::count(remedy.latency.0),
            Cell::count(remedy.worst_later.0),
            Cell::Text(elsewhere.join(", ")),
            Cell::text(&remedy.because),
        ]);
    }
    table
}

fn blamed(blame: &Blame) -> Blamed {
    let row = |row: &BlameRow| BlamedRow {
        due_to: row.due_to.clone(),
        kind: number(&row.example),
        times: row.times,
        all_ns: row.all.0,
        p99_ns: row.p99.0,
        tail_ns: row.tail.0,
    };
    Blamed {
        victim: blame.victim.to_string(),
        tasks: blame.tasks,
        wakeups: blame.wakeups,
        total_ns: blame.total.0,
        p99_ns: blame.p99.0,
        max_ns: blame.max.0,
        rows: blame.rows.iter().map(row).collect(),
    }
}
