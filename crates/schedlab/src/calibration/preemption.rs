//! Which preemption model the kernel here runs with, as far as it says so.

use crate::recording::Host;
use trace::HostNote;

/// When a task in the kernel makes room for a real-time one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HostPreemption {
    /// Where it asks whether it shall.
    None,
    /// There, and where it may sleep.
    Voluntary,
    /// At once, but for atomic sections: full, and lazy, which makes fair tasks wait only.
    Full,
    /// At once, nearly everywhere (PREEMPT_RT).
    Realtime,
    /// It does not say.
    Unknown,
}

impl HostPreemption {
    /// That of this computer.
    pub(super) fn here() -> HostPreemption {
        HostPreemption::of(&Host::this().notes())
    }

    /// By what is known of a kernel: what debugfs says, or a boot option chose, or the kernel's version
    /// tells.
    fn of(notes: &[HostNote]) -> HostPreemption {
        let fact = |of: &str| {
            notes.iter().find_map(|note| match note {
                HostNote::Fact { name, value } if name == of => Some(value.as_str()),
                _ => None,
            })
        };
        let version = fact("version").unwrap_or_default();
        let built = |option: &str| version.split(' ').any(|word| word == option);
        if built("PREEMPT_RT") {
            return HostPreemption::Realtime;
        }
        let boot = || fact("boot")?.split(' ').find_map(|option| option.strip_prefix("preempt="));
        match fact("preempt").or_else(boot) {
            Some("none") => HostPreemption::None,
            Some("voluntary") => HostPreemption::Voluntary,
            Some("full" | "lazy") => HostPreemption::Full,
            _ if built("PREEMPT") => HostPreemption::Full,
            _ => HostPreemption::Unknown,
        }
    }

    /// Whether what a timer waits for, over a task in the kernel, has a name in a machine file.
    pub(super) fn shows_pieces(self) -> bool {
        matches!(self, HostPreemption::None | HostPreemption::Voluntary | HostPreemption::Full)
    }

    /// What such a kernel does.
    pub(super) fn words(self) -> &'static str {
        match self {
            HostPreemption::None => "makes room at points (preempt=none)",
            HostPreemption::Voluntary => "makes room where it may sleep (preempt=voluntary)",
            HostPreemption::Full => "preempts itself (preempt=full or lazy)",
            HostPreemption::Realtime => "preempts itself nearly everywhere (PREEMPT_RT)",
            HostPreemption::Unknown => "does not say how it is preempted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(facts: &[(&str, &str)]) -> HostPreemption {
        let note = |(name, value): &(&str, &str)| HostNote::Fact {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        HostPreemption::of(&facts.iter().map(note).collect::<Vec<_>>())
    }

    /// What `uname -v` and `/sys/kernel/debug/sched/preempt` say on kernels as distributions build them.
    #[test]
    fn a_kernel_says_it_in_debugfs_by_a_boot_option_or_by_its_version() {
        let dynamic = ("version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1");
        assert_eq!(of(&[dynamic, ("preempt", "voluntary")]), HostPreemption::Voluntary);
        assert_eq!(of(&[dynamic, ("preempt", "lazy")]), HostPreemption::Full);
        assert_eq!(of(&[dynamic, ("boot", "quiet preempt=none")]), HostPreemption::None);
        assert_eq!(of(&[dynamic]), HostPreemption::Unknown);
        assert_eq!(of(&[("version", "#1 SMP PREEMPT_RT Debian")]), HostPreemption::Realtime);
        assert_eq!(of(&[("version", "#1 SMP PREEMPT Fri")]), HostPreemption::Full);
        assert_eq!(of(&[]), HostPreemption::Unknown);
    }
}
