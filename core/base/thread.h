/* Thread-local variables of hot paths. */
#ifndef TN_CORE_BASE_THREAD_H
#define TN_CORE_BASE_THREAD_H

/* One load to read. All thread-local variables of a library that has such
 * take room that the C library keeps for libraries opened by dlopen, 512
 * bytes in glibc that others want too: only for a few words each, at most 320
 * bytes in all of libtenon (tests/moved_tree.c). */
#define TN_HOT_THREAD_LOCAL \
  _Thread_local __attribute__((tls_model("initial-exec")))

#endif
