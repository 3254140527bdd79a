//! `schedlab list`: what there is, with a sentence each.

use super::explain;
use super::output::{Failure, print};
use clap::ValueEnum;
use report::text::wrap;
use schedlab::{Entry, Kind};

/// Names longer than this stand on a line of their own.
const NAME_COLUMNS: usize = 28;

/// List kernels, features, rules, tunables, aliases, machines, loads, decisions or experiments, with a sentence each.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to list.
    #[arg(value_name = "KIND", value_enum)]
    kind: Listed,
    /// Say all about one of them.
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Listed {
    /// Profiles for --kernel.
    Kernels,
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
    /// Published experiments for `reproduce`.
    Experiments,
}

impl Listed {
    fn kind(self) -> Kind {
        match self {
            Listed::Kernels => Kind::Kernel,
            Listed::Features => Kind::Feature,
            Listed::Rules => Kind::Rule,
            Listed::Tunables => Kind::Tunable,
            Listed::Aliases => Kind::Alias,
            Listed::Machines => Kind::Machine,
            Listed::Loads => Kind::Load,
            Listed::Decisions => Kind::Decision,
            Listed::Experiments => Kind::Experiment,
        }
    }
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    match &args.explain {
        Some(name) => explain::print(name),
        None => print(&columns(&args.kind.kind().entries(), "")),
    }
}

/// Names in one column, sentences in the next; a sentence without a name takes the whole width.
pub fn columns(entries: &[Entry], indent: &str) -> String {
    let width = |entry: &Entry| entry.name.chars().count();
    let column = entries.iter().map(width).filter(|w| *w <= NAME_COLUMNS).max().unwrap_or(2);
    let mut out = String::new();
    for entry in entries {
        if entry.name.is_empty() {
            out += &wrap(&entry.meaning, indent, indent);
            continue;
        }
        let next = format!("{indent}{:column$}  ", "");
        let mut first = format!("{indent}{:column$}  ", entry.name);
        if width(entry) > column {
            out += &format!("{indent}{}\n", entry.name);
            first.clone_from(&next);
        }
        out += &wrap(&entry.meaning, &first, &next);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_stand_in_their_column_and_long_names_alone() {
        let entry = |name: &str, meaning: &str| Entry { name: name.into(), meaning: meaning.into() };
        let long = "x".repeat(NAME_COLUMNS + 1);
        let entries = [entry("a", "One."), entry("bcd", &"word ".repeat(20)), entry(&long, "Two.")];
        let text = columns(&entries, " ");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], " a    One.");
        assert!(lines[1].starts_with(" bcd  word") && lines[2].starts_with("      word"));
        assert_eq!(&lines[3..], [format!(" {long}").as_str(), "      Two."]);
    }
}
