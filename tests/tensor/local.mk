# Tests of the tensor library; on any device, unless said otherwise.
tensor_test = tests/test_device.c tests/tap.c
tensor_ldadd = libtenon-tensor.la libtenon.la -lm
# Until every declared operation is there.
tensor_ldflags = $(AM_LDFLAGS) -Wl,--unresolved-symbols=ignore-in-shared-libs

check_PROGRAMS += %D%/tensor
%C%_tensor_SOURCES = %D%/tensor.c $(tensor_test)
%C%_tensor_LDADD = $(tensor_ldadd)
%C%_tensor_LDFLAGS = $(tensor_ldflags)
device_tests += %D%/tensor

check_PROGRAMS += %D%/print
%C%_print_SOURCES = %D%/print.c $(tensor_test)
%C%_print_LDADD = $(tensor_ldadd)
%C%_print_LDFLAGS = $(tensor_ldflags)
device_tests += %D%/print

check_PROGRAMS += %D%/reduce
%C%_reduce_SOURCES = %D%/reduce.c $(tensor_test)
%C%_reduce_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
%C%_reduce_LDFLAGS = $(tensor_ldflags)
device_tests += %D%/reduce

check_PROGRAMS += %D%/rows
%C%_rows_SOURCES = %D%/rows.c $(tensor_test)
%C%_rows_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
%C%_rows_LDFLAGS = $(tensor_ldflags)
device_tests += %D%/rows

check_PROGRAMS += %D%/random
%C%_random_SOURCES = %D%/random.c $(tensor_test)
%C%_random_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
%C%_random_LDFLAGS = $(tensor_ldflags)
device_tests += %D%/random
