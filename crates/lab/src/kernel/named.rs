//! Kernels as users and recordings name them: a profile, a release, a distribution, what `uname` says.

use super::KernelError;
use super::differences::{DIFFERENCES, Difference};
use super::distributions::{Build, Distribution};
use super::release::Release;
use scheduler::registry::{PROFILES, Profile, SettingError};

/// Releases from this one on are nearer to profiles with load tracking than to 4.1, whose fair class is that
/// of 2.6.36 (fair-placement U8).
const FIRST_WITH_PELT: Release = Release::new(4, 2, 0);
/// Those from this one on with PREEMPT_RT run as the newest described kernel with it: one walker for
/// RT_PUSH_IPI (rt-class 6.4).
const FIRST_AS_DESCRIBED_RT: Release = Release::new(4, 15, 0);
/// From which release on such a kernel runs as which, the oldest first: the nearest as to the fair class, as
/// without PREEMPT_RT. Where threads serve timers, differences say.
const NEAREST_RT: &[(Release, &str)] = &[
    (FIRST_AS_DESCRIBED_RT, "6.1-rt"),
    (Release::new(6, 12, 0), "6.12-rt"),
    (Release::new(6, 17, 0), "6.18-rt"),
];
/// Stable branches, from where on a profile of their own describes them without PREEMPT_RT, and none with it.
/// (What came late to 6.1 the differences say one by one.)
const LATER_RT: &[[Release; 2]] = &[
    [Release::new(6, 12, 59), Release::new(6, 13, 0)],
    [Release::new(6, 18, 2), Release::new(u32::MAX, 0, 0)],
];
/// From which release on a profile is the nearest, the oldest first (fair-placement 8.3, eevdf-class 0.3,
/// U10): the one of whose differences to the next it has most. 4.14 has seven of the fourteen that came
/// between 4.4 and 4.19, and a form of wakeups of its own (fair-placement U7). Of a stable branch the later
/// half is nearer to its end, where fixes have come back.
const NEAREST: &[(Release, &str)] = &[
    (FIRST_WITH_PELT, "4.4"),
    (Release::new(4, 14, 0), "4.19"),
    (Release::new(4, 20, 0), "5.4"),
    (Release::new(5, 5, 0), "5.10"),
    (Release::new(5, 12, 0), "5.15"),
    (Release::new(5, 19, 0), "6.1"),
    (Release::new(6, 1, 160), "6.1.y"),
    (Release::new(6, 2, 0), "6.1"),
    (Release::new(6, 6, 0), "6.6"),
    (Release::new(6, 12, 0), "6.12"),
    (Release::new(6, 12, 59), "6.12.y"),
    (Release::new(6, 13, 0), "6.12"),
    (Release::new(6, 17, 0), "6.18"),
    (Release::new(6, 18, 2), "6.18.y"),
    (Release::new(6, 19, 0), "7.0"),
    (Release::new(7, 1, 0), "7.1"),
];
/// The first release with this fair class.
const FIRST_CFS: Release = Release::new(2, 6, 23);

/// A kernel by name, with the described profile that is nearest to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedKernel {
    /// As it was given.
    pub asked: String,
    /// The profile as which it runs.
    pub profile: &'static str,
    /// How the distribution builds it, where one was named.
    pub build: Option<Build>,
    /// Its release, unless it is the profile itself.
    release: Option<Release>,
    /// What it has that the profile has not, where no setting or table says it.
    remark: Option<&'static str>,
}

impl NamedKernel {
    /// The kernel of a word after `--kernel`: `6.1-rt`, `5.14`, `debian12`.
    ///
    /// # Errors
    /// No profile, release since 2.6.23 or distribution has this name; the error suggests the nearest.
    pub fn find(word: &str) -> Result<NamedKernel, KernelError> {
        let unknown = || SettingError::UnknownProfile { name: word.to_owned() }.into();
        NamedKernel::of_profile(word)
            .or_else(|| NamedKernel::of_distribution(word))
            .or_else(|| NamedKernel::of_release(word))
            .ok_or_else(unknown)
    }

    /// The kernel of a recording, from its `uname`, such as `Linux 6.18.44 x86_64`; `None` for a text without
    /// a release.
    pub fn of_uname(uname: &str) -> Option<NamedKernel> {
        let profile = uname.strip_prefix("Linux ").and_then(NamedKernel::of_profile);
        let of_word = || {
            let mut words = uname.split(' ').filter(|word| word.contains('.'));
            // By the same word it is found again.
            words.find_map(|word| NamedKernel::of_profile(word).or_else(|| NamedKernel::of_release(word)))
        };
        profile.or_else(of_word)
    }

    /// The kernel where none is named.
    pub(super) fn of_default_profile() -> NamedKernel {
        let profile = super::DEFAULT_PROFILE;
        NamedKernel { asked: profile.to_owned(), profile, build: None, release: None, remark: None }
    }

    fn of_profile(name: &str) -> Option<NamedKernel> {
        let profile = Profile::find(name)?.name;
        Some(NamedKernel { asked: name.to_owned(), profile, build: None, release: None, remark: None })
    }

    fn of_distribution(name: &str) -> Option<NamedKernel> {
        let found = Distribution::find(name)?;
        let remark = "its makers added later changes, which are not listed here";
        Some(NamedKernel {
            asked: name.to_owned(),
            profile: nearest_profile(found.linux)?,
            build: Some(found.build),
            release: Some(found.linux),
            remark: (!found.follows_stable).then_some(remark),
        })
    }

    fn of_release(text: &str) -> Option<NamedKernel> {
        let release = Release::parse(text)?;
        let plain = nearest_profile(release)?;
        let is_rt = text.contains("-rt");
        if is_rt && release < Release::new(3, 0, 0) {
            // Those of the documents have profiles of their own: probably one of them is meant.
            return None;
        }
        let rt = is_rt.then(|| NEAREST_RT.iter().rev().find(|(from, _)| *from <= release));
        let remark = match rt {
            Some(None) => Some("PREEMPT_RT is not described for it"),
            Some(Some(_)) if release < Release::new(5, 19, 0) => {
                Some("fair tasks are placed and balanced as by 6.1")
            }
            Some(Some(_)) if LATER_RT.iter().any(|[from, to]| *from <= release && release < *to) => {
                Some("what came after the release is not in it")
            }
            _ if release < Release::new(2, 6, 31) => Some("older than every described release"),
            _ => None,
        };
        let profile = rt.flatten().map_or(plain, |(_, profile)| *profile);
        Some(NamedKernel { asked: text.to_owned(), profile, build: None, release: Some(release), remark })
    }

    /// The release of Linux that it is, unless it was named as a profile.
    pub fn release(&self) -> Option<Release> {
        self.release
    }

    /// That, or else the one that the profile describes.
    #[must_use]
    pub fn nearest_release(&self) -> Release {
        // The development trees of the documents, which no release is, are of 2009.
        let plain = self.profile.split(['+', '-']).next().unwrap_or(self.profile);
        let described = || match plain.strip_suffix(".y") {
            Some(branch) => Release::parse(branch).map(Release::end_of_branch),
            None => Release::parse(plain),
        };
        self.release.or_else(described).unwrap_or(Release::new(2, 6, 32))
    }

    /// Whether its profile is that of another release, or of no release in particular.
    pub fn is_nearest(&self) -> bool {
        self.release.is_some()
    }

    /// What is known to differ from the profile.
    pub fn differences(&self) -> impl Iterator<Item = &'static Difference> {
        let (release, profile) = (self.release, self.profile);
        DIFFERENCES.iter().filter(move |d| release.is_some_and(|release| d.applies(release, profile)))
    }

    /// What came later to the stable branch of a distribution that does not follow it: its makers may have
    /// taken that over.
    pub fn later_in_branch(&self) -> impl Iterator<Item = &'static Difference> {
        let (end, profile) = (self.end_of_branch(), self.profile);
        let differs = move |d: &&Difference| end.is_some_and(|end| d.applies(end, profile));
        let known: Vec<&Difference> = self.differences().collect();
        DIFFERENCES.iter().filter(differs).filter(move |d| !known.contains(d))
    }

    /// The profile of the end of that branch, where it has one of its own.
    #[must_use]
    pub fn profile_of_branch(&self) -> Option<&'static str> {
        nearest_profile(self.end_of_branch()?).filter(|profile| *profile != self.profile)
    }

    /// The end of the branch that a distribution began with and does not follow.
    fn end_of_branch(&self) -> Option<Release> {
        let of = Distribution::find(&self.asked)?;
        (!of.follows_stable).then(|| of.linux.end_of_branch())
    }

    /// What is known to differ, but in no way that `--set` could express or a table list.
    pub fn remark(&self) -> Option<&'static str> {
        self.remark
    }

    /// Whether it is what the profile describes, as far as is known.
    pub fn is_exact(&self) -> bool {
        let described = self.profile.trim_end_matches("-rt").trim_end_matches(".y");
        let same =
            |release: Release| Release::parse(described).is_some_and(|profile| release.same_series(profile));
        self.release.is_none_or(same) && self.remark.is_none() && self.differences().next().is_none()
    }

    /// How this release behaves and this profile does not, where that must not be overlooked, and what it
    /// makes of the figures of a run as this profile.
    pub fn warning(&self, profile: &str) -> Option<String> {
        let release = self.release?;
        let important = |d: &Difference| Some(format!("{}: {}", d.what, d.implies?));
        let differs = |d: &&Difference| d.is_of(release) && !d.is_in(profile);
        let known: Vec<String> = DIFFERENCES.iter().filter(differs).filter_map(important).collect();
        (!known.is_empty())
            .then(|| format!("Linux {release} runs as {profile}; in {release}, {}", known.join("; ")))
    }

    /// As what it runs, if not as itself.
    pub fn headline(&self) -> Option<String> {
        Some(format!("{} is run as {}", self.shown(self.release?), self.profile))
    }

    fn shown(&self, release: Release) -> String {
        if Release::parse(&self.asked).is_some() {
            format!("Linux {}", self.asked)
        } else {
            format!("{} (Linux {release})", self.asked)
        }
    }

    /// What a reader of its results must know: as what it ran and what differs; `None` for a profile's own
    /// name.
    pub fn note(&self) -> Option<String> {
        let release = self.release?;
        let build = self.build.map_or(String::new(), |build| format!(" with {}", build.settings_text()));
        let name = self.shown(release);
        if self.is_exact() {
            return self.build.map(|_| format!("{name} is run as {}{build}", self.profile));
        }
        let of_settings = |d: &Difference| match d.setting {
            Some(setting) => format!("{} (setting {setting})", d.what),
            None => d.what.to_owned(),
        };
        let known: Vec<String> =
            self.differences().map(of_settings).chain(self.remark.map(str::to_owned)).collect();
        let known = if known.is_empty() {
            "what differs is not established".to_owned()
        } else {
            format!("known to differ there: {}", known.join("; "))
        };
        let profile = self.profile;
        Some(format!("{name} is run as {profile}, the nearest described kernel{build}; {known}"))
    }
}

/// The profile of the same release, or the newest one before it, but what [`NEAREST`] says for later ones;
/// `None` for releases before the fair class.
fn nearest_profile(release: Release) -> Option<&'static str> {
    if release < FIRST_CFS {
        return None;
    }
    if release >= FIRST_WITH_PELT {
        let near = NEAREST.iter().rev().find(|(from, _)| *from <= release);
        return near.map(|(_, profile)| *profile);
    }
    let plain = || PROFILES.iter().filter_map(|p| Some((plain_release(p.name)?, p.name)));
    let older = plain().filter(|(described, _)| *described <= release).max();
    older.or_else(|| plain().min()).map(|(_, name)| name)
}

/// The release of a profile that is one: `2.6.36`, but not `6.1-rt` or `2.6.31.3`.
fn plain_release(name: &str) -> Option<Release> {
    Release::parse(name).filter(|release| release.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(word: &str) -> Option<&'static str> {
        NamedKernel::find(word).ok().map(|kernel| kernel.profile)
    }

    #[test]
    fn each_word_has_the_nearest_profile() {
        for (word, nearest) in [
            ("6.1-rt", "6.1-rt"),
            ("tip+", "tip+"),
            ("2.6.24", "2.6.31"),
            ("2.6.34", "2.6.33"),
            ("3.2", "2.6.37"),
            ("3.10", "3.3"),
            ("4.2", "4.4"),
            ("4.4", "4.4"),
            ("4.9", "4.4"),
            ("4.13", "4.4"),
            ("4.14", "4.19"),
            ("4.9-rt", "4.4"),
            ("4.14-rt", "4.19"),
            ("4.15-rt", "6.1-rt"),
            ("4.15", "4.19"),
            ("4.20", "5.4"),
            ("5.3", "5.4"),
            ("5.5", "5.10"),
            ("5.11", "5.10"),
            ("5.12", "5.15"),
            ("5.14", "5.15"),
            ("5.18", "5.15"),
            ("5.19", "6.1"),
            ("6.11-rt", "6.1-rt"),
            ("6.12-rt", "6.12-rt"),
            ("6.12.70-rt", "6.12-rt"),
            ("6.16-rt", "6.12-rt"),
            ("6.17-rt", "6.18-rt"),
            ("6.18.5-rt", "6.18-rt"),
            ("7.1-rt", "6.18-rt"),
            ("6.5", "6.1"),
            ("6.6", "6.6"),
            ("6.8", "6.6"),
            ("6.12", "6.12"),
            ("6.12.58", "6.12"),
            ("6.12.59", "6.12.y"),
            ("6.16", "6.12"),
            ("6.17", "6.18"),
            ("6.18.1", "6.18"),
            ("6.18.2", "6.18.y"),
            ("6.19", "7.0"),
            ("7.0", "7.0"),
            ("7.3", "7.1"),
            ("6.1.159", "6.1"),
            ("6.1.160", "6.1.y"),
            ("6.2", "6.1"),
            ("debian12", "6.1.y"),
            ("debian9", "4.4"),
            ("debian10", "4.19"),
            ("ubuntu16.04", "4.4"),
            ("debian11", "5.10"),
            ("ubuntu18.04", "4.19"),
            ("ubuntu20.04", "5.4"),
            ("rhel8", "4.19"),
            ("debian13", "6.12.y"),
            ("ubuntu22.04", "5.15"),
            ("ubuntu26.04", "7.0"),
            ("rhel9", "5.15"),
            ("ubuntu24.04", "6.6"),
            ("rhel10", "6.12"),
            ("rhel7", "3.3"),
            ("bookworm", "6.1.y"),
            ("focal", "5.4"),
        ] {
            assert_eq!(profile(word), Some(nearest), "{word}");
        }
        for word in ["2.6.22", "2.4.20", "2.6.63", "2.6.23-rt6", "debian", "rt5", ""] {
            assert_eq!(profile(word), None, "{word}");
        }
    }

    #[test]
    fn unknown_words_get_the_nearest_profile_or_distribution() {
        for (wrong, right) in [("debain12", "debian12"), ("2.6.63", "2.6.36"), ("ubuntu2404", "ubuntu24.04")]
        {
            let error = NamedKernel::find(wrong).expect_err("unknown").to_string();
            assert!(error.contains(&format!("did you mean `{right}`?")), "{error}");
        }
    }

    #[test]
    fn a_recording_kernel_has_the_nearest_profile() {
        let profile = |uname| NamedKernel::of_uname(uname).map(|kernel| kernel.profile);
        assert_eq!(profile("Linux 6.18.44-cloud x86_64"), Some("6.18.y"));
        assert_eq!(profile("Linux 6.1.0-18-rt-amd64 x86_64"), Some("6.1-rt"));
        assert_eq!(profile("Linux 3.10.0 x86_64"), Some("3.3"));
        assert_eq!(profile("Linux 2.6.36.4"), Some("2.6.36"));
        assert_eq!(profile("Linux tip+"), Some("tip+"), "a run's own trace");
        assert_eq!(profile("Linux 2.4.20"), None);
        assert_eq!(profile("Linux"), None);
        for uname in ["Linux 6.18.44-cloud x86_64", "Linux 6.1 x86_64", "Linux 3.10.0", "Linux tip+"] {
            let kernel = NamedKernel::of_uname(uname).expect("a kernel");
            assert_eq!(NamedKernel::find(&kernel.asked), Ok(kernel), "{uname}");
        }
    }

    #[test]
    fn a_note_says_as_what_it_runs_and_what_differs() {
        let note = |word| NamedKernel::find(word).expect("a kernel").note();
        assert_eq!(note("6.1"), None);
        assert_eq!(note("2.6.36.4"), None, "a stable release of a described kernel");
        assert_eq!([note("6.1.24"), note("6.1.192")], [None, None]);
        assert!(note("6.1.42").expect("a note").contains("(setting recent_used=prev)"));
        assert!(note("6.1.25").expect("a note").contains("(setting lb_average=stays)"));
        assert!(note("6.1.170").expect("a note").contains("RT_PUSH_IPI is on (setting RT_PUSH_IPI)"));
        assert_eq!(
            note("debian12").as_deref(),
            Some("debian12 (Linux 6.1) is run as 6.1.y with hz=250, preempt_model=voluntary")
        );
        let six_eight = note("6.8").expect("a note");
        assert!(six_eight.starts_with("Linux 6.8 is run as 6.6, the nearest"), "{six_eight}");
        let real_time = note("6.8-rt").expect("a note");
        assert!(real_time.contains("EEVDF serves fair tasks"), "{real_time}");
        assert_eq!(note("6.12.3-rt"), None);
        assert!(note("6.12.70-rt").expect("a note").ends_with("what came after the release is not in it"));
        assert!(note("6.14-rt").expect("a note").contains("(setting timer_thread=ktimers)"));
        assert!(
            note("6.16")
                .expect("a note")
                .contains("slices of 0.7 ms on one CPU, of 2.8 from 8 on (set base_slice_ns)")
        );
        let rhel = note("rhel9").expect("a note");
        assert!(
            rhel.contains("with hz=1000, preempt_model=voluntary (assumed);")
                && rhel.ends_with("which are not listed here"),
            "{rhel}"
        );
        assert!(note("3.10").expect("a note").contains("(PELT), here by what is runnable at the moment"));
        assert!(note("7.3").expect("a note").contains("of whatever group, stand in one queue"));
        assert!(note("3.6").expect("a note").ends_with("what differs is not established"));
    }

    /// Fair-placement 8.1: what 5.15.y got, which Ubuntu takes its own 5.15 from.
    #[test]
    fn a_distribution_beside_its_branch_tells_what_came_to_that() {
        let later = |word| -> Vec<&str> {
            let kernel = NamedKernel::find(word).expect("a kernel");
            kernel.later_in_branch().filter_map(|d| d.setting).collect()
        };
        let jammy = later("ubuntu22.04");
        for setting in ["SIS_UTIL", "NO_SIS_PROP", "NO_RT_PUSH_IPI", "rto_skip_self=on"] {
            assert!(jammy.contains(&setting), "{setting}: {jammy:?}");
        }
        for word in ["debian12", "5.15", "5.15.160"] {
            assert_eq!(later(word), [""; 0], "{word}");
        }
        let branch = |word| NamedKernel::find(word).expect("a kernel").profile_of_branch();
        assert_eq!(
            [branch("rhel10"), branch("ubuntu22.04"), branch("debian13")],
            [Some("6.12.y"), None, None]
        );
    }

    /// Fair-placement 5.1: Debian's kernels tick at 250.
    #[test]
    fn distributions_have_their_ticks() {
        let hz = |word| NamedKernel::find(word).ok().and_then(|kernel| Some(kernel.build?.hz));
        assert_eq!([hz("debian12"), hz("rhel9"), hz("6.1"), hz("5.14")], [Some(250), Some(1000), None, None]);
    }
}
