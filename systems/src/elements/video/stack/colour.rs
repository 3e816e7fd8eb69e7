//! A colour for pixels of which no picture says anything.
//!
//! FFmpeg's drawing utilities: RGB is turned to limited-range BT.601 YUV with coefficients of 10 bits.

use core::fmt;
use tickpipe_components::property::FormError;
use tickpipe_components::video::{Family, FrameMut};

/// What is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Red, green, blue, alpha; `None` is black.
    rgba: Option<[u8; 4]>,
}

/// Names, as in CSS 1 and FFmpeg.
const NAMES: &[(&str, u32)] = &[
    ("aqua", 0x00ffff),
    ("black", 0x000000),
    ("blue", 0x0000ff),
    ("cyan", 0x00ffff),
    ("fuchsia", 0xff00ff),
    ("gray", 0x808080),
    ("green", 0x008000),
    ("lime", 0x00ff00),
    ("magenta", 0xff00ff),
    ("maroon", 0x800000),
    ("navy", 0x000080),
    ("olive", 0x808000),
    ("orange", 0xffa500),
    ("purple", 0x800080),
    ("red", 0xff0000),
    ("silver", 0xc0c0c0),
    ("teal", 0x008080),
    ("white", 0xffffff),
    ("yellow", 0xffff00),
];

impl Fill {
    /// Reads a name, `0xRRGGBB[AA]`, `#RRGGBB[AA]`, `RRGGBB[AA]` or `none`.
    ///
    /// # Errors
    /// What else it is.
    pub fn parse(text: &str) -> Result<Fill, FormError> {
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(Fill::default());
        }
        let named = NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        if let Some((_, rgb)) = named {
            let [_, r, g, b] = rgb.to_be_bytes();
            return Ok(Fill {
                rgba: Some([r, g, b, 255]),
            });
        }
        let digits = text
            .strip_prefix("0x")
            .or(text.strip_prefix('#'))
            .unwrap_or(text);
        let all = digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| all);
        let rgba = match (digits.len(), number) {
            (6, Some(n)) => Some((n << 8) | 255),
            (8, Some(n)) => Some(n),
            _ => None,
        };
        rgba.map(|n| Fill {
            rgba: Some(n.to_be_bytes()),
        })
        .ok_or_else(|| FormError {
            offset: 0,
            problem: format!(
                "{text:?}: expected the name of a colour, 0xRRGGBB, 0xRRGGBBAA or none"
            ),
        })
    }

    /// Paints a whole picture.
    pub fn paint(self, picture: &mut FrameMut<'_>) {
        let info = picture.layout().format().info();
        let [r, g, b, a] = self.rgba.unwrap_or([0, 0, 0, 255]);
        let [y, u, v] = limited(r, g, b);
        let values = match info.family {
            Family::Yuv => [y, u, v, a],
            Family::Gray => [y, 0, 0, 0],
            Family::Rgb => [r, g, b, a],
        };
        for (index, component) in info.components.iter().enumerate() {
            let Some(mut plane) = picture.plane_mut(component.plane.into()) else {
                continue;
            };
            let value = u16::from(values.get(index).copied().unwrap_or_default());
            let value = value << (info.bits - 8);
            let (offset, stride) = (component.offset.into(), component.pixel_stride.into());
            for row in plane.rows_mut() {
                let rest = row.get_mut(offset..).unwrap_or_default();
                for sample in rest.chunks_mut(stride) {
                    match sample {
                        [low, high, ..] if info.sample_bytes == 2 => {
                            [*low, *high] = value.to_le_bytes();
                        }
                        [first, ..] => *first = value as u8,
                        [] => {}
                    }
                }
            }
        }
    }
}

/// BT.601 in limited range, coefficients of 10 bits.
fn limited(r: u8, g: u8, b: u8) -> [u8; 3] {
    let [r, g, b] = [r, g, b].map(i64::from);
    // round(c * range / 255 * 1024) for luma of range 219 and chroma of 224.
    let y = (263 * r + 516 * g + 100 * b + 512 + (16 << 10)) >> 10;
    let u = (-152 * r - 298 * g + 450 * b + 512 - 1 + (128 << 10)) >> 10;
    let v = (450 * r - 377 * g - 73 * b + 512 - 1 + (128 << 10)) >> 10;
    [y, u, v].map(|c| c.clamp(0, 255) as u8)
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rgba {
            None => f.write_str("none"),
            Some([r, g, b, 255]) => write!(f, "0x{r:02x}{g:02x}{b:02x}"),
            Some([r, g, b, a]) => write!(f, "0x{r:02x}{g:02x}{b:02x}{a:02x}"),
        }
    }
}
