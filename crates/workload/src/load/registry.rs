//! All loads by name: for parsing, for `schedlab list loads` and for `--explain`.

use super::error::LoadError;
use super::{
    Load, boosted_owner, cyclictest, elsewhere, fibtest, fork_storm, hackbench, hog, ipi_storm, keyrepeat,
    make, oltp, periodic, pi_stress, pro_audio, rt_migrate, rt_migrate_test, schbench, vmark, wakeup_latency,
};
use clap::Command;
use suggest::suggest;

/// A kind of load.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, the first word of its command line.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// When it ends by itself, in a sentence.
    pub ends: &'static str,
    /// Where its behaviour and its figures come from.
    pub source: &'static str,
    /// Its options.
    pub(super) command: fn(&'static str) -> Command,
    /// Understands them.
    pub(super) parse: Parse,
}

type Parse = fn(&[String]) -> Result<Box<dyn Load>, LoadError>;

/// One option of a load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionDoc {
    /// As written on the command line, with its value: `-t, --threads [NUM]`; a bare value as `[OBJECTS]`.
    pub usage: String,
    /// What it does.
    pub help: String,
}

impl Entry {
    /// Its options in the order of its documentation.
    pub fn options(&self) -> Vec<OptionDoc> {
        let mut command = (self.command)(self.name);
        // Fills in what clap derives, such as the names of values.
        command.build();
        command.get_arguments().map(option_doc).collect()
    }
}

/// All loads, in the order in which they are listed.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

const ENTRIES: [Entry; 19] = [
    cyclictest::ENTRY,
    rt_migrate::ENTRY,
    rt_migrate::LAB_ENTRY,
    rt_migrate_test::ENTRY,
    pi_stress::ENTRY,
    ipi_storm::ENTRY,
    boosted_owner::ENTRY,
    pro_audio::ENTRY,
    hackbench::ENTRY,
    schbench::ENTRY,
    make::ENTRY,
    wakeup_latency::ENTRY,
    fork_storm::ENTRY,
    keyrepeat::ENTRY,
    vmark::ENTRY,
    oltp::ENTRY,
    hog::ENTRY,
    periodic::ENTRY,
    fibtest::ENTRY,
];

/// The load of this name.
pub fn find(name: &str) -> Result<&'static Entry, LoadError> {
    ENTRIES.iter().find(|e| e.name == name).ok_or_else(|| {
        let nearest = suggest(name, ENTRIES.iter().map(|entry| entry.name));
        LoadError::Unknown { name: name.to_string(), nearest: nearest.map(str::to_string) }
    })
}

/// The load of a command line such as `cyclictest -t8 -p90 -i100 -d100 -n`, split as a shell splits it. A
/// folder before the name (`/usr/bin/hackbench`) is ignored.
pub fn parse(command: &str) -> Result<Box<dyn Load>, LoadError> {
    let words = shlex::split(command).ok_or_else(|| LoadError::Quotes { command: command.to_string() })?;
    let (program, options) = words.split_first().ok_or(LoadError::Empty)?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if let Some(nearest) = elsewhere::nearest(name, options) {
        return Err(LoadError::Elsewhere { name: name.to_string(), nearest });
    }
    let as_typed = |error| match error {
        LoadError::Unknown { nearest, .. } => LoadError::Unknown { name: program.clone(), nearest },
        other => other,
    };
    (find(name).map_err(as_typed)?.parse)(options)
}

fn option_doc(arg: &clap::Arg) -> OptionDoc {
    OptionDoc {
        usage: usage_of(arg),
        help: arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default(),
    }
}

/// As in the field's manuals, which leave out the angle brackets that clap shows.
fn usage_of(arg: &clap::Arg) -> String {
    let names: Vec<String> =
        [arg.get_short().map(|s| format!("-{s}")), arg.get_long().map(|l| format!("--{l}"))]
            .into_iter()
            .flatten()
            .collect();
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = arg.get_num_args().is_some_and(|n| n.takes_values());
    let optional = arg.is_positional() || arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    match value {
        Some(value) if takes_value && optional => {
            format!("{} [{value}]", names.join(", ")).trim().to_string()
        }
        Some(value) if takes_value => format!("{} {value}", names.join(", ")),
        _ => names.join(", "),
    }
}
