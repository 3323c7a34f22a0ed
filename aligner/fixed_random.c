// Loaded into the word aligner (LD_PRELOAD), which draws its seed from /dev/urandom and offers no
// option for it: that device becomes the file named in PAIRPIECE_RANDOM, so that a run can be
// repeated.  The process also ends when the one that started it does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

__attribute__((constructor)) static void end_with_parent(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

FILE* fopen(const char* path, const char* mode) {
  FILE* (*open_file)(const char*, const char*);
  *(void**)&open_file = dlsym(RTLD_NEXT, "fopen");
  const char* instead = getenv("PAIRPIECE_RANDOM");
  return open_file(instead && strcmp(path, "/dev/urandom") == 0 ? instead : path, mode);
}
