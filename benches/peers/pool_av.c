/* What libavutil's pool takes to give a buffer out and get it back, for the benchmark `pools`. Each
 * run prints its version or its figure: nanoseconds a buffer.
 *
 *   pool_av version
 *   pool_av acquire N    N buffers of 720p are out at once
 */
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
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
    if (count > 1 && !strcmp(words[1], "version")) {
        unsigned v = avutil_version();
        printf("libavutil %u.%u.%u\n", v >> 16, v >> 8 & 255, v & 255);
        return 0;
    }
    int out = count > 2 ? atoi(words[2]) : 1;
    if (out < 1 || out > 16)
        return 1;
    AVBufferPool *pool = av_buffer_pool_init(1280 * 720 * 3 / 2, NULL);
    AVBufferRef *held[16];
    long rounds = 400000 / out;
    double start = now();
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < out; i++) {
            held[i] = av_buffer_pool_get(pool);
            if (!held[i])
                return 1;
        }
        for (int i = 0; i < out; i++)
            av_buffer_unref(&held[i]);
    }
    printf("%f\n", (now() - start) / (double)(rounds * out));
    return 0;
}
