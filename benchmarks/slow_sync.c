/* Loaded before a program, it makes every sync take SLOW_SYNC microseconds more, as on a slower disk:
   ratios of syncs then do not depend on the machine's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void longer(void) {
    const char *given = getenv("SLOW_SYNC");
    long microseconds = given ? atol(given) : 0;
    struct timespec rest = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&rest, NULL);
}

int fsync(int file) {
    int (*own)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    longer();
    return own(file);
}

int fdatasync(int file) {
    int (*own)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    longer();
    return own(file);
}
