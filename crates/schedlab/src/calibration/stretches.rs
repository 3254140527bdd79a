//! The `[kernel]` of a machine file: where the kernel lets itself be preempted, as far as timers over tasks
//! in it show that, and as on the machine whose figures are taken over elsewhere.

use super::file::{BASE, Primitives, quoted};
use machine::{Operation, Points};
use std::fmt::Write;

impl Primitives<'_> {
    /// All operations that are described there.
    pub(super) fn stretches(&self) -> String {
        let mut text = String::new();
        for operation in Operation::ALL {
            let Some(base) = self.base.stretches.of(operation) else { continue };
            let field = format!("kernel.stretch.{}", operation.name());
            let seen = self.measured.pieces.as_ref().and_then(|pieces| {
                let piece = pieces.of(operation, base)?;
                let how = pieces.how(&piece.waits);
                Some((piece.stretch, format!("measured: {how}; what that does not show is as on {BASE}")))
            });
            let (stretch, origin) = seen.unwrap_or_else(|| (*base, self.assumed(&field)));
            let origin = quoted(&origin);
            // Writing into a text cannot fail.
            let _ = writeln!(text, "\n[{field}]");
            if let Some(Points { cond_every, might_every, longest }) = stretch.points {
                let _ = writeln!(text, "cond_every_ns = {}", cond_every.0);
                let _ = writeln!(text, "might_every_ns = {}", might_every.0);
                let _ = writeln!(text, "longest_ns = {}", longest.0);
            }
            let _ = writeln!(text, "atomic_percent = {}", stretch.atomic_percent);
            let _ = writeln!(text, "atomic_mean_ns = {}", stretch.atomic_mean.0);
            let _ = writeln!(text, "atomic_max_ns = {}\norigin = {origin}", stretch.atomic_max.0);
        }
        text
    }
}
