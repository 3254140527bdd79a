//! `schedlab explain NAME`, and `--explain NAME`: all about one name.

use super::common::Format;
use super::list::columns;
use super::output::{Failure, print};
use lab::{Explanation, explain};
use report::text::wrap;

/// Say what a kernel, feature, rule, tunable, machine, load, limit or decision is, and where it comes from.
///
/// Settings are found as they are written (NO_RT_PUSH_IPI, search=linear), and so are releases and
/// distributions (5.14, debian12).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    name: String,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    print_as(&args.name, args.format)
}

pub fn print_as(name: &str, format: Format) -> Result<(), Failure> {
    let explanation = explain(name)?;
    print(&match format {
        Format::Text => text(&explanation),
        Format::Json => explanation.into_result().to_json(),
    })
}

fn text(explanation: &Explanation) -> String {
    let Explanation { kind, name, meaning, source, sections } = explanation;
    let mut out = wrap(&format!("{kind} {name}: {meaning}"), "", "  ");
    if let Some(source) = source {
        out += &wrap(source, "source: ", "        ");
    }
    for section in sections {
        out += &format!(
            "\n{}{}",
            wrap(&format!("{}:", section.title), "", "  "),
            columns(&section.entries, "  ")
        );
    }
    out
}
