//! How a user says groups, their members and isolated CPUs in a word each.

use schema::{GroupText, MemberText};
use workload::groups::Group;
use workload::replay::TaskSelector;
use workload::units;

/// Reads the list of `isolcpus=`: `2-3`, `domain,2-3`.
///
/// # Errors
/// No list of CPUs, or a kind of isolation that is not modelled.
pub fn isolcpus(text: &str) -> Result<String, String> {
    let list = text.strip_prefix("domain,").unwrap_or(text);
    if list.split(',').any(|part| part == "nohz") {
        return Err("`nohz` is an option of its own here: leave it out, and say nohz_full=".to_owned());
    }
    let flags = ["managed_irq"];
    if let Some(flag) = flags.into_iter().find(|flag| list.split(',').any(|part| part == *flag)) {
        return Err(format!("`{flag}` is not modelled (limit isolation); leave it out"));
    }
    units::cpu_list(list).map(|_| list.to_owned())
}

/// Reads the list of `nohz_full=`: `2-3`.
///
/// # Errors
/// No list of CPUs.
pub fn nohz_full(text: &str) -> Result<String, String> {
    units::cpu_list(text).map(|_| text.to_owned())
}

/// Reads `NAME`, or `NAME=FILE:VALUE,…`: `web=cpu.max:200000/100000,cpu.weight:300`.
///
/// # Errors
/// No name, a file that a group has not got, a value that the kernel does not take.
pub fn group(word: &str) -> Result<GroupText, String> {
    let (name, settings) = word.split_once('=').unwrap_or((word, ""));
    let mut group = Group::new(name)?;
    group.write(words_of(settings).iter().map(String::as_str))?;
    Ok(text_of(&group))
}

/// The words between commas; a comma may also stand in a list of CPUs: `cpuset.cpus:0-1,4,cpu.weight:300`.
fn words_of(settings: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in settings.split(',').filter(|part| !part.is_empty()) {
        match words.last_mut().filter(|last| last.starts_with("cpuset.cpus:") && !part.contains(':')) {
            Some(list) => list.extend([",", part]),
            None => words.push(part.to_owned()),
        }
    }
    words
}

/// Reads `NAME=TASK`: `web=nginx`, `web=cc*`.
///
/// # Errors
/// No such form.
pub fn member(word: &str) -> Result<MemberText, String> {
    let (name, task) = word.split_once('=').ok_or("write GROUP=TASK, such as web=nginx or web=cc*")?;
    let whom: TaskSelector = if task == "all" { "*" } else { task }.parse()?;
    Ok(MemberText { group: Group::new(name)?.path().to_owned(), task: whom.word() })
}

/// Reads the sysctl of autogroup, on (`autogroup`, `sched_autogroup_enabled=1`) or off; `None` for another
/// setting.
#[must_use]
pub fn autogroup(word: &str) -> Option<bool> {
    let word = word.strip_prefix("kernel.").unwrap_or(word);
    match word.strip_prefix("sched_autogroup_enabled=").or(word.strip_prefix("autogroup=")) {
        Some("1") => Some(true),
        Some("0") => Some(false),
        Some(_) => None,
        None => (word == "autogroup").then_some(true),
    }
}

/// A group as a text has it.
pub(super) fn text_of(group: &Group) -> GroupText {
    GroupText { name: group.path().to_owned(), settings: group.words().to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::Groups;
    use super::*;
    use schema::ExperimentText;

    /// A comma separates files, and CPUs of a list.
    #[test]
    fn a_list_of_cpus_may_have_commas() {
        let told = group("rt=cpuset.cpus:2-3,5,cpuset.cpus.partition:root,cpu.weight:300").expect("legal");
        assert_eq!(told.settings, ["cpuset.cpus:2-3,5", "cpuset.cpus.partition:root", "cpu.weight:300"]);
        assert!(group("rt=cpuset.cpus:2-x").is_err() && group("rt=cpu.weight:3,4").is_err());
    }

    #[test]
    fn what_is_isolated_is_a_list_of_cpus() {
        assert_eq!(isolcpus("domain,2-3"), Ok("2-3".to_owned()));
        assert!(isolcpus("managed_irq,2").is_err_and(|problem| problem.contains("not modelled")));
        assert!(isolcpus("nohz,2").is_err_and(|problem| problem.contains("say nohz_full=")));
        assert!(nohz_full("2-3").is_ok() && nohz_full("two").is_err());
        assert!(isolcpus("two").is_err() && isolcpus("").is_err());
        let text = ExperimentText { isolcpus: Some("2-3".to_owned()), ..ExperimentText::default() };
        let groups = Groups::of_text(&text).expect("legal");
        assert!(!groups.is_empty() && groups.said_in(ExperimentText::default()) == text);
    }
}
