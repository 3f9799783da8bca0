/*
 * A driver without a device: what the agent calls of libnvidia-ml.so.1 and libcuda.so.1, with the
 * layouts of their headers. FAKE_DEVICES is their number; device 1 supports nothing but its name;
 * after FAKE_LOST readings the first is lost.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_SUPPORTED 3
#define GPU_IS_LOST 15

typedef struct { unsigned index; } *device;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu, compute; } process;
typedef struct { unsigned pid; unsigned long long at; unsigned sm, memory, encoder, decoder; } share;

static struct { unsigned index; } devices[8];
static int readings;

static int number(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value ? atoi(value) : otherwise;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned length) { strncpy(to, "580.65.06", length); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = number("FAKE_DEVICES", 1); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *to) {
  devices[index].index = index;
  *to = (device) &devices[index];
  return 0;
}
int nvmlDeviceGetName(device of, char *to, unsigned length) { strncpy(to, "Fake GPU", length); return 0; }
int nvmlDeviceGetUtilizationRates(device of, utilization *to) {
  if (of->index == 1) return NOT_SUPPORTED;
  if (++readings > number("FAKE_LOST", 1 << 30)) return GPU_IS_LOST;
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
int nvmlDeviceGetComputeRunningProcesses_v3(device of, unsigned *count, process *to) {
  if (of->index == 1) return NOT_SUPPORTED;
  to[0] = (process) {1, 1ULL << 30, 0, 0};
  to[1] = (process) {getpid(), 2ULL << 30, 0, 0};
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

static int context, current;
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *active = 1; return 0; }
int cuDevicePrimaryCtxRetain(void **to, int device) { *to = &context; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxPushCurrent_v2(void *pushed) { current++; return pushed == &context ? 0 : 201; }
int cuCtxPopCurrent_v2(void **popped) { current--; *popped = &context; return 0; }
int cuCtxSynchronize(void) { usleep(20000); return current == 1 ? 0 : 201; }
