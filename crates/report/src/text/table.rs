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

/// A table that is filled row by row. Where it is wider than the terminal, it is printed in parts, one below the other,
/// each with the first columns again.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// How many columns at the left say what a row is about.
    labels: usize,
}

struct Column {
    heading: String,
    align: Align,
    /// Longer cells are broken over lines.
    limit: Option<usize>,
}

impl Table {
    /// A table with these columns. A heading may have two lines.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let column =
            |&(heading, align): &(&str, Align)| Column { heading: heading.to_owned(), align, limit: None };
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new(), labels: 1 }
    }

    /// Says that a row is told by so many columns at the left, one without this.
    pub fn labelled_by(mut self, labels: usize) -> Self {
        self.labels = labels;
        self
    }

    /// Breaks the cells of a column over lines when they are longer than this, on [`WIDTH`] columns; a wider terminal
    /// gives it the difference.
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
        width(&self.part(&self.all())) <= columns()
    }

    /// The table, each line ended, without blanks at the end of a line.
    pub fn render(&self) -> String {
        let all = self.all();
        let whole = self.part(&all);
        if width(&whole) <= columns() {
            return whole;
        }
        let labels = &all[..self.labels.min(all.len())];
        let mut parts = Vec::new();
        let mut rest = &all[labels.len()..];
        while !rest.is_empty() {
            let fits = |count: &usize| width(&self.part(&[labels, &rest[..*count]].concat())) <= columns();
            // One column has to do, however wide it is.
            let count = (1..=rest.len()).take_while(fits).last().unwrap_or(1);
            parts.push(self.part(&[labels, &rest[..count]].concat()));
            rest = &rest[count..];
        }
        parts.join("\n")
    }

    fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// These columns of the table.
    fn part(&self, chosen: &[usize]) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(chosen.iter().map(|&index| &self.columns[index].heading));
        for row in &self.rows {
            table.add_row(chosen.iter().map(|&index| row.get(index).map_or("", String::as_str)));
        }
        for (column, &index) in table.column_iter_mut().zip(chosen) {
            let Column { align, limit, .. } = &self.columns[index];
            column.set_padding((0, 1)).set_cell_alignment(match *align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            if let Some(limit) = *limit {
                // The library counts the blank after the cell.
                let limit = u16::try_from(limit + 1).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::UpperBoundary(comfy_table::Width::Fixed(limit)));
            }
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
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
    fn a_wider_terminal_gives_a_limited_column_more_room() {
        let render = || {
            let mut table = Table::new(&[("metric", Align::Left), ("n", Align::Right)]);
            table.limit(0, 10);
            table.row(["cyclictest worst".to_owned(), "1".to_owned()]);
            table.render().lines().count()
        };
        assert_eq!((render(), in_columns(86, render)), (3, 2));
    }
}
