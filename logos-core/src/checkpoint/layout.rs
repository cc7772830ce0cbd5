//! Where the tensors of a file lie, held to the file.

use std::ops::Range;

use super::fault::{Place, shown};
use super::headers::StoredTensor;
use crate::{Code, Refusal};

/// A tensor with its bytes, counted from the file's start, as a header gives it.
pub(super) struct Laid {
    pub(super) tensor: StoredTensor,
    pub(super) bytes: Range<u64>,
}

/// Elements of a shape.
pub(super) fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, &axis| product.checked_mul(axis))
}

/// Puts tensors in the order of their bytes and holds them to the file: inside it, none over another, and nothing between two, before
/// the first or after the last that is `padding` bytes or more.
pub(super) fn check_layout(file: &str, tensors: &mut [Laid], data: Range<u64>, padding: u64) -> Result<(), Refusal> {
    tensors.sort_by_key(|laid| (laid.bytes.start, laid.bytes.end));
    let place = Place::file(file);
    let refuse = |tensor: &str, what: &str, expected: String, found: &Range<u64>| {
        place.tensor(tensor).refuse(Code::CheckpointHeader, what, expected, span(found))
    };
    let mut end = data.start;
    let mut last: Option<&str> = None;
    for Laid { tensor, bytes } in tensors.iter() {
        if bytes.end > data.end {
            let expected = format!("at most byte {}, the file's end", data.end);
            return Err(refuse(&tensor.name, "its bytes end after the file does", expected, bytes)
                .help("the file is cut off: download or copy it again"));
        }
        if bytes.start < end {
            let what = format!("its bytes overlap those of `{}`", shown(last.unwrap_or("the header")));
            return Err(refuse(&tensor.name, &what, format!("byte {end} or later"), bytes));
        }
        if bytes.start - end >= padding {
            let expected = format!("from byte {end} on");
            return Err(refuse(&tensor.name, "bytes before it belong to no tensor", expected, bytes));
        }
        (end, last) = (bytes.end, Some(tensor.name.as_str()));
    }
    if data.end - end >= padding {
        let found = format!("{} bytes", data.end);
        return Err(place.refuse(
            Code::CheckpointHeader,
            "bytes at its end belong to no tensor",
            format!("{end} bytes"),
            found,
        ));
    }
    Ok(())
}

fn span(bytes: &Range<u64>) -> String {
    format!("bytes {} to {}", bytes.start, bytes.end)
}
