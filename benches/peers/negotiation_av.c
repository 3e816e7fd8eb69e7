/* What libavfilter takes to start up, for the benchmark `negotiation`. Each run prints its version
 * or its figures: seconds, one a line.
 *
 *   negotiation_av version
 *   negotiation_av chain FILTER N   source, N filters, sink: made and linked; then configured
 *   negotiation_av split N          N branches of one of four formats: the same
 */
#include <libavfilter/avfilter.h>
#include <libavfilter/version.h>
#include <libavutil/log.h>
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

static AVFilterContext *add(AVFilterGraph *graph, const char *filter, const char *options)
{
    AVFilterContext *made = NULL;
    const AVFilter *class = avfilter_get_by_name(filter);
    if (!class || avfilter_graph_create_filter(&made, class, NULL, options, NULL, graph) < 0)
        fail(filter);
    return made;
}

static void join(AVFilterContext *from, unsigned pad, AVFilterContext *to)
{
    if (avfilter_link(from, pad, to, 0) < 0)
        fail("the filters do not link");
}

static AVFilterContext *add_source(AVFilterGraph *graph)
{
    return add(graph, "buffer", "video_size=320x240:pix_fmt=yuv420p:time_base=1/30:frame_rate=30/1");
}

static void start(AVFilterGraph *graph, double begun)
{
    double built = now();
    if (avfilter_graph_config(graph, NULL) < 0)
        fail("the graph cannot be configured");
    printf("%.9f\n%.9f\n", built - begun, now() - built);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    av_log_set_level(AV_LOG_ERROR);
    if (!strcmp(what, "version")) {
        unsigned v = avfilter_version();
        printf("libavfilter %u.%u.%u\n", v >> 16, v >> 8 & 255, v & 255);
        return 0;
    }
    double begun = now();
    AVFilterGraph *graph = avfilter_graph_alloc();
    if (!strcmp(what, "chain") && argc == 4) {
        AVFilterContext *last = add_source(graph);
        for (int i = 0; i < atoi(argv[3]); i++) {
            AVFilterContext *next = add(graph, argv[2], NULL);
            join(last, 0, next);
            last = next;
        }
        join(last, 0, add(graph, "nullsink", NULL));
    } else if (!strcmp(what, "split") && argc == 3) {
        static const char *formats[] = { "nv12", "rgba", "yuv444p", "yuv420p" };
        AVFilterContext *split = add(graph, "split", argv[2]);
        join(add_source(graph), 0, split);
        for (int i = 0; i < atoi(argv[2]); i++) {
            AVFilterContext *format = add(graph, "format", formats[i % 4]);
            join(split, (unsigned)i, format);
            join(format, 0, add(graph, "nullsink", NULL));
        }
    } else {
        fail("which figure?");
    }
    start(graph, begun);
    return 0;
}
