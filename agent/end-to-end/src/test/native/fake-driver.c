/*
 * A driver without a device: the functions of libnvidia-ml.so.1, libcuda.so.1 and, for NVTX,
 * libnvToolsExt.so.1 that the tests need, with the layouts of their headers. FAKE_DEVICES is the number
 * of devices; device 1 supports only its name. Device FAKE_LOST_DEVICE is lost after FAKE_LOST readings.
 * FAKE_VERSION is the driver's version. FAKE_LOCKS is the number of memory regions that can be
 * page-locked. The file FAKE_LOG gets a line for each region that is locked or unlocked, and for each
 * start and end of a range, with its depth.
 *
 * Kernels run in the first part of each period of FAKE_WAVE ("MILLISECONDS PART", default 50 0.25), four
 * fifths of them in this process. Like NVIDIA's driver, this one measures windows of 200 ms: rates are
 * those of the last window, samples are all windows that it still has, and a process gets the mean of
 * the windows that the caller has not seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define GPU_IS_LOST 15
#define ARGUMENT_VERSION_MISMATCH 25

#define WINDOW 200000ULL
#define KEPT 100
#define RESERVED (615ULL << 20)

/* CUDA errors. */
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define INVALID_CONTEXT 201
#define ALREADY_LOCKED 712
#define NOT_LOCKED 713

typedef struct { unsigned index; } *device;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long at; union { unsigned percent; unsigned long long more; } value; } sample;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu, compute; } process;
typedef struct { process old; unsigned long long protected; } long_process;
typedef struct { unsigned pid; unsigned long long at; unsigned sm, memory, encoder, decoder; } share;

static struct { unsigned index; } devices[64];
static int readings;

static const char *version(void) {
  const char *value = getenv("FAKE_VERSION");
  return value ? value : "580.65.06";
}

static int number(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}

/* Microseconds in which kernels have run up to the time by. */
static double ran(unsigned long long by) {
  const char *wave = getenv("FAKE_WAVE");
  double millis, part;
  sscanf(wave ? wave : "50 0.25", "%lf %lf", &millis, &part);
  unsigned long long period = millis * 1000, within = by % period;
  return by / period * period * part + (within < period * part ? within : period * part);
}

static unsigned percent(unsigned long long from, unsigned long long to) {
  return 100 * (ran(to) - ran(from)) / (to - from) + 0.5;
}

/* The end of the last window. */
static unsigned long long last(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return (now.tv_sec * 1000000ULL + now.tv_usec) / WINDOW * WINDOW;
}

/* The start of the first kept window that ends after since. */
static unsigned long long first(unsigned long long since) {
  unsigned long long oldest = last() - KEPT * WINDOW, begin = since / WINDOW * WINDOW;
  return begin > oldest ? begin : oldest;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned length) { strncpy(to, version(), length); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = number("FAKE_DEVICES", 1); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *to) {
  devices[index].index = index;
  *to = (device) &devices[index];
  return 0;
}
int nvmlDeviceGetName(device of, char *to, unsigned length) { strncpy(to, "Fake GPU", length); return 0; }
int nvmlDeviceGetUtilizationRates(device of, utilization *to) {
  if (of->index == 1) return NOT_SUPPORTED;
  if (of->index == number("FAKE_LOST_DEVICE", 0) && ++readings > number("FAKE_LOST", 1 << 30)) return GPU_IS_LOST;
  to->gpu = percent(last() - WINDOW, last());
  to->memory = 99;
  return 0;
}
int nvmlDeviceGetSamples(
    device of, unsigned kind, unsigned long long since, unsigned *type, unsigned *count, sample *to) {
  if (of->index == 1 || kind != 1) return NOT_SUPPORTED;
  unsigned room = *count;
  *count = 0;
  *type = 1; /* An unsigned int. */
  for (unsigned long long at = first(since), end = last(); at < end && *count < room; at += WINDOW) {
    to[*count].at = at + WINDOW;
    to[*count].value.more = ~0ULL;
    to[(*count)++].value.percent = percent(at, at + WINDOW);
  }
  return *count ? 0 : NOT_FOUND;
}
int nvmlDeviceGetMemoryInfo_v2(device of, memory_v2 *to) {
  if (of->index == 1) return NOT_SUPPORTED;
  if (to->version != (sizeof(*to) | 2 << 24)) return ARGUMENT_VERSION_MISMATCH;
  to->total = 80ULL << 30;
  to->reserved = RESERVED;
  to->free = 77ULL << 30;
  to->used = (3ULL << 30) - RESERVED;
  return 0;
}
int nvmlDeviceGetMemoryInfo(device of, memory *to) {
  if (of->index == 1) return NOT_SUPPORTED;
  to->total = 80ULL << 30;
  to->free = 77ULL << 30;
  to->used = 3ULL << 30;
  return 0;
}
int nvmlDeviceGetPowerUsage(device of, unsigned *to) { *to = 345678; return of->index == 1 ? NOT_SUPPORTED : 0; }
int nvmlDeviceGetPcieThroughput(device of, unsigned direction, unsigned *to) {
  *to = direction == 0 ? 100 : 2000; /* TX, RX in KB/s */
  return of->index == 1 ? NOT_SUPPORTED : 0;
}
int nvmlDeviceGetClockInfo(device of, unsigned clock, unsigned *to) {
  *to = clock == 1 ? 1980 : clock == 2 ? 2619 : 0; /* SM, memory */
  return of->index == 1 ? NOT_SUPPORTED : 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device of, unsigned *count, void *to) {
  process found[] = {{1, 1ULL << 30, 0, 0}, {getpid(), 2ULL << 30, 0, 0}};
  if (of->index == 1) return NOT_SUPPORTED;
  for (int i = 0; i < 2; i++) {
    if (strncmp(version(), "535.54", 6) == 0) ((long_process *) to)[i] = (long_process) {found[i], 0};
    else ((process *) to)[i] = found[i];
  }
  *count = of->index == 0 ? 2 : 1;
  return 0;
}
int nvmlDeviceGetProcessUtilization(device of, share *to, unsigned *count, unsigned long long since) {
  if (of->index == 1) return NOT_SUPPORTED;
  unsigned long long from = first(since), end = last();
  if (from >= end || !percent(from, end)) return NOT_FOUND;
  to[0] = (share) {1, end, percent(from, end) / 5, 0, 0, 0};
  to[1] = (share) {getpid(), end, percent(from, end) * 4 / 5, 0, 0, 0};
  *count = 2;
  return 0;
}

/* This thread's contexts: whether the program has set one, and how many are pushed. */
static __thread int set, pushed;
static int context;
static struct { char *at; unsigned long long bytes; } locked[64];
static int locks;

static void tell(const char *what, unsigned long long bytes) {
  const char *name = getenv("FAKE_LOG");
  FILE *log = name ? fopen(name, "a") : NULL;
  if (log) {
    fprintf(log, "%s %llu\n", what, bytes);
    fclose(log);
  }
}

static __thread int depth;
int nvtxRangePushA(const char *name) {
  tell(name, depth);
  return depth++;
}
int nvtxRangePop(void) {
  tell("pop", depth - 1);
  return --depth;
}

int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *active = 1; return 0; }
int cuDevicePrimaryCtxRetain(void **to, int device) { *to = &context; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void *to) { set = to == &context; return 0; }
int cuCtxPushCurrent_v2(void *to) { pushed++; return to == &context ? 0 : INVALID_CONTEXT; }
int cuCtxPopCurrent_v2(void **popped) { pushed--; *popped = &context; return 0; }
int cuCtxSynchronize(void) { usleep(20000); return pushed == 1 ? 0 : INVALID_CONTEXT; }

int cuMemHostRegister_v2(char *at, unsigned long long bytes, unsigned flags) {
  if (set + pushed != 1) return INVALID_CONTEXT;
  if (locks >= number("FAKE_LOCKS", 64)) return OUT_OF_MEMORY;
  for (int i = 0; i < locks; i++) {
    if (at < locked[i].at + locked[i].bytes && locked[i].at < at + bytes) return ALREADY_LOCKED;
  }
  locked[locks].at = at;
  locked[locks++].bytes = bytes;
  tell("locked", bytes);
  return 0;
}
int cuMemHostUnregister(char *at) {
  for (int i = 0; i < locks; i++) {
    if (locked[i].at == at) {
      tell("unlocked", locked[i].bytes);
      locked[i] = locked[--locks];
      return 0;
    }
  }
  return NOT_LOCKED;
}
int cuMemAlloc_v2(void **to, unsigned long long bytes) { *to = malloc(bytes); return set ? 0 : INVALID_CONTEXT; }
int cuMemFree_v2(void *at) { free(at); return 0; }
int cuMemcpyHtoDAsync_v2(char *to, char *from, unsigned long long bytes, void *stream) {
  for (int i = 0; i < locks; i++) { /* Partly locked memory cannot be copied. */
    char *end = locked[i].at + locked[i].bytes;
    if (from < end && locked[i].at < from + bytes && (from < locked[i].at || from + bytes > end)) return INVALID_VALUE;
  }
  memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(char *to, char *from, unsigned long long bytes) { memcpy(to, from, bytes); return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
