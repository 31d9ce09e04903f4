# Programs that use the library as others do; their sources are installed.
noinst_PROGRAMS += %D%/hello %D%/textstats
%C%_hello_SOURCES = %D%/hello.c
%C%_hello_LDADD = libtenon.la
%C%_textstats_SOURCES = %D%/textstats.c
%C%_textstats_LDADD = libtenon.la

exampledir = $(docdir)/examples
dist_example_DATA = %D%/hello.c %D%/textstats.c
