//! What would have helped against a latency, as a table.

use super::Rows;
use super::paragraph::wrap;
use super::table::{Align, Table};
use super::why::exact;
use super::why_recorded;
use crate::numbers::duration_ns;
use schema::why::{Remedies, Remedy, RemedyCost};

/// So many changes that help are shown where not all are wanted, and so many of the others.
const SHOWN: usize = 8;

/// What was tried against a latency, and what comes of it.
pub(super) fn table(remedies: &Remedies, rows: Rows) -> String {
    if remedies.tried.is_empty() {
        return "nothing could be tried against it: no setting or priority is related\n".to_owned();
    }
    let columns = [
        ("\nwhat would have helped", Align::Left),
        ("this\nlatency", Align::Right),
        ("worst\nlater", Align::Right),
        ("\nelsewhere", Align::Left),
    ];
    let mut table = Table::new(&columns);
    table.limit(0, 26);
    table.limit(3, 32);
    let now = remedies.replayed.map_or("as above".to_owned(), |there| duration_ns(there.latency.0));
    let unchanged = ["(nothing)".to_owned(), now, duration_ns(remedies.worst_later.0)];
    table.row(unchanged.into_iter().chain([String::new()]));
    let (helpful, others): (Vec<&Remedy>, Vec<&Remedy>) =
        remedies.tried.iter().partition(|remedy| remedy.helps);
    let most = if rows == Rows::All { remedies.tried.len() } else { SHOWN };
    for remedy in helpful.iter().take(most).chain(others.iter().take(most)) {
        let mark = mark(remedy).unwrap_or(' ');
        let elsewhere: Vec<String> =
            remedy.elsewhere.iter().map(|cost| elsewhere(cost, "->", duration_ns)).collect();
        table.row([
            format!("{mark} {}", remedy.change),
            duration_ns(remedy.latency.0),
            duration_ns(remedy.worst_later.0),
            elsewhere.join(", "),
        ]);
    }
    let has = |mark: bool| helpful.iter().any(|remedy| remedy.costs_others == mark);
    let legend = [
        (has(false), "+ helps, in this run"),
        (has(true), "! helps, in this run, but others wait longer by a tenth or more"),
        (!remedies.any_helps, "nothing here helps"),
    ];
    let legend: Vec<&str> = legend.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words).collect();
    let hidden = |of: &[&Remedy], what: &str| match of.len().saturating_sub(most) {
        0 => String::new(),
        more => format!("({more} more that {what})\n"),
    };
    let told =
        format!("{}{}{}", hidden(&helpful, "help, less"), hidden(&others, "do not help"), legend.join("\n"));
    let there = remedies.replayed.map_or(String::new(), |there| {
        let (due, latency) = (why_recorded::clock(there.due_at), exact(there.latency));
        let told = format!("in its replay, where it is due at {due} and executes {latency} later:");
        format!("\n{}", wrap(&told, "", ""))
    });
    format!("{there}\n{}{told}\n", table.render())
}

/// What marks a change that helps: one that costs nobody much, and one for which others pay.
pub(crate) fn mark(remedy: &Remedy) -> Option<char> {
    remedy.helps.then_some(if remedy.costs_others { '!' } else { '+' })
}

/// What a remedy costs, with this arrow and these words for a number of nanoseconds.
pub(crate) fn elsewhere(cost: &RemedyCost, arrow: &str, duration: impl Fn(u64) -> String) -> String {
    let RemedyCost { what, before, after } = cost;
    match what.strip_suffix("_ns") {
        Some(time) => {
            format!("{} {} {arrow} {}", time.replace('_', " "), duration(*before), duration(*after))
        }
        None => format!("{} {before} {arrow} {after}", what.replace('_', " ")),
    }
}
