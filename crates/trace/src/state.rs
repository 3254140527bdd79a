//! The state in which a task was switched out, and the ways in which traces write it down.

use std::fmt;

/// Why a task left its CPU, as `sched_switch` says it (rt-class 11.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PrevState {
    /// `R`: runnable and not preempted, e.g. it yielded. Text that cannot show the plus sign also reads as
    /// this.
    Running,
    /// `R+`: runnable, switched out by preemption.
    Preempted,
    /// `S`: interruptible sleep.
    Interruptible,
    /// `D`: uninterruptible sleep.
    Uninterruptible,
    /// `T`: stopped by a signal.
    Stopped,
    /// `t`: stopped by a tracer.
    Traced,
    /// `X`: dead.
    Dead,
    /// `Z`: zombie.
    Zombie,
    /// `P`: parked kernel thread.
    Parked,
    /// `I`: idle kernel thread, an uninterruptible sleep that does not count as load.
    Idle,
    /// A letter or bit that this version does not know.
    Unknown,
}

impl PrevState {
    /// Whether the task stays runnable: its switch counts as involuntary (rt-class 11.1).
    pub fn is_runnable(self) -> bool {
        matches!(self, PrevState::Running | PrevState::Preempted)
    }

    /// Whether the task will never run again.
    pub fn is_dead(self) -> bool {
        matches!(self, PrevState::Dead | PrevState::Zombie)
    }

    /// As the kernel's own text writes it, `R+` for a preempted task.
    pub fn letters(self) -> &'static str {
        match self {
            PrevState::Running => "R",
            PrevState::Preempted => "R+",
            PrevState::Interruptible => "S",
            PrevState::Uninterruptible => "D",
            PrevState::Stopped => "T",
            PrevState::Traced => "t",
            PrevState::Dead => "X",
            PrevState::Zombie => "Z",
            PrevState::Parked => "P",
            PrevState::Idle => "I",
            PrevState::Unknown => "?",
        }
    }

    /// The bits that kernels since 4.14 put into `prev_state`. `Unknown` has none and gives 0x200, which no
    /// kernel uses.
    pub fn bits(self) -> i64 {
        match self {
            PrevState::Running => 0,
            PrevState::Interruptible => 0x01,
            PrevState::Uninterruptible => 0x02,
            PrevState::Stopped => 0x04,
            PrevState::Traced => 0x08,
            PrevState::Dead => 0x10,
            PrevState::Zombie => 0x20,
            PrevState::Parked => 0x40,
            PrevState::Idle => 0x80,
            PrevState::Preempted => 0x100,
            PrevState::Unknown => 0x200,
        }
    }

    /// Reads the kernel's letters: `S`, `R+`, `D|K`. Of several the first counts, and a plus sign means
    /// preempted whatever stands before it: kernels before 4.14 wrote `S+` for a task preempted on its way to
    /// sleep.
    pub fn from_letters(text: &[u8]) -> PrevState {
        if text.last() == Some(&b'+') {
            return PrevState::Preempted;
        }
        match text.first() {
            Some(b'R') => PrevState::Running,
            Some(b'S') => PrevState::Interruptible,
            Some(b'D') => PrevState::Uninterruptible,
            Some(b'T') => PrevState::Stopped,
            Some(b't') => PrevState::Traced,
            Some(b'X' | b'x') => PrevState::Dead,
            Some(b'Z') => PrevState::Zombie,
            Some(b'P') => PrevState::Parked,
            Some(b'I') => PrevState::Idle,
            _ => PrevState::Unknown,
        }
    }

    /// Reads the letters of `trace-cmd report`'s own printing of `sched_switch`. It names bits by an old
    /// table (`Z` for 0x10, `X` for 0x20, `x` for 0x40, `W` for 0x80) and knows no plus sign, so `R` may mean
    /// preempted.
    pub fn from_plugin_letters(text: &[u8]) -> PrevState {
        match text.first() {
            Some(b'Z') => PrevState::Dead,
            Some(b'X') => PrevState::Zombie,
            Some(b'x') => PrevState::Parked,
            Some(b'W') => PrevState::Idle,
            _ => PrevState::from_letters(text),
        }
    }
}

impl fmt::Display for PrevState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.letters())
    }
}

/// What the bits of `prev_state` mean on the kernel that recorded a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StateBits {
    /// Mask and meaning, in the order in which the kernel tests them.
    flags: Vec<(u64, PrevState)>,
    /// Mask of the bit that means "preempted".
    preempted: u64,
}

impl StateBits {
    /// The table of a kernel whose `print fmt` was understood. Letters that we do not know stay `Unknown`.
    pub(crate) fn new(flags: Vec<(u64, PrevState)>, preempted: u64) -> Self {
        StateBits { flags, preempted }
    }

    /// Kernels since 4.14.
    pub(crate) fn modern() -> Self {
        use PrevState::*;
        let flags = [Interruptible, Uninterruptible, Stopped, Traced, Dead, Zombie, Parked, Idle]
            .map(|state| (state.bits() as u64, state));
        StateBits { flags: flags.to_vec(), preempted: PrevState::Preempted.bits() as u64 }
    }

    /// The meaning of the raw field.
    pub(crate) fn decode(&self, raw: i64) -> PrevState {
        let raw = raw as u64;
        if raw & self.preempted != 0 {
            return PrevState::Preempted;
        }
        match self.flags.iter().find(|(mask, _)| raw & mask != 0) {
            Some((_, state)) => *state,
            None if raw == 0 => PrevState::Running,
            None => PrevState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [PrevState; 10] = [
        PrevState::Running,
        PrevState::Preempted,
        PrevState::Interruptible,
        PrevState::Uninterruptible,
        PrevState::Stopped,
        PrevState::Traced,
        PrevState::Dead,
        PrevState::Zombie,
        PrevState::Parked,
        PrevState::Idle,
    ];

    #[test]
    fn letters_and_bits_come_back_as_the_same_state() {
        for state in ALL {
            assert_eq!(PrevState::from_letters(state.letters().as_bytes()), state);
            assert_eq!(StateBits::modern().decode(state.bits()), state);
        }
    }

    #[test]
    fn combined_states_read_as_the_first_one() {
        assert_eq!(PrevState::from_letters(b"D|K"), PrevState::Uninterruptible);
        assert_eq!(StateBits::modern().decode(0x02 | 0x400), PrevState::Uninterruptible);
    }

    #[test]
    fn a_plus_means_preempted_even_behind_a_sleep_state() {
        assert_eq!(PrevState::from_letters(b"S+"), PrevState::Preempted);
        assert_eq!(StateBits::modern().decode(0x101), PrevState::Preempted);
    }

    #[test]
    fn the_report_plugin_uses_other_letters_for_the_upper_bits() {
        assert_eq!(PrevState::from_plugin_letters(b"W"), PrevState::Idle);
        assert_eq!(PrevState::from_plugin_letters(b"Z"), PrevState::Dead);
        assert_eq!(PrevState::from_plugin_letters(b"X"), PrevState::Zombie);
        assert_eq!(PrevState::from_plugin_letters(b"x"), PrevState::Parked);
        assert_eq!(PrevState::from_plugin_letters(b"D"), PrevState::Uninterruptible);
    }

    #[test]
    fn unknown_letters_and_bits_say_so() {
        assert_eq!(PrevState::from_letters(b"Q"), PrevState::Unknown);
        assert_eq!(PrevState::from_letters(b""), PrevState::Unknown);
        assert_eq!(StateBits::modern().decode(0x4000), PrevState::Unknown);
    }

    #[test]
    fn only_running_and_preempted_are_involuntary() {
        let runnable: Vec<_> = ALL.into_iter().filter(|s| s.is_runnable()).collect();
        assert_eq!(runnable, [PrevState::Running, PrevState::Preempted]);
    }
}
