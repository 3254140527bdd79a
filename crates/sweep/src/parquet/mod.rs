//! Tables of Parquet, as far as results need them: columns of texts and of numbers, in which values may be
//! absent. Written without Arrow, which would be forty crates more.

mod read;
mod write;

pub use read::Reader;
pub use write::Writer;

/// The values of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cells {
    /// UTF-8.
    Text(Vec<Option<String>>),
    /// Unsigned, 64 bits.
    Number(Vec<Option<u64>>),
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Number,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_column_by_column_and_over_groups() {
        let columns = [("name".to_owned(), Kind::Text), ("a.b".to_owned(), Kind::Number)];
        let mut writer = Writer::new(&columns, "{\"x\":1}").expect("a schema");
        let text = |texts: &[Option<&str>]| texts.iter().map(|text| text.map(str::to_owned)).collect();
        let first = [Cells::Text(text(&[Some("a"), None])), Cells::Number(vec![None, Some(u64::MAX)])];
        writer.group(&first).expect("written");
        writer.group(&[Cells::Text(text(&[Some("ß")])), Cells::Number(vec![Some(0)])]).expect("written");
        let bytes = writer.finish().expect("finished");
        let reader = Reader::new(bytes).expect("readable");
        assert_eq!((reader.note(), reader.rows()), (Some("{\"x\":1}"), 3));
        assert_eq!(reader.names(), ["name", "a.b"]);
        assert_eq!(reader.texts("name").expect("texts"), text(&[Some("a"), None, Some("ß")]));
        assert_eq!(reader.numbers("a.b").expect("numbers"), [None, Some(u64::MAX), Some(0)]);
        assert!(reader.numbers("name").is_err() && reader.texts("none").is_err());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(Reader::new(b"PAR1 and no more".to_vec()).is_err());
    }
}
