//! Where a task is in work with short critical sections ([`crate::Step::Sections`]).

use crate::objects::SpinlockId;
use crate::sections::Sections;
use scheduler::Nanos;

/// A task's place in its work. Phases are counted from 0: the even ones are the parts between the sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InSections {
    work: Sections,
    pub phase: usize,
    /// CPU time left of the phase.
    pub left: Nanos,
    /// The present run ends with this phase, a part.
    pub planned: usize,
}

impl InSections {
    /// Nothing has been done yet.
    pub fn new(work: Sections) -> InSections {
        InSections { work, phase: 0, left: work.first, planned: 0 }
    }

    /// Whether it is in a section.
    pub fn holds(&self) -> bool {
        self.phase % 2 == 1
    }

    /// The last phase, a part.
    pub fn last(&self) -> usize {
        2 * self.work.locks().len()
    }

    /// The lock of this phase, or of the section after it.
    pub fn lock(&self, phase: usize) -> SpinlockId {
        self.work.locks()[phase / 2]
    }

    /// CPU time of each section.
    pub fn hold(&self) -> Nanos {
        self.work.hold
    }

    /// CPU time after each section.
    pub fn part(&self) -> Nanos {
        self.work.part
    }

    /// The next phase begins.
    pub fn advance(&mut self) {
        self.phase += 1;
        self.left = if self.holds() { self.work.hold } else { self.work.part };
    }
}

/// The [`InSections`] of a task, while it has any. Its memory is taken when they begin for the first time,
/// and kept: most tasks never have them.
#[derive(Debug, Default)]
pub(crate) struct SectionsOfTask {
    place: Option<Box<InSections>>,
    begun: bool,
}

impl SectionsOfTask {
    pub fn begin(&mut self, at: InSections) {
        match &mut self.place {
            Some(place) => **place = at,
            None => self.place = Some(Box::new(at)),
        }
        self.begun = true;
    }

    pub fn end(&mut self) {
        self.begun = false;
    }

    pub fn have_begun(&self) -> bool {
        self.begun
    }

    pub fn get(&mut self) -> Option<&mut InSections> {
        self.place.as_deref_mut().filter(|_| self.begun)
    }
}
