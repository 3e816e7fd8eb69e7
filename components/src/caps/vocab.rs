//! Codes for known words: tables made at compile time, looked up in constant time.
//! Reads [`super::words`] and the limits only.

use super::words::{AUDIO_FORMATS, FIELDS, OTHER_WORDS, VIDEO_FORMATS};

/// Words of a page, and so members that a bit set of words can have.
pub(super) const PAGE: usize = super::limits::MAX_LIST;
/// No such word.
const NONE: u16 = u16::MAX;
const FIELD_SLOTS: usize = 256;
const WORD_SLOTS: usize = 1024;

const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut n, mut i) = (1, 0);
    while i < bytes.len() {
        if bytes[i] == b' ' {
            n += 1;
        }
        i += 1;
    }
    n
}

const fn split<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut out = [""; N];
    let (mut rest, mut n) = (text, 0);
    while n < N {
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b' ' {
            end += 1;
        }
        let (word, tail) = rest.split_at(end);
        out[n] = word;
        rest = if tail.is_empty() {
            tail
        } else {
            tail.split_at(1).1
        };
        n += 1;
    }
    out
}

/// How many names of fields are known.
pub(super) const FIELD_COUNT: usize = count(FIELDS);
const PAGE_COUNTS: [usize; 3] = [
    count(VIDEO_FORMATS),
    count(AUDIO_FORMATS),
    count(OTHER_WORDS),
];

static FIELD_NAMES: [&str; FIELD_COUNT] = split(FIELDS);
static VIDEO: [&str; PAGE_COUNTS[0]] = split(VIDEO_FORMATS);
static AUDIO: [&str; PAGE_COUNTS[1]] = split(AUDIO_FORMATS);
static OTHER: [&str; PAGE_COUNTS[2]] = split(OTHER_WORDS);

const _: () = assert!(FIELD_COUNT < 255);
const _: () = assert!(PAGE_COUNTS[0] <= PAGE && PAGE_COUNTS[1] <= PAGE && PAGE_COUNTS[2] <= PAGE);

const fn hash(bytes: &[u8]) -> usize {
    let (mut h, mut i) = (0x811c_9dc5_u32, 0);
    while i < bytes.len() {
        h = (h ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    (h ^ (h >> 15)) as usize
}

/// Byte equality that can run in a constant.
pub(super) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn enter<const S: usize>(mut table: [u16; S], words: &[&str], page: u16) -> [u16; S] {
    let mut i = 0;
    while i < words.len() {
        let mut at = hash(words[i].as_bytes()) % S;
        while table[at] != NONE {
            at = (at + 1) % S;
        }
        table[at] = (page << 8) | i as u16;
        i += 1;
    }
    table
}

static FIELD_TABLE: [u16; FIELD_SLOTS] =
    enter([NONE; FIELD_SLOTS], &split::<FIELD_COUNT>(FIELDS), 0);
static WORD_TABLE: [u16; WORD_SLOTS] = {
    let table = enter(
        [NONE; WORD_SLOTS],
        &split::<{ PAGE_COUNTS[0] }>(VIDEO_FORMATS),
        0,
    );
    let table = enter(table, &split::<{ PAGE_COUNTS[1] }>(AUDIO_FORMATS), 1);
    enter(table, &split::<{ PAGE_COUNTS[2] }>(OTHER_WORDS), 2)
};

/// The code of a known field name.
pub(super) const fn field_code(name: &str) -> Option<u8> {
    let mut at = hash(name.as_bytes()) % FIELD_SLOTS;
    while FIELD_TABLE[at] != NONE {
        let code = FIELD_TABLE[at] as usize;
        if same(FIELD_NAMES[code].as_bytes(), name.as_bytes()) {
            return Some(code as u8);
        }
        at = (at + 1) % FIELD_SLOTS;
    }
    None
}

/// The name with that code; empty for a code that [`field_code`] never gives.
pub(super) fn field_name(code: u8) -> &'static str {
    FIELD_NAMES.get(usize::from(code)).copied().unwrap_or("")
}

const fn in_page(page: u8) -> &'static [&'static str] {
    match page {
        0 => &VIDEO,
        1 => &AUDIO,
        _ => &OTHER,
    }
}

/// The code of a known word: its page in the high byte, its place there in the low one.
pub(super) const fn word_code(word: &str) -> Option<u16> {
    let mut at = hash(word.as_bytes()) % WORD_SLOTS;
    while WORD_TABLE[at] != NONE {
        let code = WORD_TABLE[at];
        let text = in_page((code >> 8) as u8)[(code & 0xff) as usize];
        if same(text.as_bytes(), word.as_bytes()) {
            return Some(code);
        }
        at = (at + 1) % WORD_SLOTS;
    }
    None
}

/// The word with that code; empty for a code that [`word_code`] never gives.
pub(super) fn word_text(code: u16) -> &'static str {
    in_page((code >> 8) as u8)
        .get(usize::from(code & 0xff))
        .copied()
        .unwrap_or("")
}

/// The raw video formats known by name, best quality first as GStreamer 1.22 lists them; the
/// last are not in its list of all raw formats (`ENCODED`, and `DMA_DRM` of later versions).
pub fn video_formats() -> &'static [&'static str] {
    &VIDEO
}

/// The raw audio formats known by name, best quality first as GStreamer 1.22 lists them.
pub fn audio_formats() -> &'static [&'static str] {
    &AUDIO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_own_code() {
        for (page, words) in [&VIDEO[..], &AUDIO, &OTHER].into_iter().enumerate() {
            for (i, word) in words.iter().enumerate() {
                let code = (page << 8 | i) as u16;
                assert_eq!(word_code(word), Some(code), "{word} is in two tables");
                assert_eq!(word_text(code), *word);
            }
        }
        for (i, name) in FIELD_NAMES.iter().enumerate() {
            assert_eq!(field_code(name), Some(i as u8));
            assert_eq!(field_name(i as u8), *name);
        }
        assert_eq!(word_code("no such word"), None);
        assert_eq!(field_code(""), None);
        assert_eq!(VIDEO.len(), 113);
        assert_eq!(AUDIO.len(), 30);
    }
}
