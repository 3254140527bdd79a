//! Reading a TOML file so that every complaint names line and field.

use super::error::SpecError;
use suggest::suggest;
use toml::de::{DeTable, DeValue};

/// The file being read.
#[derive(Clone, Copy, Debug)]
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Source<'_> {
    /// Line of a byte, from 1.
    fn line(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
    }
}

/// A value of the file with its place.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    source: Source<'a>,
    path: String,
    offset: usize,
    value: &'a DeValue<'a>,
}

/// A table whose keys have been checked.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    field: Field<'a>,
    entries: &'a DeTable<'a>,
}

/// Parses a whole file and hands its top table to `read`.
pub(super) fn read_file<T>(
    text: &str,
    file: &str,
    read: impl FnOnce(Field<'_>) -> Result<T, SpecError>,
) -> Result<T, SpecError> {
    let source = Source { file, text };
    let document = DeTable::parse(text).map_err(|e| {
        let span = e.span().unwrap_or(0..0);
        SpecError::Syntax {
            file: file.into(),
            line: source.line(span.start),
            span,
            message: e.message().into(),
        }
    })?;
    let value = DeValue::Table(document.into_inner());
    read(Field { source, path: String::new(), offset: 0, value: &value })
}

impl<'a> Field<'a> {
    /// Path of the field, as `costs.line.own`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Something is wrong with this field.
    pub fn error(&self, problem: impl Into<String>, advice: impl Into<String>) -> SpecError {
        SpecError::Field {
            file: self.source.file.into(),
            line: self.source.line(self.offset),
            field: self.path.clone(),
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// As a string that is not empty.
    pub fn text(&self) -> Result<&'a str, SpecError> {
        match self.value.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(self.error("is empty", "write a text")),
            None => Err(self.wrong_kind("a string in quotes")),
        }
    }

    /// As true or false.
    pub fn boolean(&self) -> Result<bool, SpecError> {
        self.value.as_bool().ok_or_else(|| self.wrong_kind("true or false"))
    }

    /// As a whole number in `min..=max` of some unit; `max` fits 63 bits.
    pub fn number(&self, min: u64, max: u64, unit: &str) -> Result<u64, SpecError> {
        self.signed(min as i64, max as i64, unit).map(|value| value as u64)
    }

    /// As a whole number in `min..=max` of some unit.
    pub fn signed(&self, min: i64, max: i64, unit: &str) -> Result<i64, SpecError> {
        let Some(integer) = self.value.as_integer() else {
            return Err(self.wrong_kind("a whole number"));
        };
        match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            _ => {
                Err(self
                    .error(format!("{integer} {unit} is impossible"), format!("give {min} to {max} {unit}")))
            }
        }
    }

    /// As an array, each element with its own place.
    pub fn elements(&self) -> Result<Vec<Field<'a>>, SpecError> {
        let array = self.value.as_array().ok_or_else(|| self.wrong_kind("an array in brackets"))?;
        let element = |(i, value): (usize, &'a toml::Spanned<DeValue<'a>>)| Field {
            source: self.source,
            path: format!("{}[{i}]", self.path),
            offset: value.span().start,
            value: value.get_ref(),
        };
        Ok(array.iter().enumerate().map(element).collect())
    }

    /// As a table that may have these keys and no others.
    pub fn table(&self, known: &[&str]) -> Result<Table<'a>, SpecError> {
        let entries = self.value.as_table().ok_or_else(|| self.wrong_kind("a table"))?;
        let unknown = entries.iter().filter(|(key, _)| !known.contains(&key.get_ref().as_ref()));
        if let Some((key, _)) = unknown.min_by_key(|(key, _)| key.span().start) {
            let name = key.get_ref();
            let field = Field { path: self.below(name), offset: key.span().start, ..self.clone() };
            return Err(field.error("is not known here", nearest_advice(name, known)));
        }
        Ok(Table { field: self.clone(), entries })
    }

    fn below(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    fn wrong_kind(&self, wanted: &str) -> SpecError {
        self.error(format!("is {}", kind_of(self.value)), format!("write {wanted}"))
    }
}

impl<'a> Table<'a> {
    /// The table itself as a field, for complaints about the whole of it.
    pub fn field(&self) -> &Field<'a> {
        &self.field
    }

    /// A key that may be left out.
    pub fn optional(&self, key: &str) -> Option<Field<'a>> {
        let (key, value) = self.entries.get_key_value(key)?;
        // A table's own span is its header or braces; any other value is best found by its key.
        let offset = key.span().start;
        Some(Field {
            source: self.field.source,
            path: self.field.below(key.get_ref()),
            offset,
            value: value.get_ref(),
        })
    }

    /// A key that must be there.
    pub fn required(&self, key: &str) -> Result<Field<'a>, SpecError> {
        self.optional(key).ok_or_else(|| {
            let field = Field { path: self.field.below(key), ..self.field.clone() };
            field.error("is missing", "add it")
        })
    }
}

fn nearest_advice(name: &str, known: &[&str]) -> String {
    match suggest(name, known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known are {}", known.join(", ")),
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
