//! Tables for pandas, polars, DuckDB and whoever else reads Arrow, without a copy and without a library of
//! theirs.

use crate::errors::unreadable;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;
use std::sync::Arc;

/// A table of Arrow: `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`, `pyarrow.table(table)`,
/// and in DuckDB by its name.
#[pyclass(frozen, module = "schedlab")]
pub struct Table(RecordBatch);

impl Table {
    /// Of columns by name, all of one length.
    pub fn of_columns(columns: Vec<(String, ArrayRef)>) -> PyResult<Table> {
        let columns = columns.into_iter().map(|(name, values)| (name, values, true));
        RecordBatch::try_from_iter_with_nullable(columns).map(Table).map_err(unreadable)
    }
}

#[pymethods]
impl Table {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Who wishes for other types casts them: the interface allows that.
        drop(requested_schema);
        let schema = self.0.schema();
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<schedlab.Table: {} rows, {} columns>", self.0.num_rows(), self.0.num_columns())
    }
}

/// A table of a JSON list of objects. What an object holds in an object is a column `outer.inner`; lists are
/// left out.
#[pyfunction]
pub fn table_of_json(json: &str) -> PyResult<Table> {
    let records: Vec<Value> = serde_json::from_str(json).map_err(unreadable)?;
    let mut names: Vec<String> = Vec::new();
    let rows: Vec<Vec<(String, Value)>> = records
        .into_iter()
        .map(|record| {
            let mut cells = Vec::new();
            flatten("", record, &mut cells);
            cells
        })
        .collect();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let column = |name: &String| -> Vec<Option<&Value>> {
        rows.iter().map(|row| row.iter().find(|(known, _)| known == name).map(|(_, value)| value)).collect()
    };
    Table::of_columns(names.iter().map(|name| (name.clone(), array(&column(name)))).collect())
}

fn flatten(name: &str, value: Value, cells: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let inner = if name.is_empty() { field } else { format!("{name}.{field}") };
                flatten(&inner, value, cells);
            }
        }
        Value::Array(_) | Value::Null => {}
        single => cells.push((name.to_owned(), single)),
    }
}

/// Of the narrowest type that holds all of them.
fn array(values: &[Option<&Value>]) -> ArrayRef {
    let all = |fits: fn(&Value) -> bool| values.iter().flatten().all(|value| fits(value));
    let each = || values.iter().copied();
    if all(Value::is_boolean) {
        Arc::new(each().map(|value| value?.as_bool()).collect::<BooleanArray>())
    } else if all(Value::is_u64) {
        Arc::new(each().map(|value| value?.as_u64()).collect::<UInt64Array>())
    } else if all(Value::is_i64) {
        Arc::new(each().map(|value| value?.as_i64()).collect::<Int64Array>())
    } else if all(Value::is_number) {
        Arc::new(each().map(|value| value?.as_f64()).collect::<Float64Array>())
    } else {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Arc::new(each().map(|value| value.map(text)).collect::<StringArray>())
    }
}
