/* Thread-local variables of hot paths. */
#ifndef TN_CORE_BASE_THREAD_H
#define TN_CORE_BASE_THREAD_H

/* One load to read. Such variables take room that the C library keeps for
 * libraries opened by dlopen, 512 bytes in glibc: only for a few words each,
 * about 320 bytes in all of libtenon. */
#define TN_HOT_THREAD_LOCAL \
  _Thread_local __attribute__((tls_model("initial-exec")))

#endif
