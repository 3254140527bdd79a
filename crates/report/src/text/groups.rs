//! The table of task groups.

use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use crate::numbers::{count_u64, duration_ns, exact_duration};
use schema::{GroupClamps, GroupLimit, GroupResult, PartitionResult, RtGroupLimit};

pub(super) const COLUMNS: [Heading; 10] = [
    ("\ngroup", Left),
    ("\nweight", Right),
    ("cpu\nmax", Right),
    ("\nusage", Right),
    ("\nshare", Right),
    ("nr_\nperiods", Right),
    ("nr_\nthrottled", Right),
    ("\nthrottled", Right),
    ("nr_\nbursts", Right),
    ("\nburst", Right),
];
/// Those of groups with run time for real-time tasks, with CPUs, with clamps: where a group has any.
pub(super) const OF_RT: [Heading; 3] =
    [("rt_runtime\nin rt_period", Right), ("rt\nstops", Right), ("rt\nthrottled", Right)];
pub(super) const CPUS: Heading = ("cpuset\ncpus", Right);
pub(super) const CLAMPS: Heading = ("uclamp\nmin-max", Right);
pub(super) const OF_PARTITIONS: [Heading; 3] = [("cpus", Left), ("partition", Left), ("sched domains", Left)];

/// What each group was to get, what it got, and what its limit did, under the names of `cpu.stat`.
#[must_use]
pub fn groups(groups: &[GroupResult]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut columns = COLUMNS.to_vec();
    let has_rt = groups.iter().any(|group| group.rt.is_some());
    if has_rt {
        columns.extend(OF_RT);
    }
    let has_cpus = groups.iter().any(|group| group.cpus.is_some());
    if has_cpus {
        columns.push(CPUS);
    }
    let has_clamps = groups.iter().any(|group| group.clamps.is_some());
    if has_clamps {
        columns.push(CLAMPS);
    }
    let mut table = Table::new(&columns);
    for GroupResult { name, weight, max, rt, cpus, clamps, stat } in groups {
        let of_limit = |text: String| if max.is_some() { text } else { "-".to_owned() };
        let of_rt = |text: String| if rt.is_some() { text } else { "-".to_owned() };
        let own = [
            name.clone(),
            weight.map_or("idle".to_owned(), |weight| weight.to_string()),
            max.map_or("max".to_owned(), limit),
            duration_ns(stat.usage_ns),
            format!("{}.{:03}", stat.share_permille / 1000, stat.share_permille % 1000),
            of_limit(count_u64(stat.nr_periods)),
            of_limit(count_u64(stat.nr_throttled)),
            of_limit(duration_ns(stat.throttled_ns)),
            of_limit(count_u64(stat.nr_bursts)),
            of_limit(duration_ns(stat.burst_ns)),
        ];
        let of_rt = [
            rt.map_or("-".to_owned(), rt_limit),
            of_rt(count_u64(stat.nr_rt_throttled)),
            of_rt(duration_ns(stat.rt_throttled_ns)),
        ];
        let mut cells: Vec<String> = own.into();
        cells.extend(of_rt.into_iter().filter(|_| has_rt));
        cells.extend(has_cpus.then(|| cpus.clone().unwrap_or_else(|| "-".to_owned())));
        cells.extend(has_clamps.then(|| clamps.map_or("-".to_owned(), percents)));
        table.row(cells);
    }
    table.render()
}

/// How the machine is divided.
#[must_use]
pub fn partitions(partitions: &[PartitionResult]) -> String {
    if partitions.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&OF_PARTITIONS);
    for PartitionResult { cpus, group, isolated } in partitions {
        let name =
            group.clone().unwrap_or_else(|| if *isolated { "isolcpus" } else { "(the rest)" }.to_owned());
        table.row([cpus.clone(), name, if *isolated { "none" } else { "its own" }.to_owned()]);
    }
    table.render()
}

fn rt_limit(rt: RtGroupLimit) -> String {
    let runtime = rt.runtime_ns.map_or("all".to_owned(), exact_duration);
    format!("{runtime}/{}", exact_duration(rt.period_ns))
}

/// In the form of the files, as near as their two decimals come.
fn percents(clamps: GroupClamps) -> String {
    let percent = |part: u16| {
        let hundredths = (u32::from(part) * 10_000 + 512) / 1024;
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    };
    format!("{}-{}", percent(clamps.min), percent(clamps.max))
}

fn limit(max: GroupLimit) -> String {
    format!("{}/{}", exact_duration(max.quota_ns), exact_duration(max.period_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn a_divided_machine_says_its_parts() {
        let part = |cpus: &str, group: Option<&str>, isolated| PartitionResult {
            cpus: cpus.to_owned(),
            group: group.map(str::to_owned),
            isolated,
        };
        let parts = [part("0-1", None, false), part("4", None, true), part("2-3", Some("rt"), false)];
        insta::assert_snapshot!(partitions(&parts), @r"
        cpus partition  sched domains
        0-1  (the rest) its own
        4    isolcpus   none
        2-3  rt         its own
        ");
        assert_eq!(partitions(&[]), "");
    }

    #[test]
    fn a_group_has_a_row_under_the_names_of_cpu_stat() {
        let plain = |name: &str| GroupResult { rt: None, cpus: None, clamps: None, ..example::group(name) };
        let web = plain("web");
        let idle = GroupResult { weight: None, max: None, ..plain("system.slice/backup") };
        insta::assert_snapshot!(groups(&[web, idle]), @r"
                                           cpu                 nr_       nr_
        group               weight         max usage share periods throttled throttled
        web                    300 200ms/100ms 1.23s 0.750     100        31     812ms
        system.slice/backup   idle         max 1.23s 0.750       -         -         -

                               nr_
        group               bursts  burst
        web                      4 25.0ms
        system.slice/backup      -      -
        ");
        assert_eq!(groups(&[]), "");
    }

    #[test]
    fn what_else_it_was_told_has_columns_where_somebody_was() {
        let cpus = GroupResult { rt: None, clamps: None, ..example::group("cpus") };
        let clamped = GroupResult { rt: None, cpus: None, ..example::group("clamped") };
        let all = groups(&[cpus, clamped]);
        let columns = |name: &str| -> Vec<String> {
            let row = all.lines().rfind(|line| line.starts_with(name));
            row.expect("a row").split_whitespace().map(str::to_owned).collect()
        };
        assert!(columns("cpus").ends_with(&["0-1".to_owned(), "-".to_owned()]), "{all}");
        assert!(columns("clamped").ends_with(&["-".to_owned(), "20.02-50.00".to_owned()]), "{all}");
    }
}
