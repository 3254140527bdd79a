//! The kernel's event records, as trace.dat and perf.data hold them: what they look like is told by
//! descriptions in the file ([`format`]), which become offsets once ([`layout`]); [`decode`] makes events of
//! the records.

mod decode;
mod descriptions;
mod format;
mod layout;
mod state_bits;
mod symbols;

pub(crate) use decode::Decoder;
pub(crate) use descriptions::{read_ftrace_formats, read_system_formats};
pub(crate) use format::{EventFormat, header_page_field};
pub(crate) use symbols::Symbols;
