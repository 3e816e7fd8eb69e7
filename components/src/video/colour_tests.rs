//! Colour texts and chroma sitings against what GStreamer 1.22.0 reads and writes.

use super::*;

/// What GStreamer 1.22.0 reads and writes back.
const TEXTS: &[(&str, Option<&str>)] = &[
    ("bt601", Some("bt601")),
    ("bt709", Some("bt709")),
    ("smpte240m", Some("smpte240m")),
    ("sRGB", Some("sRGB")),
    ("bt2020", Some("bt2020")),
    ("bt2020-10", Some("bt2020-10")),
    ("bt2100-pq", Some("bt2100-pq")),
    ("bt2100-hlg", Some("bt2100-hlg")),
    ("2:3:5:1", Some("bt709")),
    ("1:4:0:1", Some("1:4:0:1")),
    ("0:0:0:0", None),
    ("1:3:5:1", Some("1:3:5:1")),
    ("2:4:16:4", Some("bt601")),
    ("2:4:5:4", Some("2:4:5:4")),
    ("1:1:7:1", Some("sRGB")),
    ("2:0:0:0", Some("2:0:0:0")),
    ("02:3:5:1", Some("bt709")),
    ("2:6:13:7", Some("bt2020-10")),
    ("2:6:16:7", Some("2:6:16:7")),
    ("2:6:14:7", Some("bt2100-pq")),
    ("2:6:15:7", Some("bt2100-hlg")),
    ("2:5:6:5", Some("smpte240m")),
    ("0:3:0:0", Some("0:3:0:0")),
    ("0:0:0:1", Some("0:0:0:1")),
];

#[test]
fn texts_round_trip_as_in_gstreamer() {
    for &(text, written) in TEXTS {
        let c = Colorimetry::parse(text).unwrap();
        assert_eq!(c.name().as_deref(), written, "{text}");
        assert_eq!(Colorimetry::parse(&c.to_string()), Ok(c));
    }
}

#[test]
fn every_combination_round_trips() {
    for range in Range::ALL {
        for matrix in Matrix::ALL {
            for transfer in Transfer::ALL {
                for primaries in Primaries::ALL {
                    let c = known(range, matrix, transfer, primaries);
                    assert_eq!(Colorimetry::parse(&c.to_string()), Ok(c));
                }
            }
        }
    }
}

#[test]
fn bad_texts_are_refused_with_what_is_allowed() {
    for text in [
        "",
        "srgb",
        "2:3:5",
        "2:3:5:1:9",
        " 2:3:5:1",
        "2:3:5:1x",
        "2:+3:5:1",
    ] {
        let err = Colorimetry::parse(text).unwrap_err();
        assert_eq!(err, ColourError::Colorimetry { text: text.into() });
    }
    let err = Colorimetry::parse("2:7:5:1").unwrap_err();
    assert_eq!(
        err.to_string(),
        "colorimetry \"2:7:5:1\": matrix must be 0 to 6"
    );
    for text in ["3:0:0:0", "2:3:17:1", "2:3:5:13", "4294967297:3:5:1"] {
        assert!(matches!(
            Colorimetry::parse(text),
            Err(ColourError::Number { .. })
        ));
    }
}

#[test]
fn sites_round_trip_as_in_gstreamer() {
    for site in ChromaSite::ALL {
        assert_eq!(ChromaSite::parse(site.name()), Ok(site));
    }
    for (text, name) in [
        ("none", "jpeg"),
        ("h-cosited", "mpeg2"),
        ("h-cosited+v-cosited", "cosited"),
        ("alt-line+v-cosited+h-cosited", "dv"),
        ("alt-line+v-cosited", "v-cosited+alt-line"),
    ] {
        assert_eq!(ChromaSite::parse(text).unwrap().name(), name);
    }
    for text in ["", "unknown", "xx", "none+alt-line", "jpeg+alt-line"] {
        assert!(ChromaSite::parse(text).is_err(), "{text}");
    }
    assert!(ChromaSite::Mpeg2.h_cosited() && !ChromaSite::Mpeg2.v_cosited());
    assert!(ChromaSite::Dv.alt_line() && !ChromaSite::Cosited.alt_line());
}
