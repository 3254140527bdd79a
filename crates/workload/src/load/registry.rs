//! All loads by name: for parsing, for `schedlab list loads` and for `--explain`.

use super::command::parser;
use super::error::LoadError;
use super::{
    Load, cyclictest, elsewhere, fork_storm, hackbench, hog, keyrepeat, make, oltp, periodic, rt_migrate,
    vmark, wakeup_latency,
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
    command: fn(&'static str) -> Command,
    parse: Parse,
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

const ENTRIES: [Entry; 12] = [
    Entry {
        name: cyclictest::NAME,
        about: "Threads that sleep until an absolute time over and over, and measure how late they wake up.",
        ends: "Endless; with -l after that many cycles, with -D after that time.",
        source: "rt-tests 2.x; seeds 001 and 002 (rt-class 13.2, 13.3)",
        command: parser::<cyclictest::Options>,
        parse: cyclictest::parse,
    },
    Entry {
        name: rt_migrate::NAME,
        about: "Real-time threads of different priority that take a row of mutexes in turn, spin and sleep.",
        ends: "After -s seconds (5) and the passes then under way, or after -i passes.",
        source: "seed 000 and the copy of its program (rt-class 13.1)",
        command: parser::<rt_migrate::Options>,
        parse: rt_migrate::parse,
    },
    Entry {
        name: rt_migrate::LAB_NAME,
        about: "The same as rt-migrate with the defaults of the program behind the recorded rtlab-* runs.",
        ends: "After -s seconds (10) and the passes then under way, or after -i passes.",
        source: "the program that recorded the rtlab-* data",
        command: parser::<rt_migrate::Options>,
        parse: rt_migrate::parse_lab,
    },
    Entry {
        name: hackbench::NAME,
        about: "Groups of senders and receivers that pass small messages through sockets or pipes.",
        ends: "When all messages are passed; the time that takes is its result.",
        source: "hackbench of rt-tests 2.x; costs measured on the recorded native-6.18 machine",
        command: parser::<hackbench::Options>,
        parse: hackbench::parse,
    },
    Entry {
        name: make::NAME,
        about: "A build: make keeps N jobs alive, each a shell that runs gcc, cc1, as and small helpers.",
        ends: "Endless; with a number of OBJECTS when they are built.",
        source: "fair-class 13.1 and 13.4; with --times recorded a build recorded on the native-6.18 machine",
        command: parser::<make::Options>,
        parse: make::parse,
    },
    Entry {
        name: wakeup_latency::NAME,
        about: "A periodic timer whose every expiry starts a new thread, which measures how late it runs.",
        ends: "Endless; with -n after that many expiries.",
        source: "seed 003 (fair-class 13.2)",
        command: parser::<wakeup_latency::Options>,
        parse: wakeup_latency::parse,
    },
    Entry {
        name: fork_storm::NAME,
        about: "A process that forks short jobs without waiting until N of them live, beside a hog.",
        ends: "Endless; with -s after that time, with -n when that many jobs are done.",
        source: "fair-class 13.6 and 5.7",
        command: parser::<fork_storm::Options>,
        parse: fork_storm::parse,
    },
    Entry {
        name: keyrepeat::NAME,
        about: "A key held down in a terminal: display server, terminal, shell; how evenly the cursor moves.",
        ends: "Endless; with -D after that time.",
        source: "seed 003's second test (fair-class 13.7)",
        command: parser::<keyrepeat::Options>,
        parse: keyrepeat::parse,
    },
    Entry {
        name: vmark::NAME,
        about: "Chat rooms over TCP loopback, four threads for each user, like VolanoMark; messages per \
                second.",
        ends: "When all messages are received; the time that takes is its result.",
        source: "seed 004 (fair-class 12.6)",
        command: parser::<vmark::Options>,
        parse: vmark::parse,
    },
    Entry {
        name: oltp::NAME,
        about: "sysbench's read-only OLTP test on PostgreSQL or MySQL: clients and server tasks over local \
                sockets.",
        ends: "After the warm-up and --time (10s).",
        source: "seed 004 (fair-class 12.3 to 12.5)",
        command: parser::<oltp::Options>,
        parse: oltp::parse,
    },
    Entry {
        name: hog::NAME,
        about: "Tasks that compute without a pause.",
        ends: "Endless; with -D after that time.",
        source: "the usual endless loop",
        command: parser::<hog::Options>,
        parse: hog::parse,
    },
    Entry {
        name: periodic::NAME,
        about: "Periodic tasks that use a share of a CPU; counts response times and missed deadlines.",
        ends: "Endless; with -D after that time.",
        source: "--bench: the common benchmark load of scheduler simulators",
        command: parser::<periodic::Options>,
        parse: periodic::parse,
    },
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
    (find(name)?.parse)(options)
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
