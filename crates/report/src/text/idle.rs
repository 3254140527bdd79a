//! The table of idle states.

use super::Rows;
use super::table::{
    Align::{Left, Right},
    Heading, Table,
};
use crate::numbers::duration_ns;
use schema::{CpuIdle, IdleResult, IdleStateUse};

/// Its columns.
pub(super) const COLUMNS: [Heading; 6] = [
    ("cpu", Right),
    ("idle state", Left),
    ("entered", Right),
    ("time", Right),
    ("too deep", Right),
    ("too shallow", Right),
];

/// How CPUs used their idle states, first all of them together; the states of each where all rows are wanted.
#[must_use]
pub fn idle(result: Option<&IdleResult>, rows: Rows) -> String {
    let Some(result) = result else { return String::new() };
    let mut table = Table::new(&COLUMNS);
    let mut row = |cpu: &str, state: &str, used: &IdleStateUse| {
        table.row([
            cpu.to_owned(),
            state.to_owned(),
            used.usage.to_string(),
            duration_ns(used.time_ns),
            used.above.to_string(),
            used.below.to_string(),
        ]);
    };
    for used in result.all_cpus() {
        row("all", &used.state, &used);
    }
    if rows == Rows::All {
        for CpuIdle { cpu, states } in &result.cpus {
            states.iter().for_each(|used| row(&cpu.to_string(), &used.state, used));
        }
    }
    format!("{}governor {}\n", table.render(), result.governor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_a_state_and_with_all_rows_one_for_each_cpu_too() {
        let used = |state: &str, usage| IdleStateUse {
            state: state.to_owned(),
            usage,
            time_ns: 1_000_000 * usage,
            above: usage / 10,
            below: 1,
        };
        let cpu = |cpu, times| CpuIdle { cpu, states: vec![used("POLL", times), used("C1E", 10 * times)] };
        let cpus = vec![cpu(0, 3), cpu(1, 40)];
        let result = IdleResult { governor: "menu".to_owned(), cpus, origins: Vec::new() };
        insta::assert_snapshot!(idle(Some(&result), Rows::Folded), @r"
        cpu idle state entered   time too deep too shallow
        all POLL            43 43.0ms        4           2
        all C1E            430  430ms       43           2
        governor menu
        ");
        insta::assert_snapshot!(idle(Some(&result), Rows::All), @r"
        cpu idle state entered   time too deep too shallow
        all POLL            43 43.0ms        4           2
        all C1E            430  430ms       43           2
          0 POLL             3 3.00ms        0           1
          0 C1E             30 30.0ms        3           1
          1 POLL            40 40.0ms        4           1
          1 C1E            400  400ms       40           1
        governor menu
        ");
        assert_eq!(idle(None, Rows::All), "");
    }
}
