/* What GStreamer takes to start up, for the benchmark `negotiation`. Each run prints its version or
 * its figures: seconds, one a line.
 *
 *   negotiation version
 *   negotiation chain ELEMENT[,ELEMENT...] N   source, caps, N elements in turn, caps, sink:
 *                                              made and linked; then from READY to PAUSED
 *   negotiation tee N                          N branches: queue, videoconvert, caps, sink: the same
 *   negotiation intersect                      one intersection of fixed caps with ranges
 *   negotiation lists N                        one intersection of N with N overlapping ranges
 */
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static GstElement *add(GstElement *pipeline, const char *factory)
{
    GstElement *element = gst_element_factory_make(factory, NULL);
    if (!element)
        fail(factory);
    gst_bin_add(GST_BIN(pipeline), element);
    return element;
}

static GstElement *add_caps(GstElement *pipeline, const char *text)
{
    GstElement *filter = add(pipeline, "capsfilter");
    GstCaps *caps = gst_caps_from_string(text);
    g_object_set(filter, "caps", caps, NULL);
    gst_caps_unref(caps);
    return filter;
}

static GstElement *add_sink(GstElement *pipeline)
{
    GstElement *sink = add(pipeline, "fakesink");
    g_object_set(sink, "sync", FALSE, NULL);
    return sink;
}

/* Links, as an application does it: caps are compared. */
static void join(GstElement *from, GstElement *to)
{
    if (!gst_element_link(from, to))
        fail("the elements do not link");
}

static GstElement *add_source(GstElement *pipeline)
{
    GstElement *source = add(pipeline, "videotestsrc");
    GstElement *caps = add_caps(pipeline, "video/x-raw,format=I420,width=320,height=240");
    g_object_set(source, "num-buffers", 1, NULL);
    join(source, caps);
    return caps;
}

/* Prints when it was built and how long it then takes to be PAUSED. */
static void start(GstElement *pipeline, double begun)
{
    double built = now(), paused;
    gst_element_set_state(pipeline, GST_STATE_READY);
    double ready = now();
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    GstStateChangeReturn reached =
        gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    paused = now();
    if (reached != GST_STATE_CHANGE_SUCCESS)
        fail("the pipeline does not reach PAUSED");
    printf("%.9f\n%.9f\n", built - begun, paused - ready);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

static void chain(const char *kinds, int count)
{
    char **names = g_strsplit(kinds, ",", 0);
    guint turn = g_strv_length(names);
    double begun = now();
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *last = add_source(pipeline);
    for (int i = 0; i < count; i++) {
        GstElement *next = add(pipeline, names[(guint)i % turn]);
        join(last, next);
        last = next;
    }
    if (turn > 1) {
        GstElement *caps = add_caps(pipeline, "video/x-raw,format=NV12,width=160,height=120");
        join(last, caps);
        last = caps;
    }
    join(last, add_sink(pipeline));
    start(pipeline, begun);
    g_strfreev(names);
}

static void tee(int count)
{
    static const char *formats[] = { "NV12", "RGBA", "Y444", "I420" };
    double begun = now();
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *tee = add(pipeline, "tee");
    join(add_source(pipeline), tee);
    for (int i = 0; i < count; i++) {
        char text[64];
        snprintf(text, sizeof text, "video/x-raw,format=%s", formats[i % 4]);
        GstElement *queue = add(pipeline, "queue");
        GstElement *convert = add(pipeline, "videoconvert");
        GstElement *caps = add_caps(pipeline, text);
        join(tee, queue);
        join(queue, convert);
        join(convert, caps);
        join(caps, add_sink(pipeline));
    }
    start(pipeline, begun);
}

/* Prints what one intersection takes, the mean of many. */
static void intersect(GstCaps *a, GstCaps *b, int times)
{
    double begun = now();
    for (int i = 0; i < times; i++)
        gst_caps_unref(gst_caps_intersect(a, b));
    printf("%.12f\n", (now() - begun) / times);
}

static GstCaps *ranges(int count, int reversed)
{
    GstCaps *caps = gst_caps_new_empty();
    for (int i = 0; i < count; i++) {
        int k = reversed ? count - 1 - i : i;
        gst_caps_append_structure(caps,
            gst_structure_new("video/x-raw", "format", G_TYPE_STRING, "I420",
                "width", GST_TYPE_INT_RANGE, 1 + k, 10000 - k,
                "height", GST_TYPE_INT_RANGE, 1 + k, 10000 - k,
                "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, 60 + k, 1, NULL));
    }
    return caps;
}

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    /* Plugins are loaded before anything is measured. */
    static const char *used[] = { "videotestsrc", "videoconvert", "videoscale", "identity" };
    for (int i = 0; i < 4; i++) {
        GstElement *element = gst_element_factory_make(used[i], NULL);
        if (!element)
            fail(used[i]);
        gst_object_unref(element);
    }
    if (!strcmp(what, "version")) {
        char *version = gst_version_string();
        puts(version);
        g_free(version);
    } else if (!strcmp(what, "chain") && argc == 4) {
        chain(argv[2], atoi(argv[3]));
    } else if (!strcmp(what, "tee") && argc == 3) {
        tee(atoi(argv[2]));
    } else if (!strcmp(what, "intersect")) {
        intersect(
            gst_caps_from_string("video/x-raw,format=I420,width=1280,height=720,framerate=30/1,"
                "interlace-mode=progressive,pixel-aspect-ratio=1/1,colorimetry=bt709,"
                "chroma-site=mpeg2"),
            gst_caps_from_string("video/x-raw,format={I420,YV12,NV12,NV21,RGBA,BGRA,Y42B,Y444},"
                "width=[1,32767],height=[1,32767],framerate=[0/1,120/1]"),
            100000);
    } else if (!strcmp(what, "lists") && argc == 3) {
        int count = atoi(argv[2]);
        intersect(ranges(count, 0), ranges(count, 1), 10);
    } else {
        fail("which figure?");
    }
    return 0;
}
