//! Reading the bytes that a chip loads, and no others.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use logos_bundle::load::{Ranges, ReadAt};

use super::{LoadError, Loader};
use crate::Refusal;
use crate::checkpoint::headers::{FileId, Headers};
use crate::checkpoint::open::{Checkpoint, FileBytes};
use crate::checkpoint::view::TensorView;

/// The mapped files.
impl ReadAt for Checkpoint {
    fn read_at(&self, file: u32, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if file as usize >= self.headers().files().len() {
            return Err(io::ErrorKind::NotFound.into());
        }
        [self.file(FileId(file))].read_at(0, offset, out)
    }
}

/// Files read at positions, none of them mapped.
#[derive(Debug)]
pub struct Files(Vec<File>);

impl Files {
    /// Opens a checkpoint's files in a folder.
    ///
    /// # Errors
    /// That of the first file that cannot be opened.
    pub fn open(folder: &Path, headers: &Headers) -> io::Result<Files> {
        headers.files().iter().map(|file| File::open(folder.join(file))).collect::<Result<_, _>>().map(Files)
    }
}

impl ReadAt for Files {
    fn read_at(&self, file: u32, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(file, offset, out)
    }
}

/// What one chip loaded: the bytes of its slices, at their places in files that are otherwise not there.
#[derive(Clone, Debug)]
pub struct ChipWeights {
    files: Arc<Checkpoint>,
    bytes: u64,
    reads: u64,
}

impl ChipWeights {
    /// Bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads they took, each of consecutive bytes.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// A tensor by the model's name, of which the chip's own slice has values; what lies outside has none of its own.
    ///
    /// # Errors
    /// As [`Checkpoint::tensor`].
    pub fn tensor(&self, name: &str) -> Result<Option<TensorView>, Refusal> {
        self.files.tensor(name)
    }
}

impl Loader<'_> {
    /// Reads what a chip loads. Bytes that several of its weights share, and ranges that touch, are read once and together. Memory grows
    /// by the pages of what is read: the rest of a file is address space without pages.
    ///
    /// # Errors
    /// As [`Loader::chip`]; [`LoadError::Read`].
    pub fn fetch(&self, chip: u32, source: &dyn ReadAt) -> Result<ChipWeights, LoadError> {
        let mut taken: BTreeMap<FileId, Ranges> = BTreeMap::new();
        for load in self.chip(chip)? {
            for part in load?.parts {
                let ranges = taken.entry(part.file).or_default();
                ranges.extend(part.ranges);
            }
        }
        let (mut bytes, mut reads) = (0, 0);
        let mut files = Vec::with_capacity(self.checkpoint.headers().files().len());
        for (file, name) in (0u32..).map(FileId).zip(self.checkpoint.headers().files()) {
            let failed = |bytes: Range<u64>| {
                let file = name.clone();
                move |source| LoadError::Read { file, bytes, source }
            };
            let length = self.checkpoint.file(file).len();
            let mut map = memmap2::MmapMut::map_anon(length).map_err(failed(0..length as u64))?;
            for range in taken.remove(&file).unwrap_or_default().merged().into_vec() {
                // Ranges are of tensors, which lie in their files.
                source
                    .read_at(file.0, range.start, &mut map[range.start as usize..range.end as usize])
                    .map_err(failed(range.clone()))?;
                bytes += range.end - range.start;
                reads += 1;
            }
            files.push(FileBytes::Mapped(map.make_read_only().map_err(failed(0..length as u64))?));
        }
        Ok(ChipWeights { files: Arc::new(self.checkpoint.with_files(files)), bytes, reads })
    }
}

/// The weights of a deployment's chips, each what it loaded itself.
#[derive(Clone, Debug)]
pub struct ChipStore(pub Vec<ChipWeights>);

#[cfg(any(test, feature = "simulate"))]
impl crate::simulate::TensorStore for ChipStore {
    /// The first chip's, whose shape is every chip's.
    fn open(&self, tensor: &str) -> Option<crate::simulate::SharedTensor> {
        self.open_on(0, tensor)
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn open_on(&self, chip: u32, tensor: &str) -> Option<crate::simulate::SharedTensor> {
        let view = self.0.get(chip as usize)?.tensor(tensor).ok().flatten()?;
        Some(Arc::new(view) as crate::simulate::SharedTensor)
    }
}
