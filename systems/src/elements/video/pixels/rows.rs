//! Rows in and out: samples of one picture row to 16-bit rows and back, for each
//! way in which formats store them. Kernels only; no rule of colour.
//!
//! A "raw row" holds the samples as they are (0 to 255, or 0 to 1023 in 10 bit) in
//! `i16`. Where an input is longer than the output, the rest is left out.

use super::cpu::kernels;

kernels! {
    /// One byte per sample.
    fn load_bytes(src: &[u8], out: &mut [i16]) {
        for (o, &s) in out.iter_mut().zip(src) {
            *o = i16::from(s);
        }
    }

    /// Every second byte, from byte `shift / 8` (0 or 8).
    fn load_step2(src: &[u8], shift: u32, out: &mut [i16]) {
        for (o, s) in out.iter_mut().zip(src.as_chunks::<2>().0) {
            *o = ((u16::from_le_bytes(*s) >> shift) & 0xff) as i16;
        }
    }

    /// Every fourth byte, from byte `shift / 8` (0, 8, 16 or 24).
    fn load_step4(src: &[u8], shift: u32, out: &mut [i16]) {
        for (o, s) in out.iter_mut().zip(src.as_chunks::<4>().0) {
            *o = ((u32::from_le_bytes(*s) >> shift) & 0xff) as i16;
        }
    }

    /// Pairs of bytes to two rows.
    fn load_pairs(src: &[u8], first: &mut [i16], second: &mut [i16]) {
        for ((a, b), s) in first.iter_mut().zip(second).zip(src.as_chunks::<2>().0) {
            let [x, y] = *s;
            *a = i16::from(x);
            *b = i16::from(y);
        }
    }

    /// 10 bits in little-endian words; the upper six bits are not looked at.
    fn load_le10(src: &[u8], out: &mut [i16]) {
        for (o, s) in out.iter_mut().zip(src.as_chunks::<2>().0) {
            *o = (u16::from_le_bytes(*s) & 0x3ff) as i16;
        }
    }

    /// Groups of three bytes to three rows.
    fn load_triples(src: &[u8], first: &mut [i16], second: &mut [i16], third: &mut [i16]) {
        let groups = src.as_chunks::<3>().0;
        for (((a, b), c), s) in first.iter_mut().zip(second).zip(third).zip(groups) {
            let [x, y, z] = *s;
            *a = i16::from(x);
            *b = i16::from(y);
            *c = i16::from(z);
        }
    }

    /// Three bytes of each group of four, at bit positions `shifts`, to three rows.
    fn load_quads(
        src: &[u8],
        shifts: [u32; 3],
        first: &mut [i16],
        second: &mut [i16],
        third: &mut [i16],
    ) {
        let groups = src.as_chunks::<4>().0;
        let [sa, sb, sc] = shifts;
        for (((a, b), c), s) in first.iter_mut().zip(second).zip(third).zip(groups) {
            let p = u32::from_le_bytes(*s);
            *a = ((p >> sa) & 0xff) as i16;
            *b = ((p >> sb) & 0xff) as i16;
            *c = ((p >> sc) & 0xff) as i16;
        }
    }

    /// One byte per sample; samples are 0 to 255.
    fn store_bytes(src: &[i16], out: &mut [u8]) {
        for (o, &s) in out.iter_mut().zip(src) {
            *o = s as u8;
        }
    }

    /// Two rows to pairs of bytes.
    fn store_pairs(first: &[i16], second: &[i16], out: &mut [u8]) {
        for ((o, &a), &b) in out.as_chunks_mut::<2>().0.iter_mut().zip(first).zip(second) {
            *o = [a as u8, b as u8];
        }
    }

    /// 10 bits in little-endian words.
    fn store_le10(src: &[i16], out: &mut [u8]) {
        for (o, &s) in out.as_chunks_mut::<2>().0.iter_mut().zip(src) {
            *o = s.to_le_bytes();
        }
    }

    /// Groups of three bytes from three rows.
    fn store_triples(first: &[i16], second: &[i16], third: &[i16], out: &mut [u8]) {
        let groups = out.as_chunks_mut::<3>().0;
        for (((o, &a), &b), &c) in groups.iter_mut().zip(first).zip(second).zip(third) {
            *o = [a as u8, b as u8, c as u8];
        }
    }

    /// Groups of four bytes from three rows at bit positions `shifts`, the rest of
    /// the group from `rest`.
    fn store_quads(
        first: &[i16],
        second: &[i16],
        third: &[i16],
        shifts: [u32; 3],
        rest: u32,
        out: &mut [u8],
    ) {
        let groups = out.as_chunks_mut::<4>().0;
        let [sa, sb, sc] = shifts;
        for (((o, &a), &b), &c) in groups.iter_mut().zip(first).zip(second).zip(third) {
            let p = (a as u32) << sa | (b as u32) << sb | (c as u32) << sc;
            *o = (p | rest).to_le_bytes();
        }
    }

    /// Copies the byte at bit position `from` of each group of four of `src` to
    /// position `to` of each group of four of `out`, which holds 0 there.
    fn merge_step4(src: &[u8], from: u32, to: u32, out: &mut [u8]) {
        let groups = out.as_chunks_mut::<4>().0;
        for (o, s) in groups.iter_mut().zip(src.as_chunks::<4>().0) {
            let byte = (u32::from_le_bytes(*s) >> from) & 0xff;
            *o = (u32::from_le_bytes(*o) | byte << to).to_le_bytes();
        }
    }

    /// 4:2:2 groups of four bytes; `luma` is twice as long as the chroma rows.
    /// `luma_first` tells Y U Y V from U Y V Y.
    fn store_422(luma: &[i16], u: &[i16], v: &[i16], luma_first: bool, out: &mut [u8]) {
        let groups = out.as_chunks_mut::<4>().0;
        let pairs = luma.as_chunks::<2>().0;
        let (sy, sc) = if luma_first { (0, 8) } else { (8, 0) };
        for (((o, l), &u), &v) in groups.iter_mut().zip(pairs).zip(u).zip(v) {
            let [y0, y1] = *l;
            let y = (y0 as u32) | (y1 as u32) << 16;
            let c = (u as u32) | (v as u32) << 16;
            *o = (y << sy | c << sc).to_le_bytes();
        }
    }

    /// Pairs of bytes to two rows of bytes.
    fn split_pairs(src: &[u8], first: &mut [u8], second: &mut [u8]) {
        for ((a, b), s) in first.iter_mut().zip(second).zip(src.as_chunks::<2>().0) {
            let [x, y] = *s;
            *a = x;
            *b = y;
        }
    }

    /// Groups of three bytes to three rows of bytes.
    fn split_triples(src: &[u8], first: &mut [u8], second: &mut [u8], third: &mut [u8]) {
        let groups = src.as_chunks::<3>().0;
        for (((a, b), c), s) in first.iter_mut().zip(second).zip(third).zip(groups) {
            [*a, *b, *c] = *s;
        }
    }

    /// Groups of four bytes to four rows of bytes.
    fn split_quads(
        src: &[u8],
        first: &mut [u8],
        second: &mut [u8],
        third: &mut [u8],
        fourth: &mut [u8],
    ) {
        let groups = src.as_chunks::<4>().0;
        let rows = first.iter_mut().zip(second).zip(third).zip(fourth);
        for ((((a, b), c), d), s) in rows.zip(groups) {
            [*a, *b, *c, *d] = *s;
        }
    }

    /// Three rows of bytes to groups of three.
    fn join_triples(first: &[u8], second: &[u8], third: &[u8], out: &mut [u8]) {
        let groups = out.as_chunks_mut::<3>().0.iter_mut();
        for (((o, &a), &b), &c) in groups.zip(first).zip(second).zip(third) {
            *o = [a, b, c];
        }
    }

    /// Four rows of bytes to groups of four.
    fn join_quads(first: &[u8], second: &[u8], third: &[u8], fourth: &[u8], out: &mut [u8]) {
        let groups = out.as_chunks_mut::<4>().0.iter_mut();
        for ((((o, &a), &b), &c), &d) in groups.zip(first).zip(second).zip(third).zip(fourth) {
            *o = [a, b, c, d];
        }
    }

    /// Two rows of bytes to pairs.
    fn join_pairs(first: &[u8], second: &[u8], out: &mut [u8]) {
        for ((o, &a), &b) in out.as_chunks_mut::<2>().0.iter_mut().zip(first).zip(second) {
            *o = [a, b];
        }
    }

    /// Packed 4:2:2 groups to a row of luma (twice as long) and two of chroma.
    fn split_422(src: &[u8], luma_first: bool, luma: &mut [u8], u: &mut [u8], v: &mut [u8]) {
        let (sy, sc) = if luma_first { (0, 8) } else { (8, 0) };
        let pairs = luma.as_chunks_mut::<2>().0.iter_mut();
        for (((l, u), v), s) in pairs.zip(u).zip(v).zip(src.as_chunks::<4>().0) {
            let p = u32::from_le_bytes(*s);
            *l = [(p >> sy) as u8, (p >> (sy + 16)) as u8];
            *u = (p >> sc) as u8;
            *v = (p >> (sc + 16)) as u8;
        }
    }

    /// A row of luma (twice as long) and two of chroma to packed 4:2:2 groups.
    fn join_422(luma: &[u8], u: &[u8], v: &[u8], luma_first: bool, out: &mut [u8]) {
        let (sy, sc) = if luma_first { (0, 8) } else { (8, 0) };
        let groups = out.as_chunks_mut::<4>().0.iter_mut();
        for (((o, l), &u), &v) in groups.zip(luma.as_chunks::<2>().0).zip(u).zip(v) {
            let [y0, y1] = *l;
            let y = u32::from(y0) | u32::from(y1) << 16;
            let c = u32::from(u) | u32::from(v) << 16;
            *o = (y << sy | c << sc).to_le_bytes();
        }
    }

    /// Exchanges the bytes of each pair.
    fn swap_pairs(src: &[u8], out: &mut [u8]) {
        for (o, s) in out.as_chunks_mut::<2>().0.iter_mut().zip(src.as_chunks::<2>().0) {
            let [x, y] = *s;
            *o = [y, x];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::video::pixels::cpu::Cpu;

    #[test]
    fn loads_and_stores_are_inverse_on_every_cpu() {
        let bytes: Vec<u8> = (0..120u32).map(|i| (i * 89 % 251) as u8).collect();
        for cpu in Cpu::all() {
            let (mut a, mut b, mut c) = ([0; 40], [0; 40], [0; 40]);
            let mut out = [0u8; 120];
            load_triples(cpu, &bytes, &mut a, &mut b, &mut c);
            assert_eq!((a[1], b[1], c[1]), (16, 105, 194));
            store_triples(cpu, &a, &b, &c, &mut out);
            assert_eq!(out[..], bytes[..]);

            let (mut a, mut b, mut c) = ([0; 30], [0; 30], [0; 30]);
            load_quads(cpu, &bytes, [24, 8, 0], &mut a, &mut b, &mut c);
            let mut out = [0u8; 120];
            store_quads(cpu, &a, &b, &c, [24, 8, 0], 0, &mut out);
            merge_step4(cpu, &bytes, 16, 16, &mut out);
            assert_eq!(out[..], bytes[..]);

            let (mut a, mut b) = ([0; 60], [0; 60]);
            load_pairs(cpu, &bytes, &mut a, &mut b);
            let (mut even, mut odd) = ([0; 60], [0; 60]);
            load_step2(cpu, &bytes, 0, &mut even);
            load_step2(cpu, &bytes, 8, &mut odd);
            assert_eq!((a, b), (even, odd));
            let mut out = [0u8; 120];
            store_pairs(cpu, &a, &b, &mut out);
            assert_eq!(out[..], bytes[..]);
        }
    }

    #[test]
    fn packed_422_has_both_orders() {
        let cpu = Cpu::baseline();
        let mut out = [0u8; 8];
        let (luma, u, v) = ([1, 2, 3, 4], [10, 11], [20, 21]);
        store_422(cpu, &luma, &u, &v, true, &mut out);
        assert_eq!(out, [1, 10, 2, 20, 3, 11, 4, 21]);
        store_422(cpu, &luma, &u, &v, false, &mut out);
        assert_eq!(out, [10, 1, 20, 2, 11, 3, 21, 4]);
        let mut got = [0; 2];
        load_step4(cpu, &out, 16, &mut got);
        assert_eq!(got, v);
    }

    #[test]
    fn packed_422_comes_apart_and_together() {
        let bytes: Vec<u8> = (0..40).collect();
        for luma_first in [true, false] {
            let (mut luma, mut u, mut v) = ([0; 20], [0; 10], [0; 10]);
            let mut out = [0; 40];
            let cpu = Cpu::detect();
            split_422(cpu, &bytes, luma_first, &mut luma, &mut u, &mut v);
            assert_eq!(luma[1], if luma_first { 2 } else { 3 });
            assert_eq!((u[1], v[1]), if luma_first { (5, 7) } else { (4, 6) });
            join_422(cpu, &luma, &u, &v, luma_first, &mut out);
            assert_eq!(out[..], bytes[..]);
        }
    }

    #[test]
    fn ten_bits_ignore_what_is_above_them() {
        let mut row = [0; 3];
        load_le10(
            Cpu::detect(),
            &[0xff, 0xff, 0x01, 0x04, 0x02, 0x03],
            &mut row,
        );
        assert_eq!(row, [1023, 1, 770]);
        let mut out = [0u8; 6];
        store_le10(Cpu::detect(), &row, &mut out);
        assert_eq!(out, [0xff, 0x03, 0x01, 0x00, 0x02, 0x03]);
    }
}
