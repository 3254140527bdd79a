//! The idle states of this machine, and their governor, as sysfs has them (machine.md 5.4, 5.5).

use super::file::quoted;
use super::sources::{Seen, Way};
use scheduler::Nanos;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What `cpuidle` says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct IdleTable {
    /// Who chooses, by the kernel's word; empty where it does not say.
    governor: String,
    /// Of the first CPU, from the shallowest to the deepest.
    states: Vec<Listed>,
    /// Another CPU has other states.
    differ: bool,
}

/// A state of a CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Listed {
    name: String,
    latency_us: u64,
    residency_us: u64,
    disabled: bool,
}

/// The state of the kernel that polls has this name in every driver.
const POLL: &str = "POLL";

impl IdleTable {
    /// Reads `/sys/devices/system`, or a tree that looks like it, of CPUs with these numbers.
    pub(super) fn read(system: &Path, cpus: &[u16]) -> IdleTable {
        let text = |path: &str| fs::read_to_string(system.join(path)).ok().map(|text| text.trim().to_owned());
        let governors = ["current_governor", "current_governor_ro"];
        let governor = governors.iter().find_map(|name| text(&format!("cpu/cpuidle/{name}")));
        let state = |cpu: u16, number: usize| {
            let of = |key: &str| text(&format!("cpu/cpu{cpu}/cpuidle/state{number}/{key}"));
            Some(Listed {
                name: of("name")?,
                latency_us: of("latency")?.parse().ok()?,
                residency_us: of("residency")?.parse().ok()?,
                disabled: of("disable").is_some_and(|disable| disable != "0"),
            })
        };
        let states = |cpu: u16| (0..).map_while(|number| state(cpu, number)).collect::<Vec<_>>();
        let mut all = cpus.iter().map(|cpu| states(*cpu));
        let first = all.next().unwrap_or_default();
        let differ = all.any(|other| other != first);
        IdleTable { governor: governor.unwrap_or_default(), states: first, differ }
    }

    /// Those that a machine file can say: somebody has switched others off, or they are in no order.
    fn usable(&self) -> Vec<&Listed> {
        let mut usable: Vec<&Listed> = Vec::new();
        for state in self.states.iter().filter(|state| !state.disabled) {
            let rises = usable.last().is_none_or(|last| {
                state.latency_us >= last.latency_us && state.residency_us >= last.residency_us
            });
            if rises && (state.name != POLL || usable.is_empty()) {
                usable.push(state);
            }
        }
        // What haltpoll can use.
        let most = if self.governor == "haltpoll" { 2 } else { usable.len() };
        usable.truncate(most);
        usable
    }

    /// How the states and their governor are learned.
    pub(super) fn way(&self, key: &str) -> Way {
        let samples = self.usable().len();
        let seen = self.is_told().then_some(Seen { probe: "sysfs", samples });
        let unseen = match key {
            _ if self.states.is_empty() => "this kernel lists no idle states in sysfs",
            _ if samples == 0 => "all idle states are switched off",
            _ => "the only state polls",
        };
        Way { seen, unseen: format!("{unseen}; left out, idle CPUs have one state and stop their tick") }
    }

    /// A CPU that can but poll has nothing to choose.
    fn is_told(&self) -> bool {
        self.usable().iter().any(|state| state.name != POLL)
    }

    /// The `[idle]` of the machine file. `exit` is what it took an idle CPU to wake up here: what the kernel
    /// believes of states that are left faster is not how it is.
    pub(super) fn text(&self, exit: Nanos) -> String {
        if !self.is_told() {
            return String::new();
        }
        let usable = self.usable();
        let (governor, origin) = match self.governor.as_str() {
            known @ ("menu" | "teo" | "haltpoll")
                if known != "haltpoll" || self.halts_after_polling(&usable) =>
            {
                (known, "measured: sysfs, the present governor".to_owned())
            }
            "" | "none" => ("none", "measured: sysfs, no governor".to_owned()),
            other => ("menu", format!("assumed: this kernel's governor, {other}, is not modelled here")),
        };
        let mut text = format!(
            "\n[idle]\ngovernor = {{ name = \"{governor}\", origin = {} }}\nstates = [\n",
            quoted(&origin)
        );
        let left_out = self.states.len() - usable.len();
        let left_out = if left_out > 0 { format!(", {left_out} left out") } else { String::new() };
        let others = if self.differ { "; other CPUs have other ones" } else { "" };
        for state in usable {
            let latency = Nanos::from_micros(state.latency_us);
            let mut origin =
                format!("measured: sysfs, of the first CPU, what its driver says{others}{left_out}");
            let mut more = String::new();
            if state.name == POLL {
                more = ", by = \"poll\"".to_owned();
            } else if latency < exit {
                more = format!(", leaving = {{ ns = {} }}", exit.0);
                origin += "; to leave it takes as long as the costs say";
            }
            // Writing into a text cannot fail.
            let _ = writeln!(
                text,
                "  {{ name = \"{}\"{more}, exit_latency_ns = {}, target_residency_ns = {}, origin = {} }},",
                state.file_name(),
                latency.0,
                Nanos::from_micros(state.residency_us).0,
                quoted(&origin)
            );
        }
        text + "]\n"
    }

    fn halts_after_polling(&self, usable: &[&Listed]) -> bool {
        usable.len() == 2 && usable[0].name == POLL
    }
}

impl Listed {
    /// Its name with what a machine file may have in one.
    fn file_name(&self) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
        self.name.chars().map(letter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of two CPUs with these states: name, latency, residency, disable.
    fn read(governor: &str, name: &str, states: [&[(&str, u64, u64, u8)]; 2]) -> IdleTable {
        let root = std::env::temp_dir().join(format!("schedlab-idle-{name}-{}", std::process::id()));
        let put = |path: String, content: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            fs::write(path, format!("{content}\n")).expect("a temporary file");
        };
        if !governor.is_empty() {
            put("cpu/cpuidle/current_governor".into(), governor);
        }
        for (cpu, states) in states.iter().enumerate() {
            for (n, (name, latency, residency, disable)) in states.iter().enumerate() {
                let at = |key: &str| format!("cpu/cpu{cpu}/cpuidle/state{n}/{key}");
                put(at("name"), name);
                put(at("latency"), &latency.to_string());
                put(at("residency"), &residency.to_string());
                put(at("disable"), &disable.to_string());
            }
        }
        let table = IdleTable::read(&root, &[0, 1]);
        if root.is_dir() {
            fs::remove_dir_all(root).expect("our own folder");
        }
        table
    }

    type States<'s> = &'s [(&'s str, u64, u64, u8)];
    const SERVER: States<'_> = &[("POLL", 0, 0, 0), ("C1", 2, 2, 0), ("C1E", 10, 20, 1), ("C6", 133, 600, 0)];

    fn lines(table: &IdleTable) -> Vec<String> {
        table.text(Nanos(5_000)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn states_of_a_server_one_of_them_switched_off() {
        let table = read("menu", "server", [SERVER, SERVER]);
        let lines = lines(&table);
        assert_eq!(
            lines[2],
            "governor = { name = \"menu\", origin = \"measured: sysfs, the present governor\" }"
        );
        let names =
            ["POLL\", by = \"poll\", exit_latency_ns = 0,", "C1\", leaving = { ns = 5000 },", "C6\", exit"];
        for (line, name) in lines[4..].iter().zip(names) {
            assert!(line.starts_with(&format!("  {{ name = \"{name}")), "{line}");
            assert!(
                line.contains("measured: sysfs, of the first CPU, what its driver says, 1 left out"),
                "{line}"
            );
        }
        assert!(lines[6].contains("exit_latency_ns = 133000, target_residency_ns = 600000"), "{}", lines[6]);
        assert_eq!(lines[7], "]");
        assert_eq!(table.way("states").seen, Some(Seen { probe: "sysfs", samples: 3 }));
    }

    #[test]
    fn what_cannot_be_said_is_said() {
        let ladder = read("ladder", "ladder", [SERVER, &SERVER[..2]]);
        let text = ladder.text(Nanos::ZERO);
        assert!(text.contains("assumed: this kernel's governor, ladder, is not modelled here"), "{text}");
        assert!(text.contains("other CPUs have other ones"), "{text}");
        let teo = read("teo", "teo", [SERVER, SERVER]).text(Nanos::ZERO);
        assert!(teo.contains("{ name = \"teo\", origin = \"measured"), "{teo}");
        let guest = [("POLL", 0, 0, 0), ("haltpoll idle", 1, 1, 0)];
        let text = read("haltpoll", "guest", [&guest, &guest]).text(Nanos(9_500));
        assert!(text.contains("{ name = \"haltpoll\", origin = \"measured"), "{text}");
        assert!(
            text.contains("\"haltpoll-idle\", leaving = { ns = 9500 }, exit_latency_ns = 1000"),
            "{text}"
        );
        let nothing = read("", "nothing", [&[], &[]]);
        assert_eq!((nothing.text(Nanos::ZERO), nothing.way("states").seen), (String::new(), None));
        assert!(
            nothing.way("governor").unseen.starts_with("this kernel lists no idle states in sysfs; left out")
        );
        let off = read("menu", "off", [&[("C1", 1, 1, 1)], &[]]);
        assert!(off.way("states").unseen.starts_with("all idle states are switched off"));
    }
}
