/*
 * A driver without a device: what the agent calls of libnvidia-ml.so.1, libcuda.so.1 and, for NVTX,
 * libnvToolsExt.so.1, with the layouts of their headers. FAKE_DEVICES is their number; device 1 supports nothing but its name;
 * after FAKE_LOST readings of it device FAKE_LOST_DEVICE is lost; FAKE_VERSION is that of the driver.
 * FAKE_LOCKS pieces of memory can be page-locked; each one is told to the file FAKE_LOG, as each
 * range is, with its depth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_SUPPORTED 3
#define GPU_IS_LOST 15

/* Errors of CUDA. */
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define INVALID_CONTEXT 201
#define ALREADY_LOCKED 712
#define NOT_LOCKED 713

typedef struct { unsigned index; } *device;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
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
  to->gpu = 25;
  to->memory = 99;
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
  to[0] = (share) {1, since + 1, 5, 0, 0, 0};
  to[1] = (share) {getpid(), since + 1, 20, 0, 0, 0};
  *count = 2;
  return 0;
}

/* Of this thread: the context that the program has set, and those that were pushed. */
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
  for (int i = 0; i < locks; i++) { /* Of memory that is locked in part nothing is copied. */
    char *end = locked[i].at + locked[i].bytes;
    if (from < end && locked[i].at < from + bytes && (from < locked[i].at || from + bytes > end)) return INVALID_VALUE;
  }
  memcpy(to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(char *to, char *from, unsigned long long bytes) { memcpy(to, from, bytes); return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
