//! What a trace.dat says beside its events, taken from tracefs.

use super::RecordError;
use super::events::EventGroup;
use super::tracefs::Tracefs;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::{self, BufRead, BufReader};
use trace::{DatHeader, DatSystem, Pid, TaskNote};

/// Functions that events name by their addresses: where markers come from, what timers call that end a sleep
/// of the task that set them, and what the tick's timer calls, since Linux 6.8 and before.
const FUNCTIONS: [&str; 5] =
    ["tracing_mark_write", "hrtimer_wakeup", "process_timeout", "tick_nohz_handler", "tick_sched_timer"];

/// Bytes of a page of the kernel's buffers.
pub fn page_size(tracefs: &Tracefs) -> Result<usize, RecordError> {
    let text = tracefs.read("events/header_page")?;
    page_size_of(&text).ok_or_else(|| {
        let source = io::Error::new(io::ErrorKind::InvalidData, "its field `data` is missing");
        RecordError::of("understand", "events/header_page", source)
    })
}

/// Where the field `data` ends.
fn page_size_of(header_page: &str) -> Option<usize> {
    let line = header_page.lines().find(|line| line.contains("data;"))?;
    let value =
        |name: &str| line.split(';').find_map(|part| part.trim().strip_prefix(name)?.parse::<usize>().ok());
    Some(value("offset:")? + value("size:")?)
}

/// Everything for a file with these events.
pub fn header(
    tracefs: &Tracefs,
    groups: &[EventGroup],
    tasks: &BTreeMap<Pid, TaskNote>,
    cpu_stats: Vec<String>,
) -> Result<DatHeader, RecordError> {
    let mut ftrace_formats = Vec::new();
    for event in tracefs.list("events/ftrace")? {
        ftrace_formats.extend(
            Some(tracefs.read_if_there(&format!("events/ftrace/{event}/format"))).filter(|f| !f.is_empty()),
        );
    }
    let system = |EventGroup { system, events }: &EventGroup| {
        let format = |event| tracefs.read_if_there(&format!("events/{system}/{event}/format"));
        let formats = events.iter().map(format).filter(|format| !format.is_empty());
        DatSystem { name: (*system).to_owned(), formats: formats.collect() }
    };
    let systems = groups.iter().map(system).filter(|system| !system.formats.is_empty()).collect();
    Ok(DatHeader {
        header_page: tracefs.read("events/header_page")?,
        header_event: tracefs.read("events/header_event")?,
        ftrace_formats,
        systems,
        symbols: symbols(),
        printk_formats: tracefs.read_if_there("printk_formats"),
        cmdlines: cmdlines(&tracefs.read_if_there("saved_cmdlines"), tasks),
        page_size: page_size(tracefs)? as u32,
        clock: "[mono]".to_owned(),
        uname: Some(uname()),
        tool: Some(concat!("schedlab ", env!("CARGO_PKG_VERSION")).to_owned()),
        cpu_stats,
    })
}

/// The lines of `/proc/kallsyms` that readers need to name them.
fn symbols() -> String {
    fs::File::open("/proc/kallsyms").map_or_else(|_| String::new(), |file| symbols_of(BufReader::new(file)))
}

/// The functions' lines, each with the next one: a function reaches to the next symbol.
fn symbols_of(all: impl BufRead) -> String {
    let mut symbols = String::new();
    let mut follows = false;
    for line in all.lines().map_while(Result::ok) {
        let found = line.split(' ').nth(2).is_some_and(|name| FUNCTIONS.contains(&name));
        if found || follows {
            symbols.push_str(&line);
            symbols.push('\n');
        }
        follows = found;
    }
    symbols
}

/// The kernel's list of names, which is short, and ours of all tasks that lived when the recording began or
/// ended.
fn cmdlines(saved: &str, tasks: &BTreeMap<Pid, TaskNote>) -> String {
    let mut names: BTreeMap<i32, &str> = BTreeMap::new();
    for line in saved.lines() {
        if let Some((pid, comm)) = line.split_once(' ')
            && let Ok(pid) = pid.parse()
        {
            names.insert(pid, comm);
        }
    }
    names.extend(tasks.iter().map(|(pid, note)| (pid.0, note.comm.as_str())));
    let mut lines = String::new();
    for (pid, comm) in names {
        // Writing into a text cannot fail.
        let _ = writeln!(lines, "{pid} {comm}");
    }
    lines
}

/// As `uname -srm`.
fn uname() -> String {
    let kernel = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    format!("{} {} {}", kernel("ostype").trim(), kernel("osrelease").trim(), std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_ends_with_its_data() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
            \tfield: char data;\toffset:16;\tsize:16368;\tsigned:0;\n";
        assert_eq!(page_size_of(text), Some(16384));
        assert_eq!(page_size_of("nothing"), None);
    }

    #[test]
    fn functions_are_found_with_their_ends() {
        let all = "1000 t before\n2000 t tracing_mark_write\n3000 T after\n4000 T tracing_mark_write_more\n\
                   5000 t hrtimer_wakeup\n6000 t process_timeout\n7000 t other\n8000 t more\n";
        assert_eq!(
            symbols_of(all.as_bytes()),
            "2000 t tracing_mark_write\n3000 T after\n5000 t hrtimer_wakeup\n6000 t process_timeout\n7000 t \
             other\n"
        );
    }

    #[test]
    fn names_of_living_tasks_win() {
        assert_eq!(cmdlines("7 old name\n<...>\n", &BTreeMap::new()), "7 old name\n");
    }
}
