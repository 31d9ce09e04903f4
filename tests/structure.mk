# Tests of the sources and of what is built from them, not of behaviour.
dist_check_SCRIPTS += %D%/distribution.sh %D%/documents.sh %D%/exports.sh \
  %D%/guide.sh %D%/headers.sh %D%/layers.sh %D%/out_of_tree.sh %D%/style.sh
EXTRA_DIST += %D%/abi_layout.awk %D%/abi_layout.txt %D%/full.sh \
  %D%/guide.awk %D%/guide_edit.awk %D%/layers.awk %D%/outside/backend.c \
  %D%/outside/program.c %D%/style.awk %D%/tap.sh %D%/valgrind.sh

# Both install; two that link anew at once would be in each other's way.
%D%/guide.log: %D%/out_of_tree.log

check_PROGRAMS += %D%/abi_layout
%C%_abi_layout_SOURCES = %D%/abi_layout.c %D%/tap.c
nodist_%C%_abi_layout_SOURCES = %D%/abi_fields.h
CLEANFILES += %D%/abi_fields.h
%D%/abi_layout.$(OBJEXT): %D%/abi_fields.h
%D%/abi_fields.h: include/tenon/backend.h %D%/abi_layout.awk
	$(AM_V_GEN)$(MKDIR_P) %D% && $(AWK) -f $(top_srcdir)/%D%/abi_layout.awk \
	  $(top_srcdir)/include/tenon/backend.h > $@.tmp && mv $@.tmp $@

# Records the plugin interface as it is now.
abi: %D%/abi_layout$(EXEEXT)
	%D%/abi_layout --print > $(top_srcdir)/%D%/abi_layout.txt

# The long tier: both compilers, sanitizers, valgrind, seeds, distcheck. FULL='gcc thread'
# runs only what matches.
check-full: all
	top_srcdir='$(abs_top_srcdir)' MAKE='$(MAKE)' \
	  $(SHELL) $(top_srcdir)/%D%/full.sh '$(FULL)'

# The test programs under valgrind, on cpu.
valgrind: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/%D%/valgrind.sh \
	  $(check_PROGRAMS)
.PHONY: abi check-full valgrind
