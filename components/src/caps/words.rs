//! The words that caps use most: field names and string values, as plain tables.
//!
//! Facts of GStreamer 1.22 (`gst-inspect-1.0`, its video and audio format lists, and its pages on
//! raw media types), and of Zephyr's mpipe. A word's place in its table is its code, so new words
//! go to the end of their table; nothing outside of this process sees a code. Touches nothing.

/// Names of fields, in the order in which structures keep and print them.
pub(super) const FIELDS: &str = "\
    format width height framerate max-framerate pixel-aspect-ratio interlace-mode \
    field-order colorimetry chroma-site multiview-mode multiview-flags views \
    mastering-display-info content-light-level texture-target rate channels channel-mask \
    layout interleaved stream-format alignment profile level tier parsed framed mpegversion \
    layer systemstream codec_data depth bpp bitrate variant y4mversion chroma-format \
    bit-depth-luma bit-depth-chroma coded-picture-structure media clock-rate encoding-name \
    payload block_align sampling pixel_format sample_rate bit_width frame_interval";

/// Page 0: raw video formats, best quality first as GStreamer lists them.
pub(super) const VIDEO_FORMATS: &str = "\
    ABGR64_LE BGRA64_LE AYUV64 ARGB64_LE ARGB64 RGBA64_LE ABGR64_BE BGRA64_BE ARGB64_BE \
    RGBA64_BE GBRA_12LE GBRA_12BE Y412_LE Y412_BE A444_10LE GBRA_10LE A444_10BE GBRA_10BE \
    A422_10LE A422_10BE A420_10LE A420_10BE RGB10A2_LE BGR10A2_LE Y410 GBRA ABGR VUYA BGRA \
    AYUV ARGB RGBA A420 AV12 Y444_16LE Y444_16BE v216 P016_LE P016_BE Y444_12LE GBR_12LE \
    Y444_12BE GBR_12BE I422_12LE I422_12BE Y212_LE Y212_BE I420_12LE I420_12BE P012_LE \
    P012_BE Y444_10LE GBR_10LE Y444_10BE GBR_10BE r210 I422_10LE I422_10BE NV16_10LE32 Y210 \
    v210 UYVP I420_10LE I420_10BE P010_10LE NV12_10LE32 NV12_10LE40 P010_10BE \
    NV12_10BE_8L128 Y444 RGBP GBR BGRP NV24 xBGR BGRx xRGB RGBx BGR IYU2 v308 RGB Y42B NV61 \
    NV16 VYUY UYVY YVYU YUY2 I420 YV12 NV21 NV12 NV12_8L128 NV12_64Z32 NV12_4L4 NV12_32L32 \
    NV12_16L32S Y41B IYU1 YVU9 YUV9 RGB16 BGR16 RGB15 BGR15 RGB8P GRAY16_LE GRAY16_BE \
    GRAY10_LE32 GRAY8 ENCODED DMA_DRM";

/// Page 1: raw audio formats, best quality first as GStreamer lists them.
pub(super) const AUDIO_FORMATS: &str = "\
    F64LE F64BE F32LE F32BE S32LE S32BE U32LE U32BE S24_32LE S24_32BE U24_32LE U24_32BE \
    S24LE S24BE U24LE U24BE S20LE S20BE U20LE U20BE S18LE S18BE U18LE U18BE S16LE S16BE \
    U16LE U16BE S8 U8";

/// Page 2: media types, and the values of all other enumerated fields.
pub(super) const OTHER_WORDS: &str = "\
    video/x-raw audio/x-raw text/x-raw video/x-bayer video/x-h264 video/x-h265 video/x-vp8 \
    video/x-vp9 video/x-av1 video/mpeg image/jpeg image/png audio/mpeg audio/x-flac \
    audio/x-vorbis audio/x-opus audio/x-ac3 audio/x-alaw audio/x-mulaw audio/x-wav \
    video/quicktime video/x-matroska audio/x-matroska video/webm audio/webm application/ogg \
    video/mpegts application/x-yuv4mpeg video/x-ivf application/x-rtp video audio unknown \
    progressive interleaved mixed fields alternate non-interleaved top-field-first \
    bottom-field-first none jpeg mpeg2 dv cosited v-cosited h-cosited alt-line \
    h-cosited+alt-line v-cosited+alt-line bt601 bt709 smpte240m sRGB bt2020 bt2020-10 \
    bt2100-pq bt2100-hlg mono left right side-by-side side-by-side-quincunx \
    column-interleaved row-interleaved top-bottom checkerboard frame-by-frame \
    multiview-frame-by-frame separated 2D rectangle external-oes avc avc3 byte-stream hvc1 \
    hev1 obu-stream annexb av1c raw adts adif loas au nal obu tu frame baseline \
    constrained-baseline main extended high high-10 high-4:2:2 high-4:4:4 main-10 simple \
    advanced-simple lc";
