//! The `[idle]` of a machine file: the idle states of its CPUs, and who chooses among them (machine.md 5.3 to
//! 5.5).

use super::entries;
use super::error::SpecError;
use super::idle::IdleMonitor;
use super::noise::Spread;
use super::origin::Origin;
use super::parse::read_origin;
use super::parse_noise::read_spread;
use super::reader::{Field, Table};
use scheduler::Nanos;

/// The most states that Linux takes of a driver (CPUIDLE_STATE_MAX).
const MOST_STATES: usize = 10;
/// Longest time to leave a state, and to stay in it.
const MAX_NS: u64 = 10_000_000_000;

/// The idle states of a machine's CPUs, and who chooses among them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdleStates {
    /// Who chooses.
    pub governor: Governor,
    /// From the shallowest to the deepest, one at least. Only the first may poll.
    pub states: Vec<IdleState>,
}

/// What a CPU can do until there is work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdleState {
    /// As cpuidle's sysfs names it: `C1E`.
    pub name: String,
    /// What the governor takes it to cost to leave the state.
    pub exit_latency: Nanos,
    /// It is worth to enter the state for an idle time of this length.
    pub target_residency: Nanos,
    /// How the CPU waits there.
    pub by: IdleMonitor,
    /// How long it takes to leave it.
    pub leaving: Spread,
}

impl IdleState {
    /// A state that is left as fast as machine.md 5.5 says: 0.5 to 1 of the exit latency for C1 and C1E, 0.3
    /// to 1 for deeper ones.
    #[must_use]
    pub fn new(name: &str, by: IdleMonitor, exit_latency: Nanos, target_residency: Nanos) -> IdleState {
        /// C1 and C1E of that table take 10 us at most, and all others 18 at least.
        const SHALLOW: Nanos = Nanos(10_000);
        let least = if exit_latency <= SHALLOW { exit_latency.0 / 2 } else { 3 * exit_latency.0 / 10 };
        let leaving = Spread::Uniform { min: Nanos(least), max: exit_latency };
        IdleState { name: name.into(), exit_latency, target_residency, by, leaving }
    }

    /// The CPU executes a loop there.
    #[must_use]
    pub fn polls(&self) -> bool {
        self.by == IdleMonitor::Poll
    }
}

/// Who chooses the idle state of a CPU, and whether its tick stops meanwhile (machine.md 5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Governor {
    /// By the next timer and by the last idle times: that of most machines.
    Menu,
    /// By the next timer, and by how often CPUs woke up before theirs.
    Teo,
    /// Polls for a while before it halts: that of virtual machines.
    Haltpoll,
    /// Nobody: always the first state that does not poll, and the tick is not asked about.
    None,
}

impl Governor {
    /// Every one.
    pub const ALL: [Governor; 4] = [Governor::Menu, Governor::Teo, Governor::Haltpoll, Governor::None];

    /// The word for it in a machine file, and in `/sys/devices/system/cpu/cpuidle/current_governor`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Governor::Menu => "menu",
            Governor::Teo => "teo",
            Governor::Haltpoll => "haltpoll",
            Governor::None => "none",
        }
    }

    /// What it is, in a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Governor::Menu => {
                "Idle governor: the deepest idle state that is worth it for the time up to the next timer, or for \
                 the last eight idle times if these are shorter and alike."
            }
            Governor::Teo => {
                "Idle governor: the deepest idle state that is worth it for the time up to the next timer, and a \
                 shallower one if CPUs mostly woke up before their timers."
            }
            Governor::Haltpoll => {
                "Idle governor of virtual machines: an idle CPU polls for up to 200 us before it halts."
            }
            Governor::None => "No idle governor: always the first idle state that does not poll.",
        }
    }
}

/// `monitor`: how idle CPUs wait where a state does not say it.
pub(super) fn read_idle(
    field: &Field<'_>,
    monitor: IdleMonitor,
    origins: &mut Vec<Origin>,
) -> Result<IdleStates, SpecError> {
    let table = field.table(&entries::IDLE)?;
    let of_governor = table.required("governor")?;
    let governor = read_governor(&of_governor, origins)?;
    let list = table.required("states")?;
    let mut states: Vec<IdleState> = Vec::new();
    for element in list.elements()? {
        if states.len() == MOST_STATES {
            return Err(element.error("is one too many", format!("Linux takes {MOST_STATES} at most")));
        }
        let (state, origin) = read_state(&element, monitor, &states)?;
        states.push(state);
        origins.push(origin);
    }
    if states.is_empty() {
        let example = "{ name = \"C1\", exit_latency_ns = 2000, target_residency_ns = 2000, origin = … }";
        return Err(list.error("names no state", format!("give one at least, such as {example}")));
    }
    if governor == Governor::Haltpoll && (states.len() != 2 || !states[0].polls()) {
        let problem = "needs a state that polls and one that does not, and can use no other";
        return Err(of_governor.error(problem, "give these two states only, or take menu"));
    }
    if governor == Governor::None && states.iter().all(IdleState::polls) {
        let problem = "takes the first state that does not poll, and there is none";
        return Err(of_governor.error(problem, "give one, or take menu"));
    }
    Ok(IdleStates { governor, states })
}

fn read_governor(field: &Field<'_>, origins: &mut Vec<Origin>) -> Result<Governor, SpecError> {
    let table = field.table(&["name", "origin"])?;
    let name = table.required("name")?;
    let word = name.text()?;
    let Some(governor) = Governor::ALL.into_iter().find(|kind| kind.name() == word) else {
        let problem = match word {
            "ladder" => "is a governor that is not modelled",
            _ => "is no idle governor",
        };
        return Err(name.error(problem, "write menu, teo, haltpoll or none"));
    };
    origins.push(read_origin(&table, word.into())?);
    Ok(governor)
}

/// `before`: the shallower ones.
fn read_state(
    field: &Field<'_>,
    monitor: IdleMonitor,
    before: &[IdleState],
) -> Result<(IdleState, Origin), SpecError> {
    let keys = ["name", "by", "exit_latency_ns", "target_residency_ns", "leaving", "origin"];
    let table = field.table(&keys)?;
    let of_name = table.required("name")?;
    let name = of_name.text()?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)) {
        return Err(of_name.error("is no name", "use letters, digits and -_.+ only"));
    }
    if before.iter().any(|other| other.name == name) {
        return Err(of_name.error(format!("{name} is there already"), "name every state once"));
    }
    let by = table.optional("by").map(|by| IdleMonitor::read(&by)).transpose()?.unwrap_or(monitor);
    if by == IdleMonitor::Poll && !before.is_empty() {
        let advice = "only the first state may poll; write mwait or hlt";
        return Err(table.optional("by").unwrap_or(of_name).error("polls", advice));
    }
    let rising = |key: &str, of: fn(&IdleState) -> Nanos| -> Result<Nanos, SpecError> {
        let figure = table.required(key)?;
        let value = Nanos(figure.number(0, MAX_NS, "ns")?);
        match before.last() {
            Some(last) if value < of(last) => Err(figure.error(
                format!("is less than that of {}", last.name),
                "begin with the shallowest state: both figures rise from there",
            )),
            _ => Ok(value),
        }
    };
    let exit_latency = rising("exit_latency_ns", |state| state.exit_latency)?;
    if by == IdleMonitor::Poll && exit_latency > Nanos::ZERO {
        let figure = table.required("exit_latency_ns")?;
        return Err(figure.error("belongs to a state that polls, which has nothing to leave", "write 0"));
    }
    let target_residency = rising("target_residency_ns", |state| state.target_residency)?;
    let mut state = IdleState::new(name, by, exit_latency, target_residency);
    state.leaving = read_leaving(&table, &state)?;
    let value = format!(
        "{name} by {}, exit latency {} ns, target residency {} ns, leaving {}",
        by.name(),
        exit_latency.0,
        target_residency.0,
        state.leaving
    );
    let origin = read_origin(&table, value)?;
    Ok((state, origin))
}

/// Who polls has nothing to leave.
fn read_leaving(table: &Table<'_>, state: &IdleState) -> Result<Spread, SpecError> {
    match table.optional("leaving") {
        Some(field) if state.polls() => {
            Err(field.error("belongs to states that do not poll", "leave it out"))
        }
        Some(field) => read_spread(&field),
        None if state.polls() => Ok(Spread::Constant(Nanos::ZERO)),
        None => Ok(state.leaving),
    }
}
