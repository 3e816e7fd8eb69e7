//! How the fields of interlaced video lie in frames, with GStreamer's names
//! (`interlace-mode`, `field-order`). Enumerations only.

/// How frames and fields relate (`interlace-mode` in caps).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InterlaceMode {
    /// All rows are of one instant.
    #[default]
    Progressive,
    /// Two fields in each frame, rows alternating.
    Interleaved,
    /// Interleaved and progressive frames, told apart by buffer flags.
    Mixed,
    /// Fields stored apart; two of them make a frame.
    Fields,
    /// One field per buffer, alternating parity.
    Alternate,
}

impl InterlaceMode {
    /// All modes, in GStreamer's numbering.
    pub const ALL: [InterlaceMode; 5] = [
        InterlaceMode::Progressive,
        InterlaceMode::Interleaved,
        InterlaceMode::Mixed,
        InterlaceMode::Fields,
        InterlaceMode::Alternate,
    ];

    /// GStreamer's name.
    pub const fn name(self) -> &'static str {
        match self {
            InterlaceMode::Progressive => "progressive",
            InterlaceMode::Interleaved => "interleaved",
            InterlaceMode::Mixed => "mixed",
            InterlaceMode::Fields => "fields",
            InterlaceMode::Alternate => "alternate",
        }
    }

    /// The mode of that name (exact case).
    pub fn from_name(name: &str) -> Option<InterlaceMode> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// Which field of an interlaced frame comes first (`field-order` in caps).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldOrder {
    /// Not stated; buffer flags tell.
    #[default]
    Unknown,
    /// The top field.
    TopFieldFirst,
    /// The bottom field.
    BottomFieldFirst,
}

impl FieldOrder {
    /// All orders, in GStreamer's numbering.
    pub const ALL: [FieldOrder; 3] = [
        FieldOrder::Unknown,
        FieldOrder::TopFieldFirst,
        FieldOrder::BottomFieldFirst,
    ];

    /// GStreamer's name.
    pub const fn name(self) -> &'static str {
        match self {
            FieldOrder::Unknown => "unknown",
            FieldOrder::TopFieldFirst => "top-field-first",
            FieldOrder::BottomFieldFirst => "bottom-field-first",
        }
    }

    /// The order of that name (exact case).
    pub fn from_name(name: &str) -> Option<FieldOrder> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for m in InterlaceMode::ALL {
            assert_eq!(InterlaceMode::from_name(m.name()), Some(m));
        }
        for m in FieldOrder::ALL {
            assert_eq!(FieldOrder::from_name(m.name()), Some(m));
        }
        assert_eq!(InterlaceMode::from_name("interlaced"), None);
        assert_eq!(FieldOrder::from_name("tff"), None);
    }
}
