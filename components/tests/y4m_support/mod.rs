//! Reads header lines, and whole Y4M files through the state machine, cut into chunks of given
//! sizes.
#![allow(dead_code, reason = "each test file uses its part")]

use tickpipe_components::video::{Frame, FrameMut, Layout};
use tickpipe_components::y4m::{Event, Header, ReadError, Reader, payload};

/// The header that a whole line, and nothing else, gives.
pub fn parse(line: &str) -> Header {
    let bytes = line.as_bytes();
    let (header, len) = Header::parse(bytes).unwrap().expect("a whole line");
    assert_eq!(len, bytes.len(), "{line:?}");
    header
}

/// What reading a file came to.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Packed bytes of each complete frame; empty if no raw format holds the frames.
    pub frames: Vec<Vec<u8>>,
    /// Where each frame that began begins.
    pub offsets: Vec<u64>,
    /// Number of frames, or what went wrong.
    pub end: Result<u64, ReadError>,
}

/// The file in one piece.
pub fn read(bytes: &[u8]) -> Outcome {
    read_chunked(bytes, &[usize::MAX])
}

/// The file in chunks of these sizes, again from the start when they are used up. Frames are read
/// into a layout with padding of 0xEE, which must survive.
pub fn read_chunked(bytes: &[u8], sizes: &[usize]) -> Outcome {
    let mut reader = Reader::new();
    let mut out = Outcome {
        frames: Vec::new(),
        offsets: Vec::new(),
        end: Ok(0),
    };
    let mut layout: Option<Layout> = None;
    let mut data = Vec::new();
    let mut sizes = sizes.iter().cycle();
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = (*sizes.next().unwrap()).clamp(1, rest.len());
        let (mut chunk, tail) = rest.split_at(size);
        rest = tail;
        loop {
            let (used, event) = match reader.next(chunk) {
                Ok(step) => step,
                Err(error) => {
                    assert_eq!(reader.next(b"more"), Err(error.clone()), "it stays failed");
                    assert_eq!(reader.end(), Err(error.clone()), "it stays failed");
                    out.end = Err(error);
                    return out;
                }
            };
            chunk = &chunk[used..];
            match event {
                Event::NeedInput => {
                    assert!(chunk.is_empty());
                    break;
                }
                Event::Header => {
                    let info = reader.header().unwrap().to_info();
                    // Frames of many megabytes (from arbitrary headers) are passed over.
                    let info = info.ok().filter(|i| i.layout.size() < 1 << 24);
                    layout = info
                        .map(|i| Layout::aligned(i.format(), i.width(), i.height(), 16).unwrap());
                }
                Event::FrameStart { frame, offset } => {
                    assert_eq!(frame as usize, out.offsets.len());
                    out.offsets.push(offset);
                    data = vec![0xEE; layout.map_or(0, |l| l.size())];
                }
                Event::Payload { remaining } => {
                    assert!(remaining > 0);
                    if chunk.is_empty() {
                        break;
                    }
                    let filled = match &layout {
                        Some(layout) => {
                            let mut frame = FrameMut::new(layout, &mut data).unwrap();
                            reader.fill(chunk, &mut frame).unwrap()
                        }
                        None => reader.skip(chunk).unwrap(),
                    };
                    assert!(filled.used > 0 && filled.used as u64 <= remaining);
                    chunk = &chunk[filled.used..];
                    if filled.complete {
                        out.frames.push(match &layout {
                            Some(layout) => packed(layout, &data),
                            None => Vec::new(),
                        });
                    }
                }
            }
        }
    }
    out.end = reader.end();
    assert_eq!(reader.frames() as usize, out.frames.len());
    out
}

/// The visible bytes, after a check that padding is untouched.
pub fn packed(layout: &Layout, data: &[u8]) -> Vec<u8> {
    for plane in layout.planes() {
        for y in 0..plane.rows() {
            let row = plane.offset() + y * plane.stride();
            let padding = &data[row + plane.row_bytes()..row + plane.stride()];
            assert!(padding.iter().all(|b| *b == 0xEE), "padding written");
        }
    }
    payload(&Frame::new(layout, data).unwrap())
        .flatten()
        .copied()
        .collect()
}

/// A file of `frames` frames of `bytes` bytes each, filled with a pattern without `F`.
pub fn file(header: &str, frames: usize, bytes: usize) -> Vec<u8> {
    let mut file = header.as_bytes().to_vec();
    for n in 0..frames {
        file.extend_from_slice(b"FRAME\n");
        file.extend((0..bytes).map(|i| 0x80 | ((i * 7 + n * 31) % 101) as u8));
    }
    file
}
