//! Arrow's PyCapsule interface, in both directions.
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, make_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors;

/// The name of the column that a Series or an array without a name becomes.
pub const COLUMN: &str = "items";

/// The record batches of anything with `__arrow_c_stream__` or
/// `__arrow_c_array__`. One column that is no table becomes a table of it.
pub fn read(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let stream: *mut FFI_ArrowArrayStream = take(&capsule, c"arrow_array_stream")?;
        // SAFETY: by the capsule's name this is a stream; it is moved out, and
        // what is left in the capsule is an empty one.
        let reader = unsafe { ArrayStreamReader::from_raw(stream) }.map_err(bad)?;
        let schema = schema_of(reader.field().data_type());
        let to_batch = {
            let schema = schema.clone();
            move |array: ArrayRef| batch(&schema, &array)
        };
        let batches = reader.map(move |array| array.and_then(&to_batch));
        return Ok(Box::new(RecordBatchIterator::new(batches, schema)));
    }
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
        let schema: *mut FFI_ArrowSchema = take(&pair.get_item(0)?, c"arrow_schema")?;
        let array: *mut FFI_ArrowArray = take(&pair.get_item(1)?, c"arrow_array")?;
        // SAFETY: by the capsules' names; the array is moved out, the schema is
        // freed by its capsule.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(bad)?;
        let array = make_array(data);
        let schema = schema_of(array.data_type());
        let batch = batch(&schema, &array);
        return Ok(Box::new(RecordBatchIterator::new([batch], schema)));
    }
    Err(PyTypeError::new_err("there is neither `__arrow_c_stream__` nor `__arrow_c_array__`"))
}

/// A stream of record batches for others.
pub fn write<'py>(
    py: Python<'py>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    // Dropped with the capsule, the stream gives everything back, unless
    // somebody has moved it out.
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), c"arrow_array_stream")
}

fn take<T>(capsule: &Bound<'_, PyAny>, name: &'static std::ffi::CStr) -> PyResult<*mut T> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr().cast())
}

fn schema_of(kind: &DataType) -> SchemaRef {
    match kind {
        DataType::Struct(fields) => Arc::new(Schema::new(fields.clone())),
        other => Arc::new(Schema::new(vec![Field::new(COLUMN, other.clone(), true)])),
    }
}

fn batch(schema: &SchemaRef, array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
    let columns = match array.as_struct_opt() {
        Some(table) => table.columns().to_vec(),
        None => vec![array.clone()],
    };
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(array.len()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
}

fn bad(error: ArrowError) -> PyErr {
    errors::data(&format!("the Arrow data cannot be taken: {error}"))
}
