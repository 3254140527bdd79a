//! Whom the user means by a task.

use super::recording::{RecordedTask, ReplayStep};
use glob::Pattern;
use std::fmt;
use std::str::FromStr;

/// Tasks by id or name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskSelector {
    /// Those with this recorded id.
    Pid(i32),
    /// All that ever have this name.
    Comm(String),
    /// All that ever have a name of this form: `*` for anything, `?` for a letter, `[ab]` for one of these.
    Glob(Pattern),
}

impl TaskSelector {
    /// Whether a task with this id and name is meant.
    #[must_use]
    pub fn matches(&self, pid: u32, comm: &str) -> bool {
        match self {
            TaskSelector::Pid(number) => i64::from(pid) == i64::from(*number),
            TaskSelector::Comm(name) => name == comm,
            TaskSelector::Glob(pattern) => pattern.matches(comm),
        }
    }

    /// The word that is read as the same tasks. (What is shown of them is for people: `all` may be a name.)
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            TaskSelector::Glob(pattern) => pattern.as_str().to_owned(),
            TaskSelector::Pid(_) | TaskSelector::Comm(_) => self.to_string(),
        }
    }

    /// Whether a recorded task is meant, by any of its names.
    pub(super) fn is(&self, task: &RecordedTask) -> bool {
        let pid = task.pid.0.unsigned_abs();
        let names = task.steps.iter().filter_map(|step| match step {
            ReplayStep::Exec(comm) => Some(&**comm),
            _ => None,
        });
        std::iter::once(&*task.comm).chain(names).any(|name| self.matches(pid, name))
    }
}

/// A number is an id, what has a letter of patterns is one, everything else a name.
impl FromStr for TaskSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<TaskSelector, String> {
        if let Ok(pid) = text.parse() {
            return Ok(TaskSelector::Pid(pid));
        }
        if text.is_empty() {
            return Err("write the name or the id of a task".to_owned());
        }
        if !text.contains(['*', '?', '[']) {
            return Ok(TaskSelector::Comm(text.to_owned()));
        }
        Pattern::new(text)
            .map(TaskSelector::Glob)
            .map_err(|error| format!("`{text}` is no pattern: {}", error.msg))
    }
}

/// As the user writes it.
impl fmt::Display for TaskSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskSelector::Pid(number) => write!(f, "{number}"),
            TaskSelector::Comm(comm) => f.write_str(comm),
            TaskSelector::Glob(pattern) if pattern.as_str() == "*" => f.write_str("all"),
            TaskSelector::Glob(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_meant_by_id_name_or_pattern() {
        let means = |text: &str, pid, comm| text.parse::<TaskSelector>().expect("legal").matches(pid, comm);
        assert!(means("7", 7, "a") && !means("7", 8, "7"));
        assert!(means("cc1", 7, "cc1") && !means("cc1", 7, "cc1plus"));
        assert!(means("cc*", 7, "cc1plus") && means("kworker/[01]:?", 7, "kworker/1:2"));
        assert!("[".parse::<TaskSelector>().is_err() && "".parse::<TaskSelector>().is_err());
        for word in ["7", "cc1", "a b=c", "all", "*", "cc*", "kworker/[01]:?"] {
            assert_eq!(word.parse::<TaskSelector>().expect("legal").word(), word);
        }
    }
}
