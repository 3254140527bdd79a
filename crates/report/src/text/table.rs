//! A quiet table: a head line, aligned columns, no borders.

use super::WIDTH;
use super::width::columns;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, TableStyle};

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The heading of a column, which may have two lines, and how it stands.
pub type Heading = (&'static str, Align);

/// A table that is filled row by row. Where it is wider than the terminal, it is printed in parts, one below
/// the other, each with the first columns again.
pub struct Table {
    columns: Vec<Column>,
    /// The first are the headings.
    rows: Vec<Vec<String>>,
    /// How many columns at the left say what a row is about.
    labels: usize,
}

/// So many rows are laid out at a time: the library takes kilobytes for each.
const ROWS_AT_A_TIME: usize = 256;

struct Column {
    align: Align,
    /// Longer cells are broken over lines.
    limit: Option<usize>,
}

impl Table {
    /// A table with these columns. A heading may have two lines.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let headings = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        let columns = columns.iter().map(|&(_, align)| Column { align, limit: None }).collect();
        Self { columns, rows: vec![headings], labels: 1 }
    }

    /// Says that a row is told by so many columns at the left, one without this.
    pub fn labelled_by(mut self, labels: usize) -> Self {
        self.labels = labels;
        self
    }

    /// Breaks the cells of a column over lines when they are longer than this, on [`WIDTH`] columns; a wider
    /// terminal gives it the difference.
    pub fn limit(&mut self, column: usize, limit: u16) {
        if let Some(column) = self.columns.get_mut(column) {
            column.limit = Some(usize::from(limit) + columns().saturating_sub(WIDTH));
        }
    }

    /// Adds a row with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether it is printed in one part.
    pub fn fits(&self) -> bool {
        fits(&self.widths(), &self.all())
    }

    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// The table, each line ended, without blanks at the end of a line.
    pub fn render(&self) -> String {
        let (widths, all) = (self.widths(), self.all());
        if fits(&widths, &all) {
            return self.part(&all, &widths, &self.rows[0]);
        }
        let labels = &all[..self.labels.min(all.len())];
        let mut parts = Vec::new();
        let mut rest = &all[labels.len()..];
        while !rest.is_empty() {
            let fits = |count: &usize| fits(&widths, &[labels, &rest[..*count]].concat());
            // One column has to do, however wide it is.
            let count = (1..=rest.len()).take_while(fits).last().unwrap_or(1);
            let (headings, widths) = self.beginning_at(rest[0], &widths);
            parts.push(self.part(&[labels, &rest[..count]].concat(), &widths, &headings));
            rest = &rest[count..];
        }
        parts.join("\n")
    }

    /// Headings and widths of a part whose first column is this: where a heading of two lines stood above
    /// several columns, its first line stands above the first of those that are left, too.
    fn beginning_at(&self, column: usize, widths: &[usize]) -> (Vec<String>, Vec<usize>) {
        let (mut headings, mut widths) = (self.rows[0].clone(), widths.to_vec());
        let above = headings[..column].iter().rev().find_map(|heading| heading.split_once('\n'));
        if let (Some((above, _)), false) = (above, headings[column].contains('\n')) {
            let above = above.trim().to_owned();
            widths[column] = widths[column].max(above.len());
            headings[column] = format!("{above}\n{}", headings[column]);
        }
        (headings, widths)
    }

    /// What each column takes.
    fn widths(&self) -> Vec<usize> {
        let all = self.all();
        let mut widths = vec![0; all.len()];
        for rows in self.rows.chunks(ROWS_AT_A_TIME) {
            for (width, here) in widths.iter_mut().zip(laid_out(rows, &all).column_max_content_widths()) {
                *width = usize::from(here).max(*width);
            }
        }
        // What would gain one column by being broken is left whole.
        let limited = |(width, column): (usize, &Column)| match column.limit {
            Some(limit) if width > limit + 1 => limit,
            _ => width,
        };
        let widths = widths.into_iter().zip(&self.columns).map(limited).collect();
        self.squeezed(widths)
    }

    /// Labels give way where even a single column has no room beside them: their cells are broken over lines.
    fn squeezed(&self, mut widths: Vec<usize>) -> Vec<usize> {
        /// Narrower than this nobody reads a label.
        const NARROWEST: usize = 6;
        let labels = self.labels.min(widths.len());
        let widest = widths[labels..].iter().copied().max().unwrap_or(0);
        loop {
            let taken = widths[..labels].iter().map(|width| width + 1).sum::<usize>() + widest;
            let label = widths[..labels].iter_mut().max_by_key(|width| **width);
            match label.filter(|width| taken > columns() && **width > NARROWEST) {
                Some(width) => *width -= 1,
                None => return widths,
            }
        }
    }

    /// These columns of the table.
    fn part(&self, chosen: &[usize], widths: &[usize], headings: &[String]) -> String {
        let mut text = String::new();
        for (n, rows) in self.rows.chunks(ROWS_AT_A_TIME).enumerate() {
            let headed = || [&[headings.to_vec()], &rows[1..]].concat();
            let mut table = if n == 0 { laid_out(&headed(), chosen) } else { laid_out(rows, chosen) };
            for (column, &index) in table.column_iter_mut().zip(chosen) {
                column.set_padding((0, 1)).set_cell_alignment(match self.columns[index].align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
                // The library counts the blank after the cell.
                let width = u16::try_from(widths[index] + 1).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::Absolute(comfy_table::Width::Fixed(width)));
            }
            for line in table.lines() {
                text += line.trim_end();
                text.push('\n');
            }
        }
        text
    }
}

/// Whether columns fit beside each other, with a blank between two.
fn fits(widths: &[usize], chosen: &[usize]) -> bool {
    chosen.iter().map(|&n| widths[n] + 1).sum::<usize>() <= columns() + 1
}

/// The library's table of these columns of some rows.
fn laid_out(rows: &[Vec<String>], chosen: &[usize]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row(chosen.iter().map(|&index| row.get(index).map_or("", String::as_str)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::in_columns;

    #[test]
    fn columns_are_aligned_and_have_no_borders() {
        let mut table =
            Table::new(&[("task", Align::Left), ("cpu\ntime", Align::Right), ("note", Align::Left)]);
        table.row(["a".to_owned(), "1".to_owned(), String::new()]);
        table.row(["longer".to_owned(), "12345".to_owned(), "x".to_owned()]);
        assert_eq!(
            table.render(),
            concat!("task     cpu note\n", "        time\n", "a          1\n", "longer 12345 x\n")
        );
    }

    /// The widest cell may be in any of the pieces in which a long table is laid out.
    #[test]
    fn the_columns_of_a_long_table_stand_below_each_other() {
        let rows = 3 * ROWS_AT_A_TIME;
        let mut table = Table::new(&[("task", Align::Left), ("n", Align::Right)]);
        for n in 0..rows {
            table.row(["a".repeat(if n == rows / 2 { 9 } else { 1 }), n.to_string()]);
        }
        let text = table.render();
        assert_eq!(text.lines().count(), 1 + rows);
        assert!(text.lines().all(|line| line.len() == 9 + 1 + 3), "{text}");
    }

    #[test]
    fn a_limited_column_breaks_its_cells_at_blanks() {
        let mut table = Table::new(&[("metric", Align::Left), ("n", Align::Right)]);
        table.limit(0, 10);
        table.row(["cyclictest worst".to_owned(), "1".to_owned()]);
        assert_eq!(table.render(), "metric     n\ncyclictest 1\nworst\n");
    }

    /// On a terminal of 40 columns nothing is lost, and each part says what its rows are.
    #[test]
    fn a_table_wider_than_the_terminal_is_printed_in_parts() {
        let heads: Vec<String> = (0..10).map(|n| format!("figure{n}")).collect();
        let columns: Vec<(&str, Align)> = std::iter::once(("task", Align::Left))
            .chain(heads.iter().map(|head| (head.as_str(), Align::Right)))
            .collect();
        let mut table = Table::new(&columns);
        table.row((0..11).map(|n| format!("cell{n}")));
        let narrow = in_columns(40, || table.render());
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert_eq!(narrow.matches("cell0").count(), narrow.split("\n\n").count(), "{narrow}");
        for n in 1..11 {
            assert_eq!(narrow.matches(&format!("cell{n}")).count(), if n == 1 { 2 } else { 1 }, "{narrow}");
        }
        assert_eq!(in_columns(250, || table.render()).lines().count(), 2);
    }

    #[test]
    fn a_part_that_begins_under_a_heading_of_two_lines_has_its_first_line_again() {
        let columns = [("task", Align::Left), ("time\nrecorded", Align::Right), ("replay", Align::Right)];
        let mut table = Table::new(&columns);
        table.row(["a".to_owned(), "1".repeat(40), "2".repeat(40)]);
        let text = table.render();
        let second: Vec<&str> = text.split("\n\n").nth(1).expect("two parts").lines().collect();
        assert!(second[0].ends_with("time") && second[1].ends_with("replay"), "{text}");
    }

    #[test]
    fn a_wider_terminal_gives_a_limited_column_more_room() {
        let render = || {
            let mut table = Table::new(&[("metric", Align::Left), ("n", Align::Right)]);
            table.limit(0, 10);
            table.row(["cyclictest worst".to_owned(), "1".to_owned()]);
            table.render().lines().count()
        };
        assert_eq!((render(), in_columns(86, render)), (3, 2));
    }

    #[test]
    fn labels_give_way_to_a_column_that_has_no_room_beside_them() {
        let mut table =
            Table::new(&[("command", Align::Left), ("figure", Align::Left), ("interval", Align::Right)]);
        table = table.labelled_by(2);
        table.row(["memfd:sealed-91", "latency mean", "-264us to -64.6us"].map(str::to_owned));
        let text = in_columns(40, || table.render());
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains("-264us to -64.6us"), "{text}");
    }
}
