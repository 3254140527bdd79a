//! docs/limits.md.

use super::Limit;
use crate::kernel::{DISTRIBUTIONS, NamedKernel};
use std::fmt::Write;

const HEAD: &str = "\
<!-- Made from crates/lab/src/limits and kernel: change those, then `SNAPSHOTS=overwrite cargo test -p schedlab-lab --test it limits`. -->

# What is not modelled

`schedlab list limits` prints the first table, `schedlab explain 6.1` what of it concerns a kernel, `schedlab explain NAME` one line of it.
What a *large* effect can do: change a figure by more than 30 %, or turn the answer to a question. *Medium*: 5 to 30 %. *Small*: it can
be seen by who looks for it. \"Not measured\" means that nobody has compared it with a real kernel.

| name | effect | missing, or not as in Linux | what that changes | profiles |
|---|---|---|---|---|
";

const NAMES: &str = "
## Kernels without a profile of their own

Where a kernel is named, it may also be a release (`5.14`, `6.8.12`, what `uname -r` prints) or a distribution. It runs as the nearest profile: the same
release, else the newest one before it, but 4.4 from 4.2 on, 4.19 from 4.14 on, 5.4 from 4.20 on, 5.10 from 5.5 on, 5.15 from 5.12 on, 6.1 from 5.19 on, 6.1.y from 6.1.160 on, 6.18 for 6.17 and
7.0 for 6.19; with PREEMPT_RT 6.1-rt from 4.15 on, 6.12-rt from 6.12 on and 6.18-rt from 6.17 on. The result says so, and what
is known to differ; so does `schedlab explain 5.14`. HZ and the preemption model are those of the distribution's x86-64 build, the
model as it is without a boot option; where it is assumed, nobody has looked at such a kernel (fair-placement 8.8).

| name | Linux | HZ | preemption model | runs as |
|---|---|---|---|---|
";

/// The text of docs/limits.md.
#[must_use]
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    for limit in Limit::all() {
        let Limit { name, effect, missing, changes, .. } = limit;
        let profiles = limit.profiles_text();
        let _infallible = writeln!(out, "| `{name}` | {effect} | {missing} | {changes} | {profiles} |");
    }
    out += NAMES;
    for distribution in DISTRIBUTIONS {
        let name = distribution.name;
        let profile = NamedKernel::find(name).map_or("-", |kernel| kernel.profile);
        let (linux, build) = (distribution.linux, distribution.build);
        let model = build.model_text();
        let _infallible = writeln!(out, "| `{name}` | {linux} | {} | {model} | {profile} |", build.hz);
    }
    out
}
