/* What GStreamer's video pool takes to give a buffer out and get it back, for the benchmark `pools`.
 * Each run prints its version or its figure: nanoseconds a buffer.
 *
 *   pool version
 *   pool acquire N    N buffers of 720p are out at once
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **words)
{
    gst_init(&count, &words);
    if (count > 1 && !strcmp(words[1], "version")) {
        puts(gst_version_string());
        return 0;
    }
    int out = count > 2 ? atoi(words[2]) : 1;
    if (out < 1 || out > 16)
        return 1;
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, 1280, 720);
    GstCaps *caps = gst_video_info_to_caps(&info);
    GstBufferPool *pool = gst_video_buffer_pool_new();
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, (guint)info.size, 16, 0);
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
        return 1;
    GstBuffer *held[16];
    long rounds = 400000 / out;
    double start = now();
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < out; i++)
            if (gst_buffer_pool_acquire_buffer(pool, &held[i], NULL) != GST_FLOW_OK)
                return 1;
        for (int i = 0; i < out; i++)
            gst_buffer_unref(held[i]);
    }
    printf("%f\n", (now() - start) / (double)(rounds * out));
    return 0;
}
