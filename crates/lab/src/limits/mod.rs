//! What is not modelled, and what that changes: one table, from which `schedlab list limits`, `--explain`,
//! the note of a run and docs/limits.md are made.

mod page;
mod table;

use scheduler::registry::Profile;
use std::fmt;
use table::{ALL, LIMITS, PLACEMENT, REAL_TIME};

pub use page::page;

/// Something that Linux does and the model does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Its name.
    pub name: &'static str,
    /// How much it can change.
    pub effect: Effect,
    /// What is missing or done otherwise, in a sentence.
    pub missing: &'static str,
    /// Which figures that changes, and how much where it was measured.
    pub changes: &'static str,
    /// Profiles whose kernel does it: they are approximate in this.
    pub profiles: &'static [&'static str],
    /// Where to read how Linux does it, or what showed it: sections of docs/spec.
    pub source: &'static str,
}

/// How much a limit can change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// A figure that a user reads by more than 30 %, or the answer to a question.
    Large,
    /// A figure by 5 to 30 %.
    Medium,
    /// Visible to someone who looks for it.
    Small,
}

impl Effect {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Effect::Large => "large",
            Effect::Medium => "medium",
            Effect::Small => "small",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Limit {
    /// Every limit, those that change most first.
    #[must_use]
    pub const fn all() -> &'static [Limit] {
        LIMITS
    }

    /// Whether this profile's kernel does what the model does not.
    #[must_use]
    pub fn applies_to(&self, profile: &str) -> bool {
        self.profiles.contains(&profile)
    }

    /// Names of the profiles in a line.
    #[must_use]
    pub fn profiles_text(&self) -> String {
        match self.profiles {
            all if all == ALL => "all".to_owned(),
            some => some.join(", "),
        }
    }
}

/// What a result must say about the profile on a machine of this size, in one line: where fair tasks have a
/// choice of CPUs and do not choose as the kernel of the profile's name does.
pub(crate) fn note(profile: &str, cpus: usize) -> Option<&'static str> {
    let placed_otherwise = cpus > 1 && PLACEMENT.applies_to(profile);
    placed_otherwise.then_some(PLACED_AS_BEFORE)
}

/// Of profiles whose fair tasks choose otherwise than those of the kernels of their names.
pub(crate) const PLACED_AS_BEFORE: &str =
    "fair tasks choose among CPUs as in Linux 2.6.36: `schedlab list limits`";

/// Between which two profiles a comparison of fair loads misses a difference that their kernels have.
pub(crate) fn no_difference(base: &str, variant: &str) -> Option<String> {
    let as_before: Vec<&str> =
        [base, variant].into_iter().filter(|profile| PLACEMENT.applies_to(profile)).collect();
    let (Some(first), true) = (as_before.first(), base != variant) else { return None };
    // A kernel that places as itself and one that does not differ here by more than their names say.
    let newest = Profile::find(base).zip(Profile::find(variant)).is_some_and(|(base, variant)| {
        as_before.len() == 1 && (base.builds_on("6.1.y") || variant.builds_on("6.1.y"))
    });
    Some(if newest {
        format!(
            "{first} places and balances fair tasks as 2.6.36 did, and not as its kernel: a part of what changes \
             between {base} and {variant} here is that, and none of their names"
        )
    } else {
        format!(
            "{base} and {variant} place and balance fair tasks in ways of their own, of which the settings in \
             which they differ here are a part only: what does not change here may change in truth"
        )
    })
}

/// What a comparison of a kernel with PREEMPT_RT and one without misses.
pub(crate) fn costs_of_preempt_rt(base: &str, variant: &str) -> Option<&'static str> {
    let is_rt = |profile: &str| REAL_TIME.contains(&profile);
    (is_rt(base) != is_rt(variant)).then_some(
        "what its sleeping locks cost fair tasks is modelled in part: with PREEMPT_RT hackbench is told to take 5 to \
         30 % longer, here it takes up to 6 (limit preempt_rt)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::registry::PROFILES;
    use std::collections::BTreeSet;

    #[test]
    fn the_most_important_limits_come_first_and_each_has_a_name_of_its_own() {
        assert!(Limit::all().is_sorted_by_key(|limit| limit.effect));
        let names: BTreeSet<&str> = Limit::all().iter().map(|limit| limit.name).collect();
        assert_eq!(names.len(), Limit::all().len());
    }

    #[test]
    fn two_kernels_that_are_placed_alike_here_and_not_in_truth_are_told_of() {
        assert!(no_difference("4.1", "2.6.36").is_some_and(|text| text.starts_with("4.1 and 2.6.36 place")));
        assert!(no_difference("2.6.36", "4.0").is_some());
        let upgrade = no_difference("4.0", "6.1").expect("4.0 is not placed as itself");
        assert!(upgrade.starts_with("4.0 places and balances fair tasks as 2.6.36 did"), "{upgrade}");
        assert_eq!(no_difference("6.1", "6.18.y"), None, "both as their kernels");
        assert_eq!(no_difference("4.0", "4.0"), None, "other settings of one kernel");
        assert_eq!(no_difference("2.6.36", "2.6.32"), None, "both as their kernels");
    }

    #[test]
    fn limits_name_profiles_that_exist_and_every_kernel_has_some() {
        for limit in Limit::all() {
            assert!(limit.profiles.iter().all(|name| Profile::find(name).is_some()), "{}", limit.name);
            assert!(limit.missing.ends_with('.') && limit.changes.ends_with('.'), "{}", limit.name);
        }
        for profile in PROFILES.iter().filter(|p| p.is_kernel()) {
            assert!(Limit::all().iter().any(|limit| limit.applies_to(profile.name)), "{}", profile.name);
        }
    }

    /// Kernel-audit 9: with every fair result on more than one CPU.
    #[test]
    fn the_note_is_for_later_kernels_on_several_cpus_and_fits_a_line() {
        let text = note("4.0", 2).expect("a note");
        assert!("note: ".len() + text.len() <= 80, "{}", text.len());
        assert_eq!([note("4.0", 1), note("2.6.36", 8), note("2.6.31", 2), note("6.1", 8)], [None; 4]);
        assert!(note("3.3", 40).is_some());
    }
}
