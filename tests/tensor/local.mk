# Tests of the tensor library; on any device, unless said otherwise.
tensor_test = tests/test_device.c tests/tap.c
tensor_ldadd = libtenon-tensor.la libtenon.la -lm

include %D%/autograd.mk

check_PROGRAMS += %D%/tensor
%C%_tensor_SOURCES = %D%/tensor.c $(tensor_test)
%C%_tensor_LDADD = $(tensor_ldadd)
device_tests += %D%/tensor

check_PROGRAMS += %D%/print
%C%_print_SOURCES = %D%/print.c $(tensor_test)
%C%_print_LDADD = $(tensor_ldadd)
device_tests += %D%/print

check_PROGRAMS += %D%/callable
%C%_callable_SOURCES = %D%/callable.c $(tensor_test)
%C%_callable_LDADD = $(tensor_ldadd)
device_tests += %D%/callable

check_PROGRAMS += %D%/graph
%C%_graph_SOURCES = %D%/graph.c $(tensor_test)
%C%_graph_LDADD = $(tensor_ldadd)
device_tests += %D%/graph
# Numbers of the host.
noinst_HEADERS += %D%/values.h
values_test = $(tensor_test) %D%/values.c

check_PROGRAMS += %D%/elementwise %D%/copy
%C%_elementwise_SOURCES = %D%/elementwise.c $(values_test)
%C%_elementwise_LDADD = $(tensor_ldadd)
%C%_copy_SOURCES = %D%/copy.c $(values_test)
%C%_copy_LDADD = $(tensor_ldadd)
device_tests += %D%/elementwise %D%/copy

check_PROGRAMS += %D%/reduce %D%/rows %D%/random
%C%_reduce_SOURCES = %D%/reduce.c $(tensor_test)
%C%_reduce_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
%C%_rows_SOURCES = %D%/rows.c $(tensor_test)
%C%_rows_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
%C%_random_SOURCES = %D%/random.c $(tensor_test)
%C%_random_LDADD = tests/kernels/libtrials.la $(tensor_ldadd)
device_tests += %D%/reduce %D%/rows %D%/random

check_PROGRAMS += %D%/large
%C%_large_SOURCES = %D%/large.c $(tensor_test)
%C%_large_LDADD = $(tensor_ldadd)

check_PROGRAMS += %D%/matmul
%C%_matmul_SOURCES = %D%/matmul.c tests/numbers_products.c \
  tests/numbers_reference.c $(tensor_test)
%C%_matmul_CFLAGS = $(AM_CFLAGS) -O2 -ffp-contract=off
%C%_matmul_LDADD = $(tensor_ldadd)
device_tests += %D%/matmul

check_PROGRAMS += %D%/indexing
%C%_indexing_SOURCES = %D%/indexing.c $(tensor_test)
%C%_indexing_LDADD = $(tensor_ldadd)
device_tests += %D%/indexing

check_PROGRAMS += %D%/attention
%C%_attention_SOURCES = %D%/attention.c tests/numbers_attention.c \
  tests/numbers_reference.c $(tensor_test)
%C%_attention_CFLAGS = $(AM_CFLAGS) -O2 -ffp-contract=off
%C%_attention_LDADD = $(tensor_ldadd)
device_tests += %D%/attention

check_PROGRAMS += %D%/nn
%C%_nn_SOURCES = %D%/nn.c $(tensor_test)
%C%_nn_LDADD = $(tensor_ldadd)
device_tests += %D%/nn

check_PROGRAMS += %D%/optim
%C%_optim_SOURCES = %D%/optim.c tests/numbers_optim.c $(tensor_test)
%C%_optim_LDADD = $(tensor_ldadd)
%C%_optim_CFLAGS = $(AM_CFLAGS) -O2 -ffp-contract=off
device_tests += %D%/optim

check_PROGRAMS += %D%/graphed_step
%C%_graphed_step_SOURCES = %D%/graphed_step.c $(tensor_test)
%C%_graphed_step_LDADD = $(tensor_ldadd)
device_tests += %D%/graphed_step

check_PROGRAMS += %D%/training_memory
%C%_training_memory_SOURCES = %D%/training_memory.c $(tensor_test)
%C%_training_memory_LDADD = $(tensor_ldadd)
device_tests += %D%/training_memory

check_PROGRAMS += %D%/shared_weight
%C%_shared_weight_SOURCES = %D%/shared_weight.c $(tensor_test)
%C%_shared_weight_LDADD = $(tensor_ldadd)
device_tests += %D%/shared_weight

check_PROGRAMS += %D%/reports
%C%_reports_SOURCES = %D%/reports.c $(tensor_test)
%C%_reports_LDADD = $(tensor_ldadd)
device_tests += %D%/reports

check_PROGRAMS += %D%/abuse
%C%_abuse_SOURCES = %D%/abuse.c $(tensor_test)
%C%_abuse_LDADD = $(tensor_ldadd)
device_tests += %D%/abuse

check_PROGRAMS += %D%/host_memory
%C%_host_memory_SOURCES = %D%/host_memory.c %D%/host_memory.h \
  %D%/host_memory_models.c %D%/host_memory_tensors.c $(failing_malloc) \
  $(tensor_test)
%C%_host_memory_LDADD = $(libtenon_tensor_la_OBJECTS) libtenon.la -lm
%C%_host_memory_LDFLAGS = $(AM_LDFLAGS) $(failing_malloc_ldflags)

check_PROGRAMS += %D%/placement
%C%_placement_SOURCES = %D%/placement.c $(values_test)
%C%_placement_LDADD = $(tensor_ldadd)
device_tests += %D%/placement

check_PROGRAMS += %D%/pinned
%C%_pinned_SOURCES = %D%/pinned.c $(values_test)
%C%_pinned_LDADD = $(tensor_ldadd)
device_tests += %D%/pinned

check_PROGRAMS += %D%/one_device
%C%_one_device_SOURCES = %D%/one_device.c tests/manual_device.c tests/tap.c
%C%_one_device_LDADD = $(tensor_ldadd)
