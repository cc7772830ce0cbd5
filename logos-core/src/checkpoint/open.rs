//! Opening checkpoint files: what they hold is mapped into memory and read where it is used.

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::arrange::Arrangement;
use super::fault::{Place, shown};
use super::gguf;
use super::headers::{Headers, TensorId};
use super::index::{Index, MAX_INDEX};
use super::layout::Laid;
use super::resolve::{Parts, Resolved, resolve, unread};
use super::safetensors;
use super::storage::Storage;
use super::view::{Data, Stretch, TensorView};
use crate::{Code, Refusal};

/// The index beside shards.
const INDEX: &str = "model.safetensors.index.json";
/// A checkpoint of one file.
const SINGLE: &str = "model.safetensors";

/// A model's checkpoint: its headers, read and validated, over its files mapped into memory.
///
/// The files must not be changed or cut while they are open: what is read from a mapped file that changes is whatever is there by
/// then, and reading beyond the end of one that was cut stops the process.
#[derive(Debug)]
pub struct Checkpoint {
    headers: Headers,
    /// Bytes of each file, by [`super::FileId`].
    files: Vec<Arc<FileBytes>>,
    /// Bytes of each tensor in its file.
    extents: Vec<Range<u64>>,
}

#[derive(Debug)]
pub(super) enum FileBytes {
    Mapped(Mmap),
    Held(Vec<u8>),
}

impl FileBytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            FileBytes::Mapped(map) => map,
            FileBytes::Held(bytes) => bytes,
        }
    }
}

impl Checkpoint {
    /// Opens a folder as Hugging Face lays it out (`model.safetensors`, or `model.safetensors.index.json` and its shards) or with one
    /// GGUF file; or a safetensors file, an index, or a GGUF file. A folder's GGUF file is for those that have nothing else.
    ///
    /// # Errors
    /// [`Code::CheckpointFile`] where files are missing or cannot be read, and what reading their headers refuses.
    pub fn open(path: &Path) -> Result<Checkpoint, Refusal> {
        let file = if path.is_dir() { choose(path)? } else { path.to_owned() };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Checkpoint::sharded(&file),
            _ => Checkpoint::new(vec![(file_name(&file), map(&file)?)]),
        }
    }

    /// A safetensors or GGUF file that is in memory.
    ///
    /// # Errors
    /// What reading its header refuses.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Checkpoint, Refusal> {
        Checkpoint::new(vec![(name.to_owned(), FileBytes::Held(bytes))])
    }

    fn sharded(path: &Path) -> Result<Checkpoint, Refusal> {
        let name = file_name(path);
        let bytes = length(path)?;
        if bytes > MAX_INDEX {
            let expected = format!("at most {MAX_INDEX} bytes");
            let found = format!("{bytes} bytes");
            return Err(Place::file(&name).refuse(Code::CheckpointIndex, "the index is too long", expected, found));
        }
        let json = fs::read(path).map_err(|error| unreadable(path, &error))?;
        let index = Index::parse(&name, &json)?;
        let files = index.shards().into_iter().map(|shard| Ok((shard.to_owned(), map(&path.with_file_name(shard))?)));
        let checkpoint = Checkpoint::new(files.collect::<Result<_, Refusal>>()?)?;
        index.check(&checkpoint.headers)?;
        Ok(checkpoint)
    }

    fn new(files: Vec<(String, FileBytes)>) -> Result<Checkpoint, Refusal> {
        let mut extents = Vec::new();
        let mut stored = Vec::with_capacity(files.len());
        let mut names = None;
        for (name, bytes) in &files {
            let laid = if bytes.as_slice().starts_with(gguf::MAGIC) {
                let (laid, meanings) = gguf::parse(name, bytes.as_slice())?;
                names = Some(meanings);
                laid
            } else {
                safetensors::parse(name, bytes.as_slice())?
            };
            let tensors = laid.into_iter().map(|Laid { tensor, bytes }| {
                extents.push(bytes);
                tensor
            });
            stored.push((name.clone(), tensors.collect()));
        }
        let mut headers = Headers::new(stored)?;
        if let Some(names) = names {
            headers = headers.with_gguf(names);
        }
        Ok(Checkpoint { headers, extents, files: files.into_iter().map(|(_, bytes)| Arc::new(bytes)).collect() })
    }

    /// What the headers say.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Where a tensor's bytes are in its file.
    pub fn extent(&self, tensor: TensorId) -> Range<u64> {
        self.extents[tensor.index()].clone()
    }

    /// A tensor's bytes as stored.
    pub fn bytes(&self, tensor: TensorId) -> &[u8] {
        let file = self.files[self.headers.file_of(tensor).0 as usize].as_slice();
        let Range { start, end } = self.extents[tensor.index()];
        // Held to the file's length when its header was read.
        &file[start as usize..end as usize]
    }

    /// All bytes of a file.
    pub(super) fn file(&self, file: super::FileId) -> &[u8] {
        self.files[file.0 as usize].as_slice()
    }

    /// The same headers over other bytes, as many of each file.
    pub(super) fn with_files(&self, files: Vec<FileBytes>) -> Checkpoint {
        Checkpoint {
            headers: self.headers.clone(),
            extents: self.extents.clone(),
            files: files.into_iter().map(Arc::new).collect(),
        }
    }

    /// The tensor that a model calls so, ready to be read; none where there is no such tensor.
    ///
    /// # Errors
    /// [`Code::CheckpointStorage`] where it is stored in a way that is not read.
    pub fn tensor(&self, name: &str) -> Result<Option<TensorView>, Refusal> {
        self.headers.resolve(name)?.map(|resolved| self.view(&resolved)).transpose()
    }

    /// The tensor that the files call so, its values as they are stored.
    pub(super) fn stored(&self, name: &str) -> Result<Option<TensorView>, Refusal> {
        resolve(&self.headers, name)?.map(|resolved| self.view(&resolved)).transpose()
    }

    fn view(&self, resolved: &Resolved) -> Result<TensorView, Refusal> {
        let id = resolved.parts.first();
        let shape = resolved.shape.iter().map(|&axis| usize::try_from(axis).ok()).collect::<Option<Vec<usize>>>();
        // Some axis may be 0, and the others then as long as they like.
        let sound =
            shape.filter(|shape| shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis.max(1))).is_some());
        let Some(shape) = sound else {
            let place = self.headers.place(id);
            let found = format!("{:?}", resolved.shape);
            return Err(place.refuse(
                Code::CheckpointHeader,
                "its shape has no size",
                "fewer than 2^64 elements",
                found,
            ));
        };
        let data = match resolved.parts {
            Parts::Plain(id) => self.plain(id)?,
            Parts::Scaled { values, scales, block } => {
                let block = block.map(|axis| axis as usize);
                let mut factors = vec![0.0; self.headers.get(scales).shape.iter().product::<u64>() as usize];
                TensorView::new(vec![factors.len()], self.plain(scales)?, Arrangement::default()).fill(&mut factors);
                let across = shape.get(1).map_or(1, |columns| columns.div_ceil(block[1]));
                Data::Scaled { values: self.stretch(values), scales: factors.into(), block, across }
            }
            Parts::Mxfp4 { blocks, scales } => {
                let &[_, input, out] = &shape[..] else { return Err(unread(self.headers.place(id), Storage::U8)) };
                Data::Mxfp4 { blocks: self.stretch(blocks), scales: self.stretch(scales), out, input }
            }
        };
        Ok(TensorView::new(shape, data, resolved.arrangement))
    }

    /// The values of a tensor that is stored as it is, whole, in F32 that can be used as they lie.
    pub(super) fn floats(&self, name: &str) -> Option<&[f32]> {
        let resolved = self.headers.resolve(name).ok()??;
        let Parts::Plain(id) = resolved.parts else { return None };
        let tensor = self.headers.get(id);
        let whole = resolved.arrangement == Arrangement::default()
            && tensor.storage == Storage::F32
            && resolved.shape.iter().product::<u64>() == tensor.shape.iter().product::<u64>();
        bytemuck::try_cast_slice(self.bytes(id)).ok().filter(|_| whole && cfg!(target_endian = "little"))
    }

    fn stretch(&self, id: TensorId) -> Stretch {
        let Range { start, end } = self.extents[id.index()];
        // Held to the file's length when its header was read.
        Stretch::new(self.files[self.headers.file_of(id).0 as usize].clone(), start as usize..end as usize)
    }

    fn plain(&self, id: TensorId) -> Result<Data, Refusal> {
        let stretch = self.stretch(id);
        match self.headers.get(id).storage {
            Storage::F32 => Ok(Data::F32(stretch)),
            Storage::F16 => Ok(Data::F16(stretch)),
            Storage::Bf16 => Ok(Data::Bf16(stretch)),
            Storage::Q8_0 => Ok(Data::Q8_0(stretch)),
            storage => Err(unread(self.headers.place(id), storage)),
        }
    }
}

/// The file of a folder that its checkpoint starts with.
fn choose(folder: &Path) -> Result<PathBuf, Refusal> {
    let [single, index] = [SINGLE, INDEX].map(|name| folder.join(name));
    let name = folder.display().to_string();
    let place = Place::file(&name);
    match (single.is_file(), index.is_file()) {
        (true, false) => Ok(single),
        (false, true) => Ok(index),
        (true, true) => {
            let expected = format!("{SINGLE} or {INDEX}");
            Err(place
                .refuse(Code::CheckpointFile, "the folder holds two checkpoints", expected, "both")
                .help("name the one that is meant"))
        }
        (false, false) => {
            let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
            let ends = [".safetensors", ".bin", ".gguf", ".pth", ".pt"];
            let mut found: Vec<String> = entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| ends.iter().any(|end| name.ends_with(end)))
                .collect();
            found.sort();
            let mut ggufs = found.iter().filter(|name| name.ends_with(".gguf"));
            if let (Some(only), None) = (ggufs.next(), ggufs.next()) {
                return Ok(folder.join(only));
            }
            let found = if found.is_empty() { "no weights".to_owned() } else { shown(&found.join(", ")) };
            let expected = format!("{SINGLE}, or {INDEX} and its shards, or one .gguf file");
            Err(place
                .refuse(Code::CheckpointFile, "the folder has no checkpoint", expected, found)
                .help("name the file itself where it has another name"))
        }
    }
}

/// Bytes of a regular file. Asked before it is opened: a pipe would wait for somebody to write.
fn length(path: &Path) -> Result<u64, Refusal> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_file() && metadata.len() > 0 {
        return Ok(metadata.len());
    }
    let found = if metadata.is_file() { "an empty file" } else { "no regular file" };
    let place = path.display().to_string();
    Err(Place::file(&place)
        .refuse(Code::CheckpointFile, "there are no bytes to read", "a file of tensors", found)
        .help(WHAT_TO_NAME))
}

fn map(path: &Path) -> Result<FileBytes, Refusal> {
    length(path)?;
    let failed = |error: std::io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(failed)?;
    // SAFETY: a map is as sound as the file stays unchanged, which `Checkpoint` asks of its user.
    let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
    Ok(FileBytes::Mapped(map))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Refusal {
    let place = path.display().to_string();
    Place::file(&place).refuse(Code::CheckpointFile, "it cannot be read", "a readable file", error).help(WHAT_TO_NAME)
}

/// What a checkpoint is.
const WHAT_TO_NAME: &str = "name a folder with safetensors or one GGUF file, or such a file";

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
