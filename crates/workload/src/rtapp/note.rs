//! What a file says that changes nothing here, or not what its author may think: counted and told, never
//! dropped.

use super::source::Position;
use std::fmt;

/// One kind of remark about a file, with how often it applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// How often.
    pub count: u64,
    /// The different keys or names that it is about, in the order of the file, at most eight of them.
    pub names: Vec<String>,
    /// Where it applies first.
    pub first: Position,
}

/// The kinds of remarks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoteKind {
    /// workgen dialect: repeated keys, all kept.
    RepeatsKept,
    /// rt-app dialect: repeated keys, of which only the last value is kept.
    RepeatsDropped,
    /// workgen dialect: a property (not an event) given twice; the first counts.
    PropertyTwice,
    /// Keys about files, memory and plots that a simulation has no use for.
    NoUseHere,
    /// Keys that change where memory lies or what is traced, and are not modelled.
    NotModelled,
    /// A slice that a fair task asks EEVDF for.
    FairSlice,
    /// Parameters of SCHED_DEADLINE under another policy.
    DeadlineUnused,
    /// Keys that rt-app ignores too.
    Unknown,
    /// Events beside `phases`, which rt-app ignores.
    BesidePhases,
    /// `sync` without its mutex held: locked around it, as rt-app's tutorial describes.
    SyncLocks,
    /// Waits that nothing in the file ends.
    NeverWoken,
    /// A priority under SCHED_IDLE.
    IdlePriority,
    /// Text after the closing brace.
    Trailing,
    /// `iorun` to a device other than /dev/null: modelled as a copy into the page cache.
    DeviceAsCopy,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = |one: &str| format!("{} {one}{}", self.count, if self.count == 1 { "" } else { "s" });
        let text = match self.kind {
            NoteKind::RepeatsKept => {
                n("repeated key")
                    + " kept as workgen does; plain rt-app would keep only the last value of each, at the \
                       first place"
            }
            NoteKind::RepeatsDropped => {
                n("repeated key") + " dropped as plain rt-app does; workgen would keep each with its value"
            }
            NoteKind::PropertyTwice => n("second value") + " of a property ignored, the first counts",
            NoteKind::NoUseHere => n("key") + " without use in a simulation",
            NoteKind::NotModelled => n("key") + " ignored: not modelled",
            NoteKind::FairSlice => {
                n("slice") + " of a fair task: kernels honour it from 6.12 on, others do not"
            }
            NoteKind::DeadlineUnused => {
                n("parameter") + " of SCHED_DEADLINE without effect under another policy"
            }
            NoteKind::Unknown => n("unknown key") + " ignored, as rt-app does",
            NoteKind::BesidePhases => n("event") + " beside `phases` ignored, as rt-app does",
            NoteKind::SyncLocks => n("sync event") + " without a lock around, locked here",
            NoteKind::NeverWoken => n("wait") + " that nothing in the file ends",
            NoteKind::IdlePriority => n("priority value") + " without effect under SCHED_IDLE",
            NoteKind::Trailing => "text after the closing brace ignored, as rt-app does".to_owned(),
            NoteKind::DeviceAsCopy => {
                n("write event") + " modelled as a copy into the page cache, no device is waited for"
            }
        };
        f.write_str(&text)?;
        if !self.names.is_empty() {
            write!(f, ": {}", self.names.join(", "))?;
        }
        write!(f, " (first in line {})", self.first.line)
    }
}

/// Names that one note lists.
const LISTED: usize = 8;

/// Collects notes, one of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<Note>);

impl Notes {
    pub fn add(&mut self, kind: NoteKind, name: &str, place: Position) {
        let at = match self.0.iter().position(|note| note.kind == kind) {
            Some(at) => at,
            None => {
                self.0.push(Note { kind, count: 0, names: Vec::new(), first: place });
                self.0.len() - 1
            }
        };
        let note = &mut self.0[at];
        note.count += 1;
        if !name.is_empty() && note.names.len() < LISTED && !note.names.iter().any(|n| n == name) {
            note.names.push(name.to_owned());
        }
    }

    pub fn into_sorted(mut self) -> Vec<Note> {
        self.0.sort_by_key(|note| note.kind);
        self.0
    }
}
