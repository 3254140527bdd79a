//! Files that experiments name: those that Python holds in memory, and else those on the disk.

use lab::{Files, Opened, SourceKind, Sources};
use schedlab::files::Disk;
use std::io;

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub struct Overlay(pub Files);

impl Sources for Overlay {
    fn kind(&self, name: &str) -> Option<SourceKind> {
        self.0.kind(name).or_else(|| Disk.kind(name))
    }

    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        if self.0.contains_key(name) { self.0.open(name) } else { Disk.open(name) }
    }
}
