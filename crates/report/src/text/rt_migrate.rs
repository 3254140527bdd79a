//! The table of seed 000 (rt-class 13.1).

use std::fmt::Write;

use schema::{RtMigrateCounts, RtMigrateResult};

/// Switches, migrations and iterations of each thread and their sums, in the layout of seed 000's program.
#[must_use]
pub fn rt_migrate(result: &RtMigrateResult) -> String {
    let mut out = "Task        vol    nonvol   migrated     iterations\n".to_owned();
    out += "----        ---    ------   --------     ----------\n";
    for t in &result.threads {
        let counts =
            RtMigrateCounts { vol: t.vol, nonvol: t.nonvol, migrated: t.migrated, iterations: t.iterations };
        row(&mut out, &format!("{:3}:", t.id), counts);
    }
    row(&mut out, "total:", result.total);
    out
}

fn row(out: &mut String, name: &str, c: RtMigrateCounts) {
    // A blank stays between numbers that outgrow their columns.
    let vol_width = 15 - name.len();
    let _ = writeln!(out, "{name}{:vol_width$} {:9} {:10} {:14}", c.vol, c.nonvol, c.migrated, c.iterations);
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::RtMigrateThread;

    #[test]
    fn the_table_of_seed_000_before_the_change() {
        let rows = [
            [53, 3220, 1470, 98],
            [562, 773, 724, 98],
            [752, 933, 1375, 98],
            [749, 39, 697, 98],
            [758, 5, 515, 98],
            [764, 2, 679, 99],
            [761, 2, 535, 99],
            [757, 3, 346, 99],
        ];
        let threads = (0..)
            .zip(rows)
            .map(|(id, [vol, nonvol, migrated, iterations])| RtMigrateThread {
                id,
                vol,
                nonvol,
                migrated,
                iterations,
            })
            .collect();
        let result = RtMigrateResult::new("rt-migrate -p".to_owned(), threads);
        insta::assert_snapshot!(rt_migrate(&result), @r"
        Task        vol    nonvol   migrated     iterations
        ----        ---    ------   --------     ----------
          0:         53      3220       1470             98
          1:        562       773        724             98
          2:        752       933       1375             98
          3:        749        39        697             98
          4:        758         5        515             98
          5:        764         2        679             99
          6:        761         2        535             99
          7:        757         3        346             99
        total:     5156      4977       6341            787
        ");
    }
}
