//! Being the child of an element `remote`: for programs that are their own children, which they are unless
//! the property `program` names another. It touches the process's standard streams.
//!
//! ```no_run
//! // First of all in `main`, before anything is printed or any argument is read.
//! if tickpipe::remote::is_child() {
//!     std::process::exit(tickpipe::remote::serve(|_| Ok(())));
//! }
//! ```

use tickpipe_systems::element::{Registry, RegistryError};
pub use tickpipe_systems::elements::remote::is_child;

/// Serves the parent until it is gone, with all elements of this build and those that `register` adds: the
/// same that the parent's engine has. What the process is to exit with.
pub fn serve(register: impl FnOnce(&mut Registry) -> Result<(), RegistryError>) -> i32 {
    let mut registry = Registry::default();
    let registered = tickpipe_systems::elements::register(&mut registry);
    if let Err(error) = registered.and_then(|()| register(&mut registry)) {
        return cannot(&error);
    }
    match tickpipe_systems::elements::remote::serve(&registry) {
        Ok(()) => 0,
        Err(error) => cannot(&error),
    }
}

/// A child has nobody to tell but who reads its standard error.
fn cannot(error: &dyn std::error::Error) -> i32 {
    let told = format!("error: cannot serve an element `remote`: {error}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes());
    2
}
