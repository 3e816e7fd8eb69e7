//! The launch syntax: a text such as `videotestsrc ! fakesink` becomes a [`Description`], with the
//! place of each part. The rules are those of `gst-launch-1.0` 1.22, tried line by line in it and
//! read from its published grammar (gst/parse). Which elements exist, and what their properties may
//! hold, is not known here.
//!
//! - `lex`, `value`: text to marks and values; `parse`, `resolve`: marks to a description; `describe`:
//!   the description and automatic names; `write`: a description back to text; `error`, `render`: what is said when something is wrong, here and later.
//!
//! The page for users is `docs/launch.md`; how values are read by type is in `crate::gstreamer`.
//!
//! Where the rules are wider than GStreamer's: a value in single quotes loses them (GStreamer keeps
//! them as part of the value), and a quoted value that ends with a backslash ends there. Where they
//! are narrower: names are unique in the whole text (GStreamer: in a bin) and not empty, `@preset`
//! is refused, a URI must be `file:///...` or of `localhost`.

mod describe;
mod error;
mod lex;
mod parse;
mod render;
mod resolve;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub use tickpipe_components::closest::closest;

pub use describe::{
    AutomaticNames, BinSpec, Description, ElementSpec, End, LinkSpec, PadName, PropertySpec, Span,
    Warning, WarningKind, assign_names, automatic_names,
};
pub use error::{LaunchError, LaunchErrorKind};
pub use parse::parse;
pub use render::{render, render_warning};
pub use value::join_arguments;
pub(crate) use value::{is_broken_text, is_text_only};
pub use write::{NotExpressible, to_text};

/// Limit `launch-text`: bytes of a launch text.
pub const MAX_TEXT_BYTES: usize = 1 << 24;
/// Limit `launch-elements`: elements and bins of a launch text, inline caps included.
pub const MAX_ELEMENTS: usize = 1 << 17;
/// Limit `launch-depth`: bins inside each other.
pub const MAX_DEPTH: usize = 64;
