# Tests of the tensor library; on any device, unless said otherwise.
tensor_test = tests/test_device.c tests/tap.c
# Until every declared operation is there.
tensor_ldadd = libtenon-tensor.la libtenon.la -lm \
  -Wl,--unresolved-symbols=ignore-in-shared-libs

check_PROGRAMS += %D%/tensor
%C%_tensor_SOURCES = %D%/tensor.c $(tensor_test)
%C%_tensor_LDADD = $(tensor_ldadd)
device_tests += %D%/tensor
