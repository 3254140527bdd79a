//! What an importer could not use, or what its user should know: counted, never dropped in silence.
//!
//! Every kind of trouble is one [`NoteKind`] with a severity and a sentence; a reader counts occurrences and
//! keeps the first place. An importer does not give up while there is something left to read.

use std::collections::BTreeMap;
use std::fmt;

/// How much a note matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Good to know; nothing is missing.
    Info,
    /// Events are missing; figures that span the hole are not exact.
    DataLoss,
    /// Part of the file contradicts its own description.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::DataLoss => "data loss",
            Severity::Error => "error",
        })
    }
}

/// A place in the input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Position {
    /// Offset in the file, from 0. Inside a compressed part, where that part begins.
    Byte(u64),
    /// Line, from 1.
    Line(u64),
    /// Time of an event, ns.
    Time(u64),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Byte(at) => write!(f, "byte {at}"),
            Position::Line(line) => write!(f, "line {line}"),
            Position::Time(ns) => write!(f, "time {}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            Position::Whole => f.write_str("the whole file"),
        }
    }
}

macro_rules! note_kinds {
    ($( $kind:ident, $severity:ident, $name:literal, $sentence:literal; )*) => {
        /// A kind of trouble or peculiarity.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum NoteKind {
            $( #[doc = $sentence] $kind, )*
        }

        impl NoteKind {
            /// All kinds.
            pub const ALL: &[NoteKind] = &[ $( NoteKind::$kind, )* ];

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $( NoteKind::$kind => Severity::$severity, )* }
            }

            /// Short stable name, for machine-readable output.
            pub fn name(self) -> &'static str {
                match self { $( NoteKind::$kind => $name, )* }
            }

            /// What it means and what to do, one sentence for the user.
            pub fn sentence(self) -> &'static str {
                match self { $( NoteKind::$kind => $sentence, )* }
            }
        }
    };
}

note_kinds! {
    Truncated, DataLoss, "truncated",
        "the file ends too early; what lies before the end was read";
    CorruptPage, Error, "corrupt_page",
        "a ring-buffer page contradicts itself; the rest of that page was skipped";
    CorruptRecord, Error, "corrupt_record",
        "an event record is shorter than its description or holds an impossible number, and was skipped";
    BrokenStream, Error, "broken_stream",
        "a record has an impossible length; reading stopped there";
    Decompression, Error, "decompression",
        "a compressed block does not decompress; its events are missing";
    DecompressionLimit, Error, "decompression_limit",
        "the file decompresses to far more than traces do; reading stopped there";
    UnknownEventId, DataLoss, "unknown_event_id",
        "a record has an event number that the file does not describe";
    UndecodableEvent, Error, "undecodable_event",
        "the file's description of an event lacks fields that we need; its records were skipped";
    UnparsedLine, DataLoss, "unparsed_line",
        "a line is neither an event nor a comment that we know";
    BadEventText, DataLoss, "bad_event_text",
        "a line names an event that we know, but its fields are not as expected";
    OpenLastLine, Info, "open_last_line",
        "the last line has no line end: the text may have been cut there";
    LostEvents, DataLoss, "lost_events",
        "the recorder lost events because its buffer was full; record with a larger buffer (trace-cmd record \
         -b)";
    Overwritten, Info, "overwritten",
        "older events were overwritten before they were saved: the trace begins later than the recording";
    BrokenSwitchChain, DataLoss, "broken_switch_chain",
        "a CPU runs a task whose arrival was not recorded, although recorded events say whom it ran before: events were \
         lost; run times around it are not counted";
    UntracedIdle, Info, "untraced_idle",
        "a switch from or to the idle task was not recorded, as on virtual machines that do not trace all of these; run times \
         around it are not counted, and a replay infers it";
    HiddenTask, Info, "hidden_task",
        "a task of which no switch away was ever recorded had left its CPU: a filter of the recorder hides what it does \
         (trace-cmd hides itself)";
    ContextUnreliable, Info, "context_unreliable",
        "the task column contradicts sched_switch; only sched_switch is used to tell who ran";
    ClockWentBack, Info, "clock_went_back",
        "times on one CPU go backwards; events were put in order of time";
    ClockJumped, Error, "clock_jumped",
        "events have times that cannot be, as one damaged bit makes them: far from all around them, or beyond days in which \
         nothing happens; they were left out";
    LongSilence, Info, "long_silence",
        "for more than a minute, or for longer than all the rest of the trace takes, no CPU has an event; if \
         the machine was neither idle nor asleep, a time in the file is damaged";
    CpuOutOfRange, Error, "cpu_out_of_range",
        "an event names a CPU that no machine has; it was dropped";
    CpuBeyondHeader, Info, "cpu_beyond_header",
        "an event names a CPU above the number that the header gives; the machine was taken to be larger";
    NegativePid, Error, "negative_pid",
        "an event names a task with a negative id; it was dropped";
    UnknownPrevState, Info, "unknown_prev_state",
        "a task state is of a kind that we do not know; it counts as a sleep";
    NoPreemptionMark, Info, "no_preemption_mark",
        "trace-cmd report prints R for preempted tasks too; use the trace.dat or report -R to tell them \
         apart";
    SwitchWithoutPrev, Info, "switch_without_prev",
        "a CPU's first switch (of the trace, or after lost events) does not say who left, as Perfetto's compact \
         encoding has it; it was left out";
    AssumedStateBits, Info, "assumed_state_bits",
        "the file does not say what the bits of prev_state mean; those of kernels since 4.14 were assumed";
    NoWakeups, Info, "no_wakeups",
        "there is no sched_wakeup event; latencies from wakeup to run cannot be known";
    WakeupWithoutEffect, Info, "wakeup_without_effect",
        "wakeups marked success=0 found their task awake and were left out";
    OtherEvents, Info, "other_events",
        "events that say nothing about scheduling were counted and left out";
    OtherBuffers, Info, "other_buffers",
        "the file holds further trace instances; only one of them was read";
    UnusableClock, Error, "unusable_clock",
        "the trace clock does not count time that we can convert; figures are in ticks of that clock, not ns; \
         record with trace-cmd record -C mono";
    PidReused, Info, "pid_reused",
        "a task id was given out again after its task had ended; figures are kept apart";
    DamagedOption, Error, "damaged_option",
        "an entry of the file's option list is damaged and was left out";
}

/// One kind of trouble, with its count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What kind.
    pub kind: NoteKind,
    /// How often, or how many events, whichever the sentence counts.
    pub count: u64,
    /// The first place.
    pub first: Position,
    /// The first place's particulars, e.g. the line that was not understood.
    pub detail: Option<String>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({}×, first at {})",
            self.kind.severity(),
            self.kind.sentence(),
            self.count,
            self.first
        )?;
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

/// All notes of one import.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportNotes {
    notes: BTreeMap<NoteKind, Note>,
    other_events: BTreeMap<String, u64>,
}

impl ImportNotes {
    /// No notes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one occurrence.
    pub fn add(&mut self, kind: NoteKind, at: Position) {
        self.add_many(kind, 1, at);
    }

    /// Counts `count` occurrences.
    pub fn add_many(&mut self, kind: NoteKind, count: u64, at: Position) {
        let note = self.notes.entry(kind).or_insert(Note { kind, count: 0, first: at, detail: None });
        note.count = note.count.saturating_add(count);
    }

    /// Counts one occurrence; `detail` is asked for the first one only.
    pub fn add_detailed(&mut self, kind: NoteKind, at: Position, detail: impl FnOnce() -> String) {
        let note = self.notes.entry(kind).or_insert_with(|| Note {
            kind,
            count: 0,
            first: at,
            detail: Some(detail()),
        });
        note.count = note.count.saturating_add(1);
    }

    /// Counts an event that the model does not hold, by its name.
    pub fn add_other_event(&mut self, name: &str, count: u64, at: Position) {
        self.add_many(NoteKind::OtherEvents, count, at);
        match self.other_events.get_mut(name) {
            Some(n) => *n = n.saturating_add(count),
            None => {
                self.other_events.insert(name.to_owned(), count);
            }
        }
    }

    /// Forgets a kind.
    pub(crate) fn remove(&mut self, kind: NoteKind) {
        self.notes.remove(&kind);
    }

    /// The note of a kind, if there was any occurrence.
    pub fn get(&self, kind: NoteKind) -> Option<&Note> {
        self.notes.get(&kind)
    }

    /// How often `kind` occurred.
    pub fn count(&self, kind: NoteKind) -> u64 {
        self.get(kind).map_or(0, |note| note.count)
    }

    /// All notes, the gravest first.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        let mut all: Vec<&Note> = self.notes.values().collect();
        all.sort_by_key(|note| (std::cmp::Reverse(note.kind.severity()), note.kind));
        all.into_iter()
    }

    /// Names and counts of the events that were left out, by name.
    pub fn other_events(&self) -> &BTreeMap<String, u64> {
        &self.other_events
    }

    /// The gravest severity, or `None` where there is no note.
    pub fn worst(&self) -> Option<Severity> {
        self.notes.keys().map(|kind| kind.severity()).max()
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

impl fmt::Display for ImportNotes {
    /// One line for each note.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, note) in self.iter().enumerate() {
            let newline = if n == 0 { "" } else { "\n" };
            write!(f, "{newline}{note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn occurrences_are_counted_and_the_first_place_is_kept() {
        let mut notes = ImportNotes::new();
        notes.add(NoteKind::CorruptPage, Position::Byte(4096));
        notes.add(NoteKind::CorruptPage, Position::Byte(8192));
        notes.add_detailed(NoteKind::UnparsedLine, Position::Line(3), || "what?".into());
        notes.add_detailed(NoteKind::UnparsedLine, Position::Line(4), || {
            unreachable!("only the first is kept")
        });
        assert_eq!(
            notes.get(NoteKind::CorruptPage).map(|n| (n.count, n.first)),
            Some((2, Position::Byte(4096)))
        );
        assert_eq!(notes.count(NoteKind::UnparsedLine), 2);
        assert_eq!(notes.count(NoteKind::Truncated), 0);
    }

    #[test]
    fn the_gravest_note_comes_first_and_reads_as_a_sentence() {
        let mut notes = ImportNotes::new();
        notes.add_other_event("irq_handler_entry", 7, Position::Line(2));
        notes.add_detailed(NoteKind::UnparsedLine, Position::Line(3), || "what?".into());
        assert_eq!(
            notes.to_string(),
            "data loss: a line is neither an event nor a comment that we know (1×, first at line 3): what?\n\
             info: events that say nothing about scheduling were counted and left out (7×, first at line 2)"
        );
        assert_eq!(notes.worst(), Some(Severity::DataLoss));
    }

    #[test]
    fn names_are_distinct() {
        let names: BTreeSet<_> = NoteKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), NoteKind::ALL.len());
    }
}
