#include "base/cpu.h"

static enum fr_cpu limit = FR_CPU_AVX512;

#if FR_CPU_HAS_AVX
static enum fr_cpu machine_level(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt") ||
        !__builtin_cpu_supports("pclmul"))
        return FR_CPU_PLAIN;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vbmi") ||
        !__builtin_cpu_supports("avx512vbmi2"))
        return FR_CPU_AVX2;
    return FR_CPU_AVX512;
}
#else
static enum fr_cpu machine_level(void)
{
    return FR_CPU_PLAIN;
}
#endif

enum fr_cpu fr_cpu_level(void)
{
    enum fr_cpu has = machine_level();

    return has < limit ? has : limit;
}

void fr_cpu_limit(enum fr_cpu most)
{
    limit = most;
}
