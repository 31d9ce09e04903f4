# make soak: ten minutes (TN_SOAK_SECONDS) of random use of memory.
EXTRA_PROGRAMS += %D%/soak
%C%_soak_SOURCES = %D%/soak.c %D%/tap.c
%C%_soak_LDADD = $(tests_ldadd)
CLEANFILES += %D%/soak

soak: all
	$(MAKE) $(AM_MAKEFLAGS) %D%/soak$(EXEEXT) $(check_LTLIBRARIES)
	$(AM_TESTS_ENVIRONMENT) %D%/soak$(EXEEXT)
.PHONY: soak
