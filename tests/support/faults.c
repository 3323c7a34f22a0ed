// Loaded into a process (LD_PRELOAD): counts the calls that write below a folder, names them in a
// log, and has the n-th of them fail, or the process die at it.  The processes that it starts share
// the count.  What is written through stdio comes here as well: streams get a write of ours.
//
// FAULTS_PLAN is a file with what is to happen: see `struct plan`; tests/support/faults.py fills
// it in.  Its paths are absolute and without links.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct plan {
  _Atomic int32_t count;  // of calls so far
  int32_t at;             // the call that goes wrong; 0 for none
  int32_t error;          // errno of it; 0 for the process to be killed
  int32_t half;           // if it writes, half of that is written before
  char root[1024];        // only calls below it count; other ones are left alone
  char log[1024];         // a line for each
};

static struct plan* plan;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("FAULTS_PLAN");
  if (!path) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof(struct plan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (mapped != MAP_FAILED) plan = mapped;
}

static int below_root(const char* path) {
  const size_t size = strlen(plan->root);
  return strncmp(path, plan->root, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

// Where a descriptor leads; false if nobody can say.
static int place_of(int descriptor, char* place) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, place, PATH_MAX - 1);
  if (size <= 0) return 0;
  place[size] = '\0';
  return 1;
}

static void full_path(int folder, const char* path, char* place) {
  char base[PATH_MAX];
  if (path[0] == '/') {
    snprintf(place, PATH_MAX, "%s", path);
  } else if (folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL : place_of(folder, base)) {
    snprintf(place, PATH_MAX, "%.2000s/%.2000s", base, path);
  } else {
    place[0] = '\0';
  }
}

static void note(int number, const char* call, const char* place) {
  char line[PATH_MAX + 64];
  const int size = snprintf(line, sizeof line, "%d\t%s\t%s\n", number, call, place);
  const int log =
      (int)syscall(SYS_openat, AT_FDCWD, plan->log, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (log < 0) return;
  syscall(SYS_write, log, line, (size_t)size);
  syscall(SYS_close, log);
}

enum { GO_ON, FAIL };

// Count a call; the answer says what is to become of it.
static int met(const char* call, const char* place) {
  if (!plan || !place[0] || !below_root(place)) return GO_ON;
  const int number = atomic_fetch_add(&plan->count, 1) + 1;
  note(number, call, place);
  return number == plan->at ? FAIL : GO_ON;
}

static int fail(void) {
  if (plan->error == 0) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
  }
  errno = plan->error;
  return -1;
}

static int met_at(const char* call, int folder, const char* path) {
  char place[PATH_MAX];
  if (!plan || !path) return GO_ON;
  full_path(folder, path, place);
  return met(call, place);
}

static int met_descriptor(const char* call, int descriptor) {
  char place[PATH_MAX];
  return plan && place_of(descriptor, place) ? met(call, place) : GO_ON;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name)

// ---------------------------------------------------------------------- files and their content

#define WRITES(flags) (((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0)

#define OPENING(name) \
  int name(const char* path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    const mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    REAL(name); \
    if (WRITES(flags) && met_at("open", AT_FDCWD, path) == FAIL) return fail(); \
    return real(path, flags, mode); \
  }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name) \
  int name(int folder, const char* path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    const mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    REAL(name); \
    if (WRITES(flags) && met_at("open", folder, path) == FAIL) return fail(); \
    return real(folder, path, flags, mode); \
  }
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int file, const void* content, size_t size) {
  REAL(write);
  if (met_descriptor("write", file) == FAIL) {
    if (plan->half && size > 1) real(file, content, size / 2);
    return fail();
  }
  return real(file, content, size);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  REAL(writev);
  return met_descriptor("write", file) == FAIL ? fail() : real(file, parts, count);
}

ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* there, size_t size, unsigned how) {
  REAL(copy_file_range);
  return met_descriptor("write", to) == FAIL ? fail() : real(from, at, to, there, size, how);
}

#define SENDING(name, offset) \
  ssize_t name(int to, int from, offset* at, size_t size) { \
    REAL(name); \
    return met_descriptor("write", to) == FAIL ? fail() : real(to, from, at, size); \
  }
ssize_t sendfile(int, int, off_t*, size_t);
ssize_t sendfile64(int, int, off64_t*, size_t);
SENDING(sendfile, off_t)
SENDING(sendfile64, off64_t)

// What is to survive a process, but no loss of power, need not be waited for.
#define FLUSHING(name) \
  int name(int file) { \
    REAL(name); \
    if (plan) return met_descriptor("fsync", file) == FAIL ? fail() : 0; \
    return real(file); \
  }
FLUSHING(fsync)
FLUSHING(fdatasync)

#define CUTTING(name, offset) \
  int name(int file, offset size) { \
    REAL(name); \
    return met_descriptor("ftruncate", file) == FAIL ? fail() : real(file, size); \
  }
CUTTING(ftruncate, off_t)
CUTTING(ftruncate64, off64_t)

// ---------------------------------------------------------------------- names

#define OF_TWO(name, call) \
  int name(const char* from, const char* to) { \
    REAL(name); \
    return met_at(call, AT_FDCWD, to) == FAIL ? fail() : real(from, to); \
  }
OF_TWO(rename, "rename")
OF_TWO(link, "link")
OF_TWO(symlink, "link")

int renameat(int from, const char* old, int to, const char* new) {
  REAL(renameat);
  return met_at("rename", to, new) == FAIL ? fail() : real(from, old, to, new);
}

int linkat(int from, const char* old, int to, const char* new, int flags) {
  REAL(linkat);
  return met_at("link", to, new) == FAIL ? fail() : real(from, old, to, new, flags);
}

#define OF_ONE(name, call) \
  int name(const char* path) { \
    REAL(name); \
    return met_at(call, AT_FDCWD, path) == FAIL ? fail() : real(path); \
  }
OF_ONE(unlink, "unlink")
OF_ONE(rmdir, "rmdir")

int unlinkat(int folder, const char* path, int flags) {
  REAL(unlinkat);
  const char* call = flags & AT_REMOVEDIR ? "rmdir" : "unlink";
  return met_at(call, folder, path) == FAIL ? fail() : real(folder, path, flags);
}

#define WITH_MODE(name, call) \
  int name(const char* path, mode_t mode) { \
    REAL(name); \
    return met_at(call, AT_FDCWD, path) == FAIL ? fail() : real(path, mode); \
  }
WITH_MODE(mkdir, "mkdir")
WITH_MODE(chmod, "chmod")

int mkdirat(int folder, const char* path, mode_t mode) {
  REAL(mkdirat);
  return met_at("mkdir", folder, path) == FAIL ? fail() : real(folder, path, mode);
}

// ---------------------------------------------------------------------- stdio

static ssize_t stream_write(void* cookie, const char* content, size_t size) {
  const int file = (int)(intptr_t)cookie;
  for (size_t done = 0; done < size;) {
    const ssize_t more = write(file, content + done, size - done);
    if (more < 0) return 0;  // as fopencookie wants it
    done += (size_t)more;
  }
  return (ssize_t)size;
}

static int stream_close(void* cookie) { return close((int)(intptr_t)cookie); }

#define STREAM(name) \
  FILE* name(const char* path, const char* mode) { \
    REAL(name); \
    char place[PATH_MAX]; \
    full_path(AT_FDCWD, path, place); \
    if (!plan || mode[0] != 'w' || strchr(mode, '+') || !below_root(place)) \
      return real(path, mode); \
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); \
    if (file < 0) return NULL; \
    const cookie_io_functions_t functions = {.write = stream_write, .close = stream_close}; \
    return fopencookie((void*)(intptr_t)file, "w", functions); \
  }
STREAM(fopen)
STREAM(fopen64)
