//! Task groups: which there are, what they get of the CPUs, and who is in them (deadline-groups B).
//!
//! `settings` reads what is written into the files of a group, `members` puts tasks into groups, those that
//! others fork, too.

mod members;
mod settings;

pub use members::{Member, Members};
pub(crate) use settings::percent_of_clamp;
pub use settings::{FILES, GroupSettings, weight_of_shares};

use machine::{GroupSpec, Setup};
use scheduler::GroupId;

/// A task group as a user describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    path: String,
    settings: GroupSettings,
    /// What was written into its files, in this order.
    words: Vec<String>,
}

impl Group {
    /// A group as the kernel makes it. The path is that below the root; a slash in front of it is no part of
    /// it.
    ///
    /// # Errors
    /// No path, or that of the root, which has neither weight nor limit.
    pub fn new(path: &str) -> Result<Group, String> {
        let path = path.strip_prefix('/').unwrap_or(path);
        if path.is_empty() {
            return Err(
                "the root has neither weight nor limit (EINVAL); give a group a name, such as web".to_owned()
            );
        }
        if path.split('/').any(|name| ["", ".", ".."].contains(&name)) {
            return Err(format!(
                "`{path}` is no path of a group; write names with a slash between, such as a/b"
            ));
        }
        Ok(Group { path: path.to_owned(), settings: GroupSettings::default(), words: Vec::new() })
    }

    /// Writes into its files, one after the other.
    ///
    /// # Errors
    /// As [`GroupSettings::write`].
    pub fn write<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
        for word in words {
            self.settings.write(word)?;
            self.words.push(word.to_owned());
        }
        Ok(())
    }

    /// Its path below the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What its files say.
    #[must_use]
    pub fn settings(&self) -> &GroupSettings {
        &self.settings
    }

    /// What was written into them.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// The group of a path in a setup. What is not there is made, the groups above it before it: each as the
/// `described` say, or else as the kernel does.
pub fn group_at(setup: &mut Setup, path: &str, described: &[Group]) -> GroupId {
    if let Some(there) = setup.find_group(path) {
        return there;
    }
    let parent = path.rsplit_once('/').map_or(GroupId::ROOT, |(above, _)| group_at(setup, above, described));
    let settings = described.iter().find(|group| group.path == path).map(|group| group.settings);
    setup.group(GroupSpec { parent, ..settings.unwrap_or_default().spec(path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &str, words: &[&str]) -> Group {
        let mut group = Group::new(path).expect("a path");
        group.write(words.iter().copied()).expect("legal");
        group
    }

    #[test]
    fn parents_come_before_their_children_with_what_is_said_of_them() {
        let described = [group("a/b", &["cpu.weight:50"]), group("a", &["cpu.weight:200"])];
        let mut setup = Setup::new(1);
        let child = group_at(&mut setup, "a/b", &described);
        let parent = group_at(&mut setup, "a", &described);
        assert_eq!((parent, child), (GroupId(1), GroupId(2)));
        assert_eq!(group_at(&mut setup, "a/b", &[]), child, "nothing is made twice");
        assert_eq!(setup.groups()[1].parent, parent);
        assert_eq!(setup.groups().iter().map(|group| group.shares).collect::<Vec<_>>(), [2048, 512]);
    }

    #[test]
    fn a_path_is_one_below_the_root() {
        assert_eq!(Group::new("/system.slice/web").expect("a path").path(), "system.slice/web");
        for wrong in ["", "/", "a//b", "a/", "../a", "a/./b"] {
            assert!(Group::new(wrong).is_err(), "{wrong}");
        }
        let root = Group::new("/").expect_err("the root");
        assert!(root.contains("the root has neither weight nor limit"), "{root}");
    }
}
