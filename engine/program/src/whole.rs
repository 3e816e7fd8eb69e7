//! A file that is there whole or as it was before: what is written stands under another name until
//! all of it is there. So a run that is broken off leaves nothing half or empty behind.
//!
//! What is no regular file, such as a pipe, is written as it comes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
pub(crate) struct WholeFile {
    writer: BufWriter<File>,
    /// Where it goes in the end; `None` if it is there already.
    to: Option<PathBuf>,
    /// Its name until then, where an open file must have one.
    name: Option<PathBuf>,
}

impl WholeFile {
    /// Begins a file. That it can be written is known then; what was there stays as it is.
    pub(crate) fn begin(path: &Path) -> io::Result<WholeFile> {
        let there = fs::metadata(path);
        let to = match &there {
            Ok(found) if !found.is_file() => return WholeFile::at_once(path),
            // A link stays one, and so does who may read the file.
            Ok(_) => {
                OpenOptions::new().write(true).open(path)?;
                fs::canonicalize(path)?
            }
            Err(_) => path.to_owned(),
        };
        let (name, file) = match beside(&to) {
            Ok(made) => made,
            // Where nothing can be made beside it, it is all the same the file that was asked for.
            Err(_) if there.is_ok() => return WholeFile::at_once(path),
            Err(error) => return Err(error),
        };
        // It needs no name until it is whole.
        let removed = fs::remove_file(&name);
        Ok(WholeFile {
            writer: BufWriter::with_capacity(1 << 16, file),
            to: Some(to),
            name: removed.err().map(|_| name),
        })
    }

    fn at_once(path: &Path) -> io::Result<WholeFile> {
        let file = File::create(path)?;
        Ok(WholeFile {
            writer: BufWriter::with_capacity(1 << 16, file),
            to: None,
            name: None,
        })
    }

    /// All is written: the file is there from now on.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.writer.flush()?;
        let Some(to) = self.to else {
            return Ok(());
        };
        let mut written = self.writer.into_inner().map_err(|e| e.into_error())?;
        written.rewind()?;
        let (name, mut file) = beside(&to)?;
        let copied = copy(&mut written, &mut file).and_then(|()| {
            if let Ok(before) = fs::metadata(&to) {
                file.set_permissions(before.permissions())?;
            }
            fs::rename(&name, &to)
        });
        drop(written);
        let failed = copied.is_err().then_some(name);
        for name in self.name.into_iter().chain(failed) {
            let _ = fs::remove_file(name);
        }
        copied
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn copy(from: &mut impl Read, to: &mut File) -> io::Result<()> {
    io::copy(from, to)?;
    to.flush()
}

/// Makes a new file in the folder of another.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut n = 0u32;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{n}.part", std::process::id()));
        let made = path.with_file_name(hidden);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&made);
        match file {
            Ok(file) => return Ok((made, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < 1000 => n += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes a whole text to a file.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = WholeFile::begin(path)?;
    file.write_all(text.as_bytes())?;
    file.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    impl core::ops::Deref for Folder {
        type Target = Path;

        fn deref(&self) -> &Path {
            &self.0
        }
    }

    fn folder(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("tickpipe-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("can be made");
        Folder(folder)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("is there");
        let name = |e: io::Result<fs::DirEntry>| e.expect("can be read").file_name();
        entries
            .map(|e| name(e).to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn what_is_broken_off_leaves_nothing() {
        let folder = folder("whole-broken-off");
        let path = folder.join("report.json");
        let mut file = WholeFile::begin(&path).expect("can be written");
        file.write_all(b"half").expect("is written");
        file.flush().expect("is written");
        assert_eq!(names(&folder), Vec::<String>::new());
        drop(file);
        assert_eq!(names(&folder), Vec::<String>::new());
        fs::write(&path, "before").expect("is written");
        let mut file = WholeFile::begin(&path).expect("can be written");
        file.write_all(b"half").expect("is written");
        drop(file);
        assert_eq!(fs::read_to_string(&path).expect("is there"), "before");
        assert_eq!(names(&folder), ["report.json"]);
    }

    #[test]
    fn what_is_whole_is_there_alone() {
        let folder = folder("whole-there");
        let path = folder.join("report.json");
        for text in ["first, and longer", "second"] {
            write(&path, text).expect("can be written");
            assert_eq!(fs::read_to_string(&path).expect("is there"), text);
            assert_eq!(names(&folder), ["report.json"]);
        }
        assert!(write(&folder, "x").is_err(), "a folder is no file");
        assert!(write(&folder.join("none/report.json"), "x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_rights_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("whole-links");
        let (path, link) = (folder.join("real"), folder.join("link"));
        fs::write(&path, "before").expect("is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("can be set");
        symlink(&path, &link).expect("can be made");
        write(&link, "after").expect("can be written");
        assert_eq!(fs::read_to_string(&path).expect("is there"), "after");
        let mode = fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let kind = fs::symlink_metadata(&link).expect("is there");
        assert!(kind.file_type().is_symlink());
    }
}
