//! Numbers, texts and media facts as bytes of a control message. Both ends take the other for hostile:
//! what is read has bounds, and whatever does not fit is an error. Pure; it touches nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;
use tickpipe_components::buffer::{BufferFlags, BufferMeta, UntimedBy};
use tickpipe_components::event::{Custom, Event, Gap, Quality, QualityKind};
use tickpipe_components::id::ElementId;
use tickpipe_components::time::{Rate, Segment, TimeBase};
use tickpipe_components::video::{Layout, VideoFormat};

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;
/// The version of the messages. Both ends have the same, or do not talk.
pub const VERSION: u32 = 2;

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// It ends inside something.
    #[error("the message ends at byte {at}, where {what} was to come")]
    Short {
        /// Where.
        at: usize,
        /// What was to come.
        what: &'static str,
    },
    /// Something stands behind its end.
    #[error("{0} bytes stand behind the message's end")]
    Rest(usize),
    /// A value that is none of those that may stand there.
    #[error("{what} {value} at byte {at} is none")]
    Value {
        /// What it should be.
        what: &'static str,
        /// What it is.
        value: u64,
        /// Where.
        at: usize,
    },
}

/// What remains of a message.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Over a message.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or(WireError::Short { at: self.at, what })?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    /// That a value is none.
    pub fn bad(&self, what: &'static str, value: u64) -> WireError {
        let at = self.at;
        WireError::Value { what, value, at }
    }

    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// That all was read.
    pub fn end(self) -> Result<(), WireError> {
        match self.left() {
            0 => Ok(()),
            rest => Err(WireError::Rest(rest)),
        }
    }
}

/// What can stand in a message.
pub trait Wire: Sized {
    /// Writes it.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads it.
    fn get(r: &mut Reader<'_>) -> Result<Self, WireError>;
}

macro_rules! numbers {
    ($($type:ident),+) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
                Ok($type::from_le_bytes(r.array(stringify!($type))?))
            }
        }
    )+};
}

numbers!(u8, u32, u64, i32, i64);

/// A structure with public fields, one after the other.
macro_rules! fields {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::elements::remote::wire::Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::elements::remote::wire::Wire::put(&self.$field, out);)+
            }
            fn get(
                r: &mut $crate::elements::remote::wire::Reader<'_>,
            ) -> Result<Self, $crate::elements::remote::wire::WireError> {
                Ok(Self {
                    $($field: $crate::elements::remote::wire::Wire::get(r)?),+
                })
            }
        }
    };
}

pub(super) use fields;

/// An enumeration of at most one value each.
macro_rules! kinds {
    ($type:ty, $what:literal { $($number:literal => $variant:ident $(($inner:ident))?),+ $(,)? }) => {
        impl $crate::elements::remote::wire::Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($inner))? => {
                        out.push($number);
                        $($crate::elements::remote::wire::Wire::put($inner, out);)?
                    })+
                }
            }
            fn get(
                r: &mut $crate::elements::remote::wire::Reader<'_>,
            ) -> Result<Self, $crate::elements::remote::wire::WireError> {
                Ok(match <u8 as $crate::elements::remote::wire::Wire>::get(r)? {
                    $($number => Self::$variant
                        $(({ let $inner = $crate::elements::remote::wire::Wire::get(r)?; $inner }))?,)+
                    other => return Err(r.bad($what, other.into())),
                })
            }
        }
    };
}

pub(super) use kinds;

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        match u8::get(r)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(r.bad("truth value", other.into())),
        }
    }
}

impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let value = u64::get(r)?;
        // A quarter of what can be addressed, so that sums of a few do not overflow.
        let fits = usize::try_from(value).ok().filter(|v| *v <= usize::MAX / 4);
        fits.ok_or_else(|| r.bad("size", value))
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let length = u32::get(r)?;
        let bytes = r.take(length as usize, "text")?;
        let text = core::str::from_utf8(bytes).map_err(|_| r.bad("text of length", length.into()));
        text.map(str::to_owned)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        bool::get(r)?.then(|| T::get(r)).transpose()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let count = u32::get(r)?;
        // Each has a byte at least, so what is claimed cannot take more memory than the message.
        if count as usize > r.left() {
            return Err(r.bad("number of values", count.into()));
        }
        (0..count).map(|_| T::get(r)).collect()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok((A::get(r)?, B::get(r)?))
    }
}

impl<A: Wire, B: Wire, C: Wire> Wire for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok((A::get(r)?, B::get(r)?, C::get(r)?))
    }
}

impl Wire for BTreeMap<String, String> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for (name, value) in self {
            name.put(out);
            value.put(out);
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Vec::<(String, String)>::get(r)?.into_iter().collect())
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        T::get(r).map(Arc::new)
    }
}

impl Wire for TimeBase {
    fn put(&self, out: &mut Vec<u8>) {
        (self.num(), self.den()).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let (num, den) = <(u32, u32)>::get(r)?;
        TimeBase::new(num, den).ok_or_else(|| r.bad("time base of denominator", den.into()))
    }
}

impl Wire for Rate {
    fn put(&self, out: &mut Vec<u8>) {
        (self.num(), self.den()).put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let (num, den) = <(i32, i32)>::get(r)?;
        Rate::new(num, den).ok_or_else(|| r.bad("rate of denominator", den as u64))
    }
}

impl Wire for BufferFlags {
    fn put(&self, out: &mut Vec<u8>) {
        self.bits().put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let bits = u32::get(r)?;
        BufferFlags::from_bits(bits).ok_or_else(|| r.bad("buffer flags", bits.into()))
    }
}

impl Wire for UntimedBy {
    fn put(&self, out: &mut Vec<u8>) {
        self.element().0.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let element = u32::get(r)?;
        match element {
            u32::MAX => Err(r.bad("element", element.into())),
            element => Ok(UntimedBy::new(ElementId(element))),
        }
    }
}

fields!(BufferMeta {
    pts,
    dts,
    duration,
    time_base,
    index,
    len,
    flags,
    untimed_by
});
fields!(Segment {
    start,
    stop,
    rate,
    time,
    base,
    time_base
});
fields!(Gap {
    start,
    duration,
    time_base
});
fields!(Custom { name, fields });
kinds!(QualityKind, "quality" { 0 => TooLate, 1 => Early });
fields!(Quality {
    kind,
    proportion,
    jitter,
    timestamp
});
kinds!(Event, "event" {
    0 => Segment(e), 1 => Tag(e), 2 => Gap(e), 3 => Custom(e), 4 => Quality(e),
});

impl Wire for Layout {
    fn put(&self, out: &mut Vec<u8>) {
        self.format().name().to_owned().put(out);
        (self.width(), self.height(), self.size()).put(out);
        let planes: Vec<(usize, usize)> = self
            .planes()
            .iter()
            .map(|p| (p.offset(), p.stride()))
            .collect();
        planes.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let format = VideoFormat::from_name(&String::get(r)?);
        let format = format.ok_or_else(|| r.bad("video format", 0))?;
        let (width, height, size) = <(u32, u32, usize)>::get(r)?;
        let planes = Vec::<(usize, usize)>::get(r)?;
        let layout = Layout::custom(format, width, height, &planes, size);
        layout.map_err(|_| r.bad("layout of size", size as u64))
    }
}
