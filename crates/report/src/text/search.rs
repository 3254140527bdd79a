//! What a search says: how far it came, by which runs, and what repeats the worst.

use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use super::tune::{direction, named};
use crate::numbers::{count_u64, duration_ns, many};
use schema::{SearchMethod, SearchResult, Unit};

/// Head, the worst, and the runs that went beyond all before them.
#[must_use]
pub fn search(result: &SearchResult) -> String {
    let mut out = format!("schedlab {}, {}", result.version, many(result.runs, "run"));
    if result.failed > 0 {
        out += &format!(", of which {} have no such figure", result.failed);
    }
    if result.stopped {
        out += "; stopped then";
    }
    out.push('\n');
    for load in &result.loads {
        out += &labelled("load", load);
    }
    let goal = named(&result.goal, &result.metric);
    out += &labelled("goal", &format!("{} {goal}", direction(result.direction)));
    let method = match result.method {
        SearchMethod::Guided => "guided: most runs repeat one of the worst up to a moment before its worst",
        SearchMethod::Random => "random: a seed for each run",
    };
    out += &labelled("method", method);
    if let Some(command) = &result.command {
        out += &labelled("command", command);
    }
    let value = |value: u64| match result.metric.unit {
        Unit::Count => count_u64(value),
        Unit::Nanoseconds => duration_ns(value),
    };
    let Some(worst) = result.records.last() else {
        return fit(&format!("{out}\nno run has this figure\n"));
    };
    let reached = match &result.reached {
        Some(reached) => format!("; what was wanted was reached in run {}", reached.run),
        None => String::new(),
    };
    let worst = format!("worst: {} in run {} of {}{reached}", value(worst.value), worst.run, result.runs);
    out += &format!("\n{}", wrap(&worst, "", "  "));
    let columns = [("run", Align::Right), ("worst so far", Align::Right), ("drawn anew", Align::Right)];
    let mut table = Table::new(&columns);
    for record in &result.records {
        let drawn = if record.redraws == 0 { "-".to_owned() } else { format!("{} x", record.redraws) };
        table.row([count_u64(record.run), value(record.value), drawn]);
    }
    out += &format!("\n{}", table.render());
    fit(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn a_search_tells_its_worst_and_the_way_to_it() {
        let text = search(&example::search());
        assert!(text.starts_with("schedlab 0.1.0, 96 runs, of which 1 have no such figure\n"), "{text}");
        assert!(
            text.contains("worst: 310us in run 81 of 96; what was wanted was reached in run 81\n"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "  1        120us          -\n 17        250us        1 x\n 81        310us        3 x\n"
            ),
            "{text}"
        );
        let none = search(&schema::SearchResult { records: Vec::new(), ..example::search() });
        assert!(none.ends_with("\nno run has this figure\n"), "{none}");
    }
}
