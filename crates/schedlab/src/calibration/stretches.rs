//! The `[kernel]` of a machine file: no program can time where the kernel lets itself be preempted.

use super::file::{Primitives, quoted};
use machine::{Operation, Points};
use std::fmt::Write;

impl Primitives<'_> {
    /// As on the machine whose figures are taken over.
    pub(super) fn stretches(&self) -> String {
        let mut text = String::new();
        for operation in Operation::ALL {
            let Some(stretch) = self.base.stretches.of(operation) else { continue };
            let field = format!("kernel.stretch.{}", operation.name());
            let origin = quoted(&self.assumed(&field));
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
