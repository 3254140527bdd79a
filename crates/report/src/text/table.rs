//! A quiet table: a head line, aligned columns, no borders.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, TableStyle, Width};

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table that is filled row by row.
pub struct Table {
    inner: comfy_table::Table,
}

impl Table {
    /// A table with these columns. A heading may have two lines.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
        inner.set_header(columns.iter().map(|&(heading, _)| heading));
        for (column, &(_, align)) in inner.column_iter_mut().zip(columns) {
            column.set_padding((0, 1)).set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self { inner }
    }

    /// Breaks the cells of a column over lines when they are longer than this.
    pub fn limit(&mut self, column: usize, columns: u16) {
        if let Some(column) = self.inner.column_mut(column) {
            // The library counts the blank after the cell.
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(columns + 1)));
        }
    }

    /// Adds a row with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.inner.add_row(cells.into_iter().collect::<Vec<_>>());
    }

    /// The table, each line ended, without blanks at the end of a line.
    pub fn render(&self) -> String {
        self.inner.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
