//! Memory that parent and child share: an anonymous file of fixed size, written and read by position. No
//! pointer goes into it, so nothing that the other end does to it can be more than wrong bytes.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How many bytes one call can move, both ways. The file takes memory only where it was written.
pub const SHARED_BYTES: u64 = 4 << 30;

/// The shared memory.
#[derive(Debug)]
pub struct Shared(File);

impl Shared {
    /// New memory, whose size nobody can change.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Shared> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("tickpipe-remote", flags)?);
        file.set_len(SHARED_BYTES)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Shared(file))
    }

    /// The memory behind a descriptor.
    pub fn from_file(file: File) -> Shared {
        Shared(file)
    }

    /// A descriptor of it to give to a child.
    ///
    /// # Errors
    /// The system's.
    pub fn file(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// Writes bytes from a position on.
    ///
    /// # Errors
    /// The system's: there is no memory left, or the file ends before.
    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    /// Reads bytes from a position on.
    ///
    /// # Errors
    /// The system's; the file ends before.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }
}
