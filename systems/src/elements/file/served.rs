//! A regular file that is read by position, as it was when it was opened.

use std::fs::File;
use std::io;
use tickpipe_components::pull::{Available, Bytes, Order};

/// An open file.
#[derive(Debug)]
pub(super) struct FileBytes {
    #[cfg(unix)]
    file: File,
    #[cfg(not(unix))]
    file: std::sync::Mutex<File>,
    /// Bytes when it was opened: what is written behind them later is not seen.
    len: u64,
    order: Order,
}

impl FileBytes {
    #[cfg(unix)]
    pub(super) fn new(file: File, len: u64, order: Order) -> FileBytes {
        FileBytes { file, len, order }
    }

    #[cfg(not(unix))]
    pub(super) fn new(file: File, len: u64, order: Order) -> FileBytes {
        let file = std::sync::Mutex::new(file);
        FileBytes { file, len, order }
    }

    #[cfg(unix)]
    fn read_some(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, to, at)
    }

    #[cfg(not(unix))]
    fn read_some(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let locked = self.file.lock();
        let mut file = locked.unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read(to)
    }
}

impl Bytes for FileBytes {
    fn available(&self) -> Available {
        Available::all(self.len)
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(at);
        let most = usize::try_from(left).map_or(to.len(), |left| to.len().min(left));
        let to = &mut to[..most];
        let mut filled = 0;
        while filled < to.len() {
            match self.read_some(at + filled as u64, &mut to[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn order(&self) -> Order {
        self.order
    }
}
