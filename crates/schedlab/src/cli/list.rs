//! `schedlab list`: what there is, with a sentence each.

use super::common::Format;
use super::explain;
use super::output::{Failure, print};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use lab::{Entry, Kind};
use report::text::{columns as line_columns, fit, wrap};

/// Names longer than this stand on a line of their own.
const NAME_COLUMNS: usize = 28;

/// List kernels, features, machines, loads, what is not modelled and whatever else has a name, with a
/// sentence each.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to list [default: the kinds].
    #[arg(value_name = "KIND", value_enum)]
    kind: Option<Listed>,
    /// Say all about one of them.
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Listed {
    /// Profiles for --kernel.
    Kernels,
    /// Distributions for --kernel, each with the profile as which it runs.
    Distributions,
    /// Features as in Linux's sched_features, for --set.
    Features,
    /// Choices between historical behaviours, for --set.
    Rules,
    /// Sysctls, for --set.
    Tunables,
    /// Names that stand for several settings.
    Aliases,
    /// Machines for --machine.
    Machines,
    /// Standard loads.
    Loads,
    /// Decisions that the scheduler counts, by reason.
    Decisions,
    /// What a run counts, of the machine and of each CPU.
    Counters,
    /// Published experiments for `reproduce`.
    Experiments,
    /// What is not modelled, and what that changes.
    Limits,
    /// Words of results, and what they mean there.
    Terms,
    /// Sections, invariants and examples of docs/spec.
    Specification,
}

impl Listed {
    /// All kinds, with what is of this kind.
    fn entries() -> Vec<Entry> {
        let kinds = Listed::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let entry = |kind: PossibleValue| {
            let help = kind.get_help().map_or(String::new(), ToString::to_string);
            Entry::new(kind.get_name(), format!("{help}."))
        };
        kinds.map(entry).collect()
    }

    fn kind(self) -> Kind {
        match self {
            Listed::Kernels => Kind::Kernel,
            Listed::Distributions => Kind::Distribution,
            Listed::Features => Kind::Feature,
            Listed::Rules => Kind::Rule,
            Listed::Tunables => Kind::Tunable,
            Listed::Aliases => Kind::Alias,
            Listed::Machines => Kind::Machine,
            Listed::Loads => Kind::Load,
            Listed::Decisions => Kind::Decision,
            Listed::Counters => Kind::Counter,
            Listed::Experiments => Kind::Experiment,
            Listed::Limits => Kind::Limit,
            Listed::Terms => Kind::Term,
            Listed::Specification => Kind::Specification,
        }
    }
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    match (&args.explain, args.kind.map(Listed::kind), args.format) {
        (Some(name), _, format) => explain::print_as(name, format),
        (None, Some(kind), Format::Text) => print(&columns(&kind.entries(), "")),
        (None, Some(kind), Format::Json) => print(&kind.list().to_json()),
        (None, None, Format::Text) => print(&columns(&Listed::entries(), "")),
        (None, None, Format::Json) => print(&lab::listed("kind", Listed::entries()).to_json()),
    }
}

/// Names in one column, sentences in the next; a sentence without a name takes the whole width.
pub fn columns(entries: &[Entry], indent: &str) -> String {
    let width = |entry: &Entry| entry.name.chars().count();
    let column = entries.iter().map(width).filter(|w| *w <= NAME_COLUMNS).max().unwrap_or(2);
    // Where names would take more than half of the line, or a word has no room beside them, sentences stand
    // below them.
    let (beside, line) = (indent.len() + column + 2, line_columns());
    let has_no_room = |word: &str| beside + word.chars().count() > line;
    let mut words = entries.iter().flat_map(|entry| entry.meaning.split_whitespace());
    let below = beside > line / 2 || words.any(has_no_room);
    let mut out = String::new();
    for entry in entries {
        if entry.name.is_empty() {
            out += &wrap(&entry.meaning, indent, indent);
            continue;
        }
        let next = if below { format!("{indent}    ") } else { format!("{indent}{:column$}  ", "") };
        let mut first = format!("{indent}{:column$}  ", entry.name);
        if below || width(entry) > column {
            out += &fit(&format!("{indent}{}\n", entry.name));
            first.clone_from(&next);
        }
        out += &wrap(&entry.meaning, &first, &next);
        if let Some(limit) = &entry.limit {
            out += &wrap(&format!("({}) {}", limit.effect, limit.changes), &next, &next);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::text::in_columns;

    #[test]
    fn sentences_stand_in_their_column_and_long_names_alone() {
        let entry = |name: &str, meaning: &str| Entry::new(name, meaning);
        let long = "x".repeat(NAME_COLUMNS + 1);
        let entries = [entry("a", "One."), entry("bcd", &"word ".repeat(20)), entry(&long, "Two.")];
        let text = columns(&entries, " ");
        let lines: Vec<&str> = text.lines().collect();
        let narrow = in_columns(20, || columns(&entries, ""));
        assert!(narrow.starts_with("a    One.\n"), "{narrow}");
        let entries = [entry("ten_letters", "A sentence.")];
        let narrow = in_columns(20, || columns(&entries, ""));
        assert_eq!(narrow, "ten_letters\n    A sentence.\n");
        assert_eq!(lines[0], " a    One.");
        assert!(lines[1].starts_with(" bcd  word") && lines[2].starts_with("      word"));
        assert_eq!(&lines[3..], [format!(" {long}").as_str(), "      Two."]);
    }
}
