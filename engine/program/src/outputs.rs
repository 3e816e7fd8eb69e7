//! Report and digest files. Begun before the run, so that a target that cannot be written is
//! known before the work is done; what fails later is kept and told at the end. A file is there
//! when it is whole.

use crate::failure::Failure;
use crate::whole::{self, WholeFile};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tickpipe::Report;
use tickpipe::components::fabric::PipelineFabric;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    /// `-` is standard output.
    pub(crate) fn of(path: &Path) -> Target {
        match path.to_str() {
            Some("-") => Target::Stdout,
            _ => Target::File(path.to_owned()),
        }
    }

    fn name(&self) -> String {
        match self {
            Target::Stdout => "standard output".to_owned(),
            Target::File(path) => path.display().to_string(),
        }
    }

    fn open(&self) -> Result<Option<WholeFile>, Failure> {
        match self {
            Target::Stdout => Ok(None),
            Target::File(path) => match WholeFile::begin(path) {
                Ok(file) => Ok(Some(file)),
                Err(error) => Err(self.failed(error)),
            },
        }
    }

    /// Writes a whole text there.
    pub(crate) fn write(&self, text: &str, stdout: &mut (dyn Write + Send)) -> Result<(), Failure> {
        let written = match self {
            Target::Stdout => stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush()),
            Target::File(path) => whole::write(path, text),
        };
        written.map_err(|error| self.failed(error))
    }

    /// A closed standard output is the reader's choice, and still not what was asked for.
    fn failed(&self, error: std::io::Error) -> Failure {
        if *self == Target::Stdout && error.kind() == ErrorKind::BrokenPipe {
            return Failure::Stdout(error);
        }
        Failure::Output {
            name: self.name(),
            error,
        }
    }
}

/// The outputs of a run.
pub(crate) struct Outputs<'a> {
    report: Option<(Target, Option<WholeFile>)>,
    digests: Option<DigestLines<'a>>,
}

/// A line a tick.
struct DigestLines<'a> {
    target: Target,
    writer: Lines<'a>,
    error: Option<std::io::Error>,
}

enum Lines<'a> {
    File(WholeFile),
    Stdout(&'a mut (dyn Write + Send)),
}

impl Lines<'_> {
    fn to(&mut self) -> &mut dyn Write {
        match self {
            Lines::File(file) => file,
            Lines::Stdout(stdout) => *stdout,
        }
    }

    fn end(self) -> std::io::Result<()> {
        match self {
            Lines::File(file) => file.end(),
            Lines::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// What is left to write when a run is over.
pub(crate) struct Ended {
    report: Option<(Target, Option<WholeFile>)>,
    digests: Result<(), Failure>,
}

impl<'a> Outputs<'a> {
    pub(crate) fn open(
        report: Option<Target>,
        digests: Option<Target>,
        stdout: &'a mut (dyn Write + Send),
    ) -> Result<Outputs<'a>, Failure> {
        let report = match report {
            Some(target) => {
                let file = target.open()?;
                Some((target, file))
            }
            None => None,
        };
        let digests = match digests {
            Some(target) => {
                let writer = match target.open()? {
                    Some(file) => Lines::File(file),
                    None => Lines::Stdout(stdout),
                };
                Some(DigestLines {
                    target,
                    writer,
                    error: None,
                })
            }
            None => None,
        };
        Ok(Outputs { report, digests })
    }

    /// Writes the tick's digest.
    pub(crate) fn tick(&mut self, pipeline: &PipelineFabric) {
        if let Some(lines) = &mut self.digests
            && lines.error.is_none()
        {
            let written = writeln!(
                lines.writer.to(),
                "{} {:016x}",
                pipeline.tick,
                pipeline.digest
            );
            lines.error = written.err();
        }
    }

    /// Ends the digest file.
    pub(crate) fn finish(self) -> Ended {
        let digests = match self.digests {
            Some(mut lines) => {
                let flushed = match lines.error.take() {
                    Some(error) => Err(error),
                    None => lines.writer.end(),
                };
                flushed.map_err(|error| lines.target.failed(error))
            }
            None => Ok(()),
        };
        Ended {
            report: self.report,
            digests,
        }
    }
}

impl Ended {
    /// Writes the report, and tells what went wrong with any output.
    pub(crate) fn report(
        &mut self,
        report: &Report,
        stdout: &mut (dyn Write + Send),
    ) -> Result<(), Failure> {
        let written = match self.report.take() {
            Some((target, file)) => {
                let text = report.to_json() + "\n";
                let written = match file {
                    Some(mut file) => file.write_all(text.as_bytes()).and_then(|()| file.end()),
                    None => stdout
                        .write_all(text.as_bytes())
                        .and_then(|()| stdout.flush()),
                };
                written.map_err(|error| target.failed(error))
            }
            None => Ok(()),
        };
        std::mem::replace(&mut self.digests, Ok(())).and(written)
    }
}
