/* The headers of the kernel language as text, so that kernels are compiled
 * with those this plugin was built with. */
#ifndef TN_BACKENDS_CPU_LANGUAGE_TEXT_H
#define TN_BACKENDS_CPU_LANGUAGE_TEXT_H

extern const char tn_cpu_kernel_lang_text[]; /* tenon/kernel_lang.h */
extern const char tn_cpu_kernel_math_text[]; /* tenon/kernel_math.h */
extern const char tn_cpu_kernel_math_f64_text[]; /* ... _f64.h */
extern const char tn_cpu_language_sum[];     /* a checksum of both */

#endif
