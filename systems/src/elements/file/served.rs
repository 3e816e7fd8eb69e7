//! A regular file that is read by position, as it was when it was opened.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use tickpipe_components::pull::{Available, Bytes, Order};

/// An open file.
#[derive(Debug)]
pub(super) struct FileBytes {
    file: File,
    /// Bytes when it was opened: what is written behind them later is not seen.
    len: u64,
    order: Order,
}

impl FileBytes {
    pub(super) fn new(file: File, len: u64, order: Order) -> FileBytes {
        FileBytes { file, len, order }
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
            match self.file.read_at(&mut to[filled..], at + filled as u64) {
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
