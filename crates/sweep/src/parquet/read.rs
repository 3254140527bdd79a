//! Reading a table, column by column.

use super::Cells;
use super::write::NOTE;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

/// A table in memory.
pub struct Reader {
    file: SerializedFileReader<bytes::Bytes>,
}

impl Reader {
    /// Of the bytes of a file.
    pub fn new(bytes: Vec<u8>) -> Result<Reader> {
        let bytes = bytes::Bytes::from(bytes);
        if bytes.is_empty() {
            return Err(ParquetError::EOF("the file is empty".to_owned()));
        }
        Ok(Reader { file: SerializedFileReader::new(bytes)? })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        usize::try_from(self.file.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// What we noted in it.
    pub fn note(&self) -> Option<&str> {
        let notes = self.file.metadata().file_metadata().key_value_metadata()?;
        notes.iter().find(|note| note.key == NOTE)?.value.as_deref()
    }

    /// The names of its columns.
    pub fn names(&self) -> Vec<&str> {
        let schema = self.file.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.name()).collect()
    }

    /// Whether it has a column.
    pub fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// A column of texts.
    pub fn texts(&self, name: &str) -> Result<Vec<Option<String>>> {
        let read = |reader: ColumnReader| match reader {
            ColumnReader::ByteArrayColumnReader(reader) => cells(reader),
            _ => Err(other_kind(name)),
        };
        let bytes: Vec<Option<ByteArray>> = self.column(name, read)?;
        let text = |bytes: ByteArray| bytes.as_utf8().map(str::to_owned);
        bytes.into_iter().map(|cell| cell.map(text).transpose()).collect()
    }

    /// A column of numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<u64>>> {
        let read = |reader: ColumnReader| match reader {
            ColumnReader::Int64ColumnReader(reader) => cells(reader),
            _ => Err(other_kind(name)),
        };
        let numbers: Vec<Option<i64>> = self.column(name, read)?;
        Ok(numbers.into_iter().map(|cell| cell.map(i64::cast_unsigned)).collect())
    }

    /// A column, whatever it holds.
    pub fn cells(&self, name: &str) -> Result<Cells> {
        self.texts(name).map(Cells::Text).or_else(|_| self.numbers(name).map(Cells::Number))
    }

    /// The cells of a column, over all groups of rows.
    fn column<T>(&self, name: &str, read: impl Fn(ColumnReader) -> Result<Vec<T>>) -> Result<Vec<T>> {
        let number = self.names().iter().position(|known| *known == name);
        let number = number.ok_or_else(|| ParquetError::General(format!("no column {name}")))?;
        let mut all = Vec::with_capacity(self.rows());
        for group in 0..self.file.num_row_groups() {
            all.extend(read(self.file.get_row_group(group)?.get_column_reader(number)?)?);
        }
        Ok(all)
    }
}

fn other_kind(name: &str) -> ParquetError {
    ParquetError::General(format!("column {name} holds something else"))
}

fn cells<T: DataType>(mut reader: ColumnReaderImpl<T>) -> Result<Vec<Option<T::T>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while reader.read_records(usize::MAX >> 1, Some(&mut levels), None, &mut values)?.0 > 0 {}
    let mut values = values.into_iter();
    let missing = || ParquetError::EOF("fewer values than rows".to_owned());
    let cell = |level: i16| if level > 0 { values.next().ok_or_else(missing).map(Some) } else { Ok(None) };
    levels.into_iter().map(cell).collect()
}
