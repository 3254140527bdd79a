//! The keys that rt-app knows (its tutorial.txt and parser, versions 1.0 to 2026).

use suggest::suggest;

/// The events, recognised by the start of a key: `run0` and `run_long` are `run`, but `runtime…` is
/// `runtime`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventKey {
    Run,
    Runtime,
    Mem,
    IoRun,
    Sleep,
    Timer,
    Lock,
    Unlock,
    Wait,
    Signal,
    Broad,
    Sync,
    Barrier,
    Suspend,
    Resume,
    Fork,
    Yield,
    SemPost,
    SemWait,
}

/// By prefix; the first that fits counts, so `runtime` stands before `run`.
const EVENTS: [(&str, EventKey); 19] = [
    ("runtime", EventKey::Runtime),
    ("run", EventKey::Run),
    ("mem", EventKey::Mem),
    ("iorun", EventKey::IoRun),
    ("sleep", EventKey::Sleep),
    ("timer", EventKey::Timer),
    ("lock", EventKey::Lock),
    ("unlock", EventKey::Unlock),
    ("wait", EventKey::Wait),
    ("signal", EventKey::Signal),
    ("broad", EventKey::Broad),
    ("sync", EventKey::Sync),
    ("barrier", EventKey::Barrier),
    ("suspend", EventKey::Suspend),
    ("resume", EventKey::Resume),
    ("fork", EventKey::Fork),
    ("yield", EventKey::Yield),
    ("sem_post", EventKey::SemPost),
    ("sem_wait", EventKey::SemWait),
];

/// What a key of a task or phase is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TaskKey {
    Instance,
    Delay,
    Loop,
    Phases,
    Policy,
    Priority,
    Cpus,
    /// The run time of SCHED_DEADLINE; of a fair task the slice that it asks EEVDF for.
    DeadlineRuntime,
    /// Its period.
    DeadlinePeriod,
    /// Its deadline.
    Deadline,
    /// Of the format before events.
    OldFormat,
    /// Clamps of utilisation.
    UtilMin,
    UtilMax,
    /// A control group.
    TaskGroup,
    /// Memory binding, which rt-app counts as an event.
    MemoryBinding,
    Event(EventKey),
    Unknown,
}

/// Whole keys. They come before the events, so that `membind_nodes` is not taken for `mem`.
const PROPERTIES: [(&str, TaskKey); 23] = [
    ("instance", TaskKey::Instance),
    ("delay", TaskKey::Delay),
    ("loop", TaskKey::Loop),
    ("phases", TaskKey::Phases),
    ("policy", TaskKey::Policy),
    ("priority", TaskKey::Priority),
    ("cpus", TaskKey::Cpus),
    ("dl-runtime", TaskKey::DeadlineRuntime),
    ("dl-period", TaskKey::DeadlinePeriod),
    ("dl-deadline", TaskKey::Deadline),
    ("dl_runtime", TaskKey::DeadlineRuntime),
    ("dl_period", TaskKey::DeadlinePeriod),
    ("dl_deadline", TaskKey::Deadline),
    ("period", TaskKey::DeadlinePeriod),
    ("deadline", TaskKey::Deadline),
    ("exec", TaskKey::OldFormat),
    ("lock_order", TaskKey::OldFormat),
    ("util_min", TaskKey::UtilMin),
    ("util_max", TaskKey::UtilMax),
    ("taskgroup", TaskKey::TaskGroup),
    ("nodes_membind", TaskKey::MemoryBinding),
    ("membind_nodes", TaskKey::MemoryBinding),
    ("nodes_membership", TaskKey::MemoryBinding),
];

/// What a key in a task or phase means.
pub(super) fn task_key(key: &str) -> TaskKey {
    let property = PROPERTIES.iter().find(|(name, _)| *name == key).map(|(_, what)| *what);
    let event = || EVENTS.iter().find(|(prefix, _)| key.starts_with(prefix)).map(|(_, e)| TaskKey::Event(*e));
    property.or_else(event).unwrap_or(TaskKey::Unknown)
}

/// The event or property that an unknown key probably means.
pub(super) fn nearest_task_key(key: &str) -> Option<&'static str> {
    let names = EVENTS.iter().map(|(name, _)| *name).chain(PROPERTIES.iter().map(|(name, _)| *name));
    suggest(key, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_match_by_prefix() {
        for (key, event) in [
            ("run", EventKey::Run),
            ("run0", EventKey::Run),
            ("runtime", EventKey::Runtime),
            ("runtime1", EventKey::Runtime),
            ("timer_a", EventKey::Timer),
            ("memory", EventKey::Mem),
            ("broadcast", EventKey::Broad),
            ("sem_wait2", EventKey::SemWait),
        ] {
            assert_eq!(task_key(key), TaskKey::Event(event), "{key}");
        }
        assert_eq!(task_key("membind_nodes"), TaskKey::MemoryBinding);
        assert_eq!(task_key("loop1"), TaskKey::Unknown, "properties match as a whole");
        assert_eq!(task_key("Run"), TaskKey::Unknown, "case counts");
    }

    #[test]
    fn typing_errors_are_seen_and_comments_are_not() {
        for (key, meant) in [
            ("slep", "sleep"),
            ("pririty", "priority"),
            ("Run", "run"),
            ("cpu", "cpus"),
            ("resmue", "resume"),
        ] {
            assert_eq!(nearest_task_key(key), Some(meant));
        }
        for key in ["comment", "//", "note", "description", "x", "name", "frag"] {
            assert_eq!(nearest_task_key(key), None, "{key}");
        }
    }
}
