//! Flags by which tasks stop each other.

use std::cell::Cell;
use std::rc::Rc;

/// Something that one task tells others through memory, such as "stop"; off at first.
#[derive(Clone, Debug, Default)]
pub struct Flag(Rc<Cell<bool>>);

impl Flag {
    /// Turns it on.
    pub fn raise(&self) {
        self.0.set(true);
    }

    /// Turns it off again, for another round.
    pub fn lower(&self) {
        self.0.set(false);
    }

    /// Whether it is on.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.get()
    }
}
