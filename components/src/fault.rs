//! Why an element failed: a domain, a code, and a typed detail that is rendered only when shown.

use std::sync::Arc;

/// What kind of thing went wrong (mpipe: failed, caps, buffer-pool, flow, resource).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// The engine or the element's own logic.
    Core,
    /// A file, device or other thing outside.
    Resource,
    /// The content of the stream.
    Stream,
    /// Agreement on caps.
    Caps,
    /// Agreement on, or use of, buffer pools.
    Pool,
    /// Passing buffers between elements.
    Flow,
}

/// Why, within a [`Domain`]. Stable names: they stand in reports and scenario files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Nothing more precise is known.
    Failed,
    /// The element panicked; it was caught.
    Panic,
    /// A property that must be set is not, or contradicts another.
    Settings,
    /// A stated limit would be passed.
    Limit,
    /// The thing named does not exist.
    NotFound,
    /// It exists and is something else, such as a folder.
    WrongKind,
    /// It cannot be opened.
    Open,
    /// Reading failed.
    Read,
    /// Writing failed.
    Write,
    /// Nobody reads any more what is written.
    Closed,
    /// No byte came at all.
    Empty,
    /// The stream ends inside something.
    Truncated,
    /// The stream breaks its format's rules.
    Damaged,
    /// The stream is right, and of a kind that is not supported.
    Unsupported,
    /// A buffer has no time where one is needed.
    NoTimestamp,
    /// A buffer's time is none that may come there.
    BadTimestamp,
    /// No caps satisfy all.
    NotNegotiated,
    /// An element refused what was agreed.
    Refused,
    /// A pad that must be linked is not.
    NotLinked,
    /// Links form a loop.
    Loop,
    /// Nobody can move and nothing is awaited.
    Stalled,
    /// Fewer were granted than were asked for.
    Fewer,
    /// A buffer did not come back for a long time.
    NotReturned,
    /// It came, or would come, after its time.
    Late,
    /// Something that always holds does not.
    Invariant,
    /// The process that did the work ended.
    Crashed,
    /// It did not answer within the stated time.
    Hung,
    /// What came from it is no answer.
    Garbled,
}

/// Stable names of a plain enumeration.
macro_rules! names {
    ($type:ty: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// Its stable name in reports and files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The value of a stable name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// All values, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
        }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use names;

names!(Domain:
    Core = "core", Resource = "resource", Stream = "stream", Caps = "caps", Pool = "pool",
    Flow = "flow",
);
names!(Code:
    Failed = "failed", Panic = "panic", Settings = "settings", Limit = "limit",
    NotFound = "not-found", WrongKind = "wrong-kind", Open = "open", Read = "read",
    Write = "write", Closed = "closed", Empty = "empty", Truncated = "truncated",
    Damaged = "damaged", Unsupported = "unsupported", NoTimestamp = "no-timestamp", BadTimestamp = "bad-timestamp",
    NotNegotiated = "not-negotiated", Refused = "refused", NotLinked = "not-linked",
    Loop = "loop", Stalled = "stalled", Fewer = "fewer", NotReturned = "not-returned",
    Late = "late", Invariant = "invariant", Crashed = "crashed", Hung = "hung",
    Garbled = "garbled",
);

/// An element's failure. The detail says the rest, and is rendered where the failure is shown.
#[derive(Clone, Debug)]
pub struct ElementError {
    /// What kind of thing went wrong.
    pub domain: Domain,
    /// Why.
    pub code: Code,
    /// Values, allowed range, place.
    pub detail: Arc<dyn std::error::Error + Send + Sync>,
}

impl ElementError {
    /// A failure with its detail.
    pub fn new(
        domain: Domain,
        code: Code,
        detail: impl std::error::Error + Send + Sync + 'static,
    ) -> ElementError {
        ElementError {
            domain,
            code,
            detail: Arc::new(detail),
        }
    }
}

impl core::fmt::Display for ElementError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({}/{})", self.detail, self.domain, self.code)
    }
}

impl std::error::Error for ElementError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_round_trip() {
        for code in Code::ALL {
            assert_eq!(Code::from_name(code.name()), Some(*code));
        }
        for domain in Domain::ALL {
            assert_eq!(Domain::from_name(domain.name()), Some(*domain));
        }
        assert_eq!(Code::from_name("nothing"), None);
    }
}
