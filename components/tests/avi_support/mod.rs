//! Makes AVI files, right ones and wrong ones.
#![allow(dead_code, reason = "each test file uses its part")]

/// A chunk: id, size, body, pad byte.
pub fn chunk(id: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut out = id.to_vec();
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    out.extend(vec![0; body.len() % 2]);
    out
}

/// A list, or a RIFF.
pub fn list(id: &[u8; 4], kind: &[u8; 4], items: &[Vec<u8>]) -> Vec<u8> {
    chunk(id, &[&kind[..], &items.concat()].concat())
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// `avih` of 40 ms a frame.
pub fn avih() -> Vec<u8> {
    chunk(
        b"avih",
        &numbers(&[40_000, 0, 0, 0x10, 9, 0, 2, 0, 16, 16, 0, 0, 0, 0]),
    )
}

/// `strh` with rate, scale, start, sample size.
pub fn strh(kind: &[u8; 4], rate: u32, scale: u32, start: u32, sample: u32) -> Vec<u8> {
    let tail = numbers(&[0, 0, 0, scale, rate, start, 99, 0, 0, sample, 0, 0]);
    chunk(b"strh", &[&kind[..], b"MJPG", &tail].concat())
}

/// `strf` of pictures, 16 by 16, of a codec.
pub fn picture(codec: &[u8; 4]) -> Vec<u8> {
    let head = numbers(&[40, 16, 16, 0x18_0001]);
    let body = [&head[..], codec, &numbers(&[0; 5])].concat();
    chunk(b"strf", &body)
}

/// `strf` of 16-bit sound of one channel.
pub fn sound() -> Vec<u8> {
    let body = numbers(&[0x1_0001, 8000, 16_000, 0x10_0002]);
    chunk(b"strf", &body)
}

/// A `strl`.
pub fn strl(items: &[Vec<u8>]) -> Vec<u8> {
    list(b"LIST", b"strl", items)
}

/// Video (a codec with key frames) at 25, sound of 2 bytes a sample at 8000.
pub fn two_streams() -> Vec<Vec<u8>> {
    vec![
        strl(&[strh(b"vids", 25, 1, 0, 0), picture(b"XVID")]),
        strl(&[
            strh(b"auds", 8000, 1, 5, 2),
            sound(),
            chunk(b"strn", b"left\0"),
        ]),
    ]
}

/// `hdrl` of these streams.
pub fn hdrl(streams: &[Vec<u8>]) -> Vec<u8> {
    list(b"LIST", b"hdrl", &[&[avih()][..], streams].concat())
}

/// A file of a header, chunks in `movi`, chunks behind it.
pub fn file(streams: &[Vec<u8>], movie: &[Vec<u8>], behind: &[Vec<u8>]) -> Vec<u8> {
    let items = [&[hdrl(streams), list(b"LIST", b"movi", movie)][..], behind];
    list(b"RIFF", b"AVI ", &items.concat())
}

/// First byte of the `movi` list.
pub fn movie_at(file: &[u8]) -> usize {
    file.windows(4).position(|w| w == b"movi").unwrap() - 8
}

/// `idx1` with these entries: id, key, offset, size.
pub fn idx1(entries: &[([u8; 4], bool, u32, u32)]) -> Vec<u8> {
    let entry = |(id, key, offset, size): &([u8; 4], bool, u32, u32)| {
        let flags = if *key { 0x10u32 } else { 0 };
        [&id[..], &numbers(&[flags, *offset, *size])].concat()
    };
    let body: Vec<u8> = entries.iter().flat_map(entry).collect();
    chunk(b"idx1", &body)
}

/// The body of an OpenDML index of entries of `longs` numbers: kind 0 is one of indexes, 1 of frames.
pub fn indx(longs: u16, kind: u8, id: &[u8; 4], base: u64, entries: &[Vec<u32>]) -> Vec<u8> {
    let mut out = longs.to_le_bytes().to_vec();
    out.extend([0, kind]);
    out.extend((entries.len() as u32).to_le_bytes());
    out.extend(id);
    out.extend(base.to_le_bytes());
    out.extend([0; 4]);
    out.extend(entries.iter().flat_map(|e| numbers(e)));
    out
}
