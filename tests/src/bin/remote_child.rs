//! The child of tests of the element `remote`: one that serves, with the element `faulty` besides, or, by
//! the name that it is called by, one that does what no child may.

#[cfg(all(feature = "remote", target_os = "linux"))]
fn main() {
    use std::io::{Read, Write, stdin, stdout};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    let own = std::env::args_os().next().unwrap_or_default();
    let own = std::path::Path::new(&own);
    let name = own.file_name().map(|n| n.to_string_lossy().into_owned());
    let control = || {
        let fd = stdin().as_fd().try_clone_to_owned().expect("a descriptor");
        UnixStream::from(fd)
    };
    let forever = || loop {
        std::thread::park();
    };
    match name.as_deref() {
        Some("garbage") => {
            let _ = control().write_all(&[0x5a; 4096]);
            forever()
        }
        Some("too-long") => {
            let _ = control().write_all(&u32::MAX.to_le_bytes());
            forever()
        }
        Some("empty") => {
            let _ = control().write_all(&0u32.to_le_bytes());
            forever()
        }
        Some("half") => {
            let _ = control().write_all(&[100, 0, 0, 0, 1]);
            std::process::exit(4)
        }
        Some("silent") => forever(),
        Some("deaf") => {
            let _ = control().shutdown(std::net::Shutdown::Both);
            forever()
        }
        Some("drip") => loop {
            // One byte after the other of an answer that is never whole.
            let mut control = control();
            let _ = control.write_all(&[200, 0, 0, 0]);
            for byte in 0..100u8 {
                let _ = control.write_all(&[byte]);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            forever()
        },
        Some("other-version") => {
            // Ready, of version 99, with an empty state.
            let _ = control().write_all(&[9, 0, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0]);
            forever()
        }
        Some("quits") => std::process::exit(3),
        Some("shrinks") => {
            // What it shares cannot be made smaller under the parent.
            let memory = stdout().as_fd().try_clone_to_owned().expect("memory");
            let cut = std::fs::File::from(memory).set_len(0);
            let _ = control().read(&mut [0; 64]);
            std::process::exit(if cut.is_err() { 21 } else { 22 })
        }
        _ if tickpipe::remote::is_child() => {
            std::process::exit(tickpipe::remote::serve(|registry| {
                registry.register::<tickpipe_tests::faulty::Faulty>()
            }))
        }
        _ => host(),
    }
}

/// A parent. With arguments `launch TEXT` it runs that and tells the verdict and how many frames there were;
/// without it runs until it is killed: its child, the program that `CHILD` names, hangs.
#[cfg(all(feature = "remote", target_os = "linux"))]
fn host() {
    use tickpipe::{Engine, RunOptions};
    let mut engine = Engine::new().expect("an engine");
    engine
        .register::<tickpipe_tests::faulty::Faulty>()
        .expect("no name is taken");
    if let Some(text) = std::env::args().nth(2) {
        let (pipeline, _) = engine.launch("main", &text).expect("a graph");
        let options = RunOptions {
            record: true,
            ..RunOptions::default()
        };
        let report = engine.run(pipeline, &options, &mut ());
        let taken: usize = report.sinks.iter().map(|s| s.frames.len()).sum();
        println!("{} {taken}", report.verdict.name());
        return;
    }
    let child = std::env::var("CHILD").expect("a program");
    let text = format!(
        "videotestsrc num-buffers=9 ! video/x-raw,format=GRAY8,width=16,height=16 ! \
         remote program={child} time-limit=3600000000000 transform=\"faulty from=3 to=4 deed=hang\" ! fakesink"
    );
    let (pipeline, _) = engine.launch("main", &text).expect("a graph");
    engine.run(pipeline, &RunOptions::default(), &mut ());
}

#[cfg(not(all(feature = "remote", target_os = "linux")))]
fn main() {}
