//! `--explain NAME`: all about one name.

use super::list::columns;
use super::output::{self, Failure};
use report::text::wrap;
use schedlab::{Explanation, explain};

pub fn print(name: &str) -> Result<(), Failure> {
    output::print(&text(&explain(name)?))
}

fn text(explanation: &Explanation) -> String {
    let Explanation { kind, name, meaning, source, sections } = explanation;
    let mut out = wrap(&format!("{kind} {name}: {meaning}"), "", "  ");
    if let Some(source) = source {
        out += &wrap(source, "source: ", "        ");
    }
    for section in sections {
        out += &format!("\n{}:\n{}", section.title, columns(&section.entries, "  "));
    }
    out
}
