//! Reading the bytes of ranges, and no others.

use std::fs::File;
use std::io;
use std::vec::Vec;

use super::Ranges;

/// Files that can be read from anywhere.
pub trait ReadAt {
    /// Reads consecutive bytes of a file, from an offset on.
    ///
    /// # Errors
    /// What the file's reading fails with; fewer bytes than asked for are an error.
    fn read_at(&self, file: u32, offset: u64, out: &mut [u8]) -> io::Result<()>;
}

/// Files read at positions, none of them mapped.
impl ReadAt for [File] {
    fn read_at(&self, file: u32, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let file = self.get(file as usize).ok_or(io::ErrorKind::NotFound)?;
        positioned(file, offset, out)
    }
}

/// Files in memory, mapped or held.
impl ReadAt for [&[u8]] {
    fn read_at(&self, file: u32, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.get(file as usize).ok_or(io::ErrorKind::NotFound)?;
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let part = bytes.get(start..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Ranges {
    /// Reads the bytes of a file, one range after another, into as many.
    ///
    /// # Errors
    /// What reading fails with; [`io::ErrorKind::InvalidInput`] where `out` is not as long as the ranges together.
    pub fn read(&self, source: &(impl ReadAt + ?Sized), file: u32, out: &mut [u8]) -> io::Result<()> {
        if self.count() != out.len() as u64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut rest = out;
        for range in self.as_slice() {
            // Shorter than what is left, which their sum is.
            let (part, after) = rest.split_at_mut((range.end - range.start) as usize);
            source.read_at(file, range.start, part)?;
            rest = after;
        }
        Ok(())
    }

    /// The bytes of a file, one range after another.
    ///
    /// # Errors
    /// What reading fails with; [`io::ErrorKind::OutOfMemory`] where there is no room for them.
    pub fn read_all(&self, source: &(impl ReadAt + ?Sized), file: u32) -> io::Result<Vec<u8>> {
        let count = usize::try_from(self.count()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(count, 0);
        self.read(source, file, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn positioned(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(not(unix))]
fn positioned(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(out)
}
