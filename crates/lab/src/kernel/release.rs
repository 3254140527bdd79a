//! Numbers of Linux releases.

use scheduler::registry::ReleaseNumbers;
use std::fmt;

/// A release of Linux. Ordered by age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release {
    /// The three numbers of `6.1.178`; the third is 0 where none is written, and a fourth (`2.6.36.4`) is
    /// left out.
    numbers: [u32; 3],
}

/// The last release of each finished series: what comes after it was never released.
const LAST: [Release; 5] = [
    Release::new(2, 6, 39),
    Release::new(3, 19, u32::MAX),
    Release::new(4, 20, u32::MAX),
    Release::new(5, 19, u32::MAX),
    Release::new(6, 19, u32::MAX),
];

impl Release {
    /// The release of these numbers.
    pub const fn new(version: u32, patchlevel: u32, sublevel: u32) -> Release {
        Release { numbers: [version, patchlevel, sublevel] }
    }

    /// The end of its stable branch: a distribution's kernel, whose own number does not tell the stable
    /// release.
    pub const fn end_of_branch(self) -> Release {
        Release { numbers: [self.numbers[0], self.numbers[1], u32::MAX] }
    }

    /// Reads `6.8`, `v6.8`, `2.6.36.4`, or what `uname -r` prints: `6.1.0-18-rt-amd64`, `6.8.0+`. `None` for
    /// anything else, and for numbers that no release ever had.
    pub fn parse(text: &str) -> Option<Release> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.strip_suffix('+').unwrap_or(text);
        let (plain, build) = text.split_once('-').map_or((text, None), |(plain, build)| (plain, Some(build)));
        let numbers: Option<Vec<u32>> = plain.split('.').map(|n| n.parse().ok()).collect();
        let numbers = numbers.filter(|n| (2..=4).contains(&n.len()))?;
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
        let release = Release::new(number(0), number(1), number(2));
        let existed = LAST
            .iter()
            .find(|last| last.numbers[0] == release.numbers[0])
            .is_none_or(|last| release <= *last && (release.numbers[0] != 2 || release.numbers[1] == 6));
        // Distributions count their builds after a dash and leave the stable release out.
        let is_build = build.is_some_and(|b| b.starts_with(|c: char| c.is_ascii_digit())) && number(2) == 0;
        existed.then(|| if is_build { release.end_of_branch() } else { release })
    }

    /// Its three numbers.
    pub const fn numbers(self) -> ReleaseNumbers {
        self.numbers
    }

    /// Whether both are of one series: `6.1` and `6.1.178`, but not `2.6.36` and `2.6.37`.
    pub fn same_series(self, other: Release) -> bool {
        let series = |r: Release| if r.numbers[0] == 2 { 3 } else { 2 };
        self.numbers[..series(self)] == other.numbers[..series(other)]
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [version, patchlevel, sublevel] = self.numbers;
        match sublevel {
            0 | u32::MAX => write!(f, "{version}.{patchlevel}"),
            _ => write!(f, "{version}.{patchlevel}.{sublevel}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_as_people_and_uname_write_them() {
        for (text, release) in [
            ("6.8", Release::new(6, 8, 0)),
            ("v6.8", Release::new(6, 8, 0)),
            ("6.1.178", Release::new(6, 1, 178)),
            ("2.6.36.4", Release::new(2, 6, 36)),
            ("6.8.0+", Release::new(6, 8, 0)),
            ("6.12-rc3", Release::new(6, 12, 0)),
            ("6.18.44-cloud", Release::new(6, 18, 44)),
            ("6.1.0-18-rt-amd64", Release::new(6, 1, u32::MAX)),
        ] {
            assert_eq!(Release::parse(text), Some(release), "{text}");
        }
        for text in ["6", "2.6.63", "2.5.1", "3.20", "4.21", "6.1.2.3.4", "6.x", "debian12", "", "2.6.36+S9"]
        {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_branch_comes_after_all_of_its_stable_releases() {
        let end = Release::new(6, 1, 0).end_of_branch();
        assert!(Release::new(6, 1, 178) < end && end < Release::new(6, 2, 0));
        assert!(end.same_series(Release::new(6, 1, 5)) && !end.same_series(Release::new(6, 2, 0)));
        assert!(!Release::new(2, 6, 36).same_series(Release::new(2, 6, 37)));
    }

    #[test]
    fn a_release_prints_as_it_is_written() {
        let printed = |text| Release::parse(text).map(|r| r.to_string());
        assert_eq!(printed("6.1.0-18-amd64").as_deref(), Some("6.1"));
        assert_eq!(printed("2.6.36").as_deref(), Some("2.6.36"));
    }
}
