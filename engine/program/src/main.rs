//! The program `tickpipe`; all of it is in its library.

fn main() -> std::process::ExitCode {
    tickpipe_program::main()
}
