//! What the parts of a kernel are called, wherever results name them: in a word or two for tables, rows and
//! figures, and in words that go on in a sentence.

pub(crate) mod interrupts;
pub(crate) mod locks;
