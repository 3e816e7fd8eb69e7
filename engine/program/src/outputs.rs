//! Report and digest files. Opened before the run, so that a target that cannot be written is
//! known before the work is done; what fails later is kept and told at the end.

use crate::failure::Failure;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
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

    fn open(&self) -> Result<Option<BufWriter<File>>, Failure> {
        match self {
            Target::Stdout => Ok(None),
            Target::File(path) => match File::create(path) {
                Ok(file) => Ok(Some(BufWriter::with_capacity(1 << 16, file))),
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
            Target::File(path) => std::fs::write(path, text),
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
    report: Option<(Target, Option<BufWriter<File>>)>,
    digests: Option<DigestLines<'a>>,
}

/// A line a tick.
struct DigestLines<'a> {
    target: Target,
    writer: Box<dyn Write + Send + 'a>,
    error: Option<std::io::Error>,
}

/// What is left to write when a run is over.
pub(crate) struct Ended {
    report: Option<(Target, Option<BufWriter<File>>)>,
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
                let writer: Box<dyn Write + Send + 'a> = match target.open()? {
                    Some(file) => Box::new(file),
                    None => Box::new(stdout),
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
            let written = writeln!(lines.writer, "{} {:016x}", pipeline.tick, pipeline.digest);
            lines.error = written.err();
        }
    }

    /// Ends the digest file.
    pub(crate) fn finish(self) -> Ended {
        let digests = match self.digests {
            Some(mut lines) => {
                let flushed = match lines.error.take() {
                    Some(error) => Err(error),
                    None => lines.writer.flush(),
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
                let write = |to: &mut dyn Write| {
                    to.write_all(text.as_bytes())?;
                    to.flush()
                };
                let written = match file {
                    Some(mut file) => write(&mut file),
                    None => write(stdout),
                };
                written.map_err(|error| target.failed(error))
            }
            None => Ok(()),
        };
        std::mem::replace(&mut self.digests, Ok(())).and(written)
    }
}
