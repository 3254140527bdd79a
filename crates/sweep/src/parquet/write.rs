//! Writing a table, group of rows by group of rows.

use super::{Cells, Kind};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The name of what we note in a file besides its rows.
pub const NOTE: &str = "schedlab";

/// A table under way.
pub struct Writer {
    file: SerializedFileWriter<Vec<u8>>,
}

impl Writer {
    /// With these columns, and a note on them in the file's metadata.
    pub fn new(columns: &[(String, Kind)], note: &str) -> Result<Writer> {
        let fields = columns.iter().map(|(name, kind)| column(name, *kind)).collect::<Result<_>>()?;
        let schema = Type::group_type_builder("schedlab").with_fields(fields).build()?;
        let note = KeyValue::new(NOTE.to_owned(), note.to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![note]))
            .build();
        Ok(Writer { file: SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))? })
    }

    /// Adds rows: the cells of each column.
    pub fn group(&mut self, columns: &[Cells]) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for cells in columns {
            let Some(mut column) = group.next_column()? else { return Err(unfit()) };
            match (column.untyped(), cells) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Text(texts)) => {
                    let there: Vec<ByteArray> =
                        texts.iter().flatten().map(|text| text.as_str().into()).collect();
                    writer.write_batch(&there, Some(&levels(texts)), None)?;
                }
                (ColumnWriter::Int64ColumnWriter(writer), Cells::Number(numbers)) => {
                    // Parquet's unsigned numbers are the same bits.
                    let there: Vec<i64> = numbers.iter().flatten().map(|n| n.cast_signed()).collect();
                    writer.write_batch(&there, Some(&levels(numbers)), None)?;
                }
                _ => return Err(unfit()),
            }
            column.close()?;
        }
        group.close().map(drop)
    }

    /// The whole file.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.file.into_inner()
    }
}

fn unfit() -> ParquetError {
    ParquetError::General("cells that do not fit their columns".to_owned())
}

/// Which values are there.
fn levels<T>(cells: &[Option<T>]) -> Vec<i16> {
    cells.iter().map(|cell| i16::from(cell.is_some())).collect()
}

fn column(name: &str, kind: Kind) -> Result<TypePtr> {
    let (physical, logical, converted) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, LogicalType::String, ConvertedType::UTF8),
        Kind::Number => (Physical::INT64, LogicalType::integer(64, false), ConvertedType::UINT_64),
    };
    let column = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(logical))
        .with_converted_type(converted)
        .build()?;
    Ok(Arc::new(column))
}
