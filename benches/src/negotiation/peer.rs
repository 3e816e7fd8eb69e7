//! A peer's program: built when the benchmark starts, run once for each figure.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// A program of `benches/peers`.
pub struct Peer {
    program: String,
    /// Name and version of what it measures.
    pub version: String,
}

impl Peer {
    /// Compiles a peer; says so if it cannot be had.
    pub fn build(name: &str, packages: &[&str], what: &str) -> Result<Peer, String> {
        let built = Peer::try_build(name, packages);
        if let Err(why) = &built {
            println!("{what} skipped: {why}");
        }
        built
    }

    fn try_build(name: &str, packages: &[&str]) -> Result<Peer, String> {
        let flags = output(
            Command::new("pkg-config")
                .args(["--cflags", "--libs"])
                .args(packages),
        )?;
        let source = format!("{}/peers/{name}.c", env!("CARGO_MANIFEST_DIR"));
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let program = program.to_string_lossy().into_owned();
        output(
            Command::new("cc")
                .args(["-O2", "-o", &program, &source])
                .args(flags.split_whitespace()),
        )?;
        let version = output(Command::new(&program).arg("version"))?;
        Ok(Peer {
            version: version.trim().to_owned(),
            program,
        })
    }

    /// Takes a figure of so many parts, in seconds.
    pub fn run(&self, figure: &[&str], parts: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        let text = output(Command::new(&self.program).args(figure))?;
        let numbers: Result<Vec<f64>, _> = text.lines().map(str::parse).collect();
        let numbers = numbers.map_err(|error| format!("{text:?}: {error}"))?;
        if numbers.len() != parts {
            return Err(format!("{} figures instead of {parts}", numbers.len()).into());
        }
        Ok(numbers)
    }
}

/// What a command prints, or why it fails.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| format!("{program} cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let first = told.lines().next().unwrap_or("no reason told");
    Err(format!("{program}: {}: {first}", output.status))
}
