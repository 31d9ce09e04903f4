# Tests of gradients and views.
check_PROGRAMS += %D%/backward
%C%_backward_SOURCES = %D%/backward.c $(tensor_test)
%C%_backward_LDADD = $(tensor_ldadd)
device_tests += %D%/backward

check_PROGRAMS += %D%/backward_stream
%C%_backward_stream_SOURCES = %D%/backward_stream.c $(tensor_test)
%C%_backward_stream_LDADD = $(tensor_ldadd)
device_tests += %D%/backward_stream

check_PROGRAMS += %D%/function
%C%_function_SOURCES = %D%/function.c $(tensor_test)
%C%_function_LDADD = $(tensor_ldadd)
device_tests += %D%/function

check_PROGRAMS += %D%/inplace
%C%_inplace_SOURCES = %D%/inplace.c $(tensor_test)
%C%_inplace_LDADD = $(tensor_ldadd)
device_tests += %D%/inplace

check_PROGRAMS += %D%/view
%C%_view_SOURCES = %D%/view.c $(tensor_test)
%C%_view_LDADD = $(tensor_ldadd)
device_tests += %D%/view

check_PROGRAMS += %D%/gradcheck
%C%_gradcheck_SOURCES = %D%/gradcheck.c %D%/gradcheck.h \
  %D%/gradcheck_elementwise.c %D%/gradcheck_products.c \
  %D%/gradcheck_reductions.c %D%/gradcheck_views.c $(tensor_test)
%C%_gradcheck_LDADD = $(tensor_ldadd)
device_tests += %D%/gradcheck
