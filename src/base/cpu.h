/*
 * cpu.h - which vector instructions may be used.
 *
 * Code that has a form for each level asks once and keeps the answer.  Every form gives
 * the same result; tests go through all levels that the machine has.
 */
#ifndef FR_BASE_CPU_H
#define FR_BASE_CPU_H

enum fr_cpu {
    FR_CPU_PLAIN, /* what the compiler was told to expect */
    FR_CPU_AVX2,  /* and BMI, BMI2, POPCNT, PCLMUL */
    FR_CPU_AVX512 /* and BW, VL, VBMI, VBMI2 */
};

/* The machine's level, or the limit set below where that is lower.  Any thread. */
enum fr_cpu fr_cpu_level(void);

/* Use no more than this from now on; for tests and benchmarks, before threads run. */
void fr_cpu_limit(enum fr_cpu most);

/* In front of a function that is only called at that level. */
#if defined __x86_64__
#define FR_CPU_HAS_AVX 1
#define FR_FOR_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul")))
#define FR_FOR_AVX512                                                                    \
    __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul,avx512f,avx512bw,avx512vl,"       \
                          "avx512vbmi,avx512vbmi2")))
#else
#define FR_CPU_HAS_AVX 0
#endif

#endif
