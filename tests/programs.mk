# Tests of programs: the tenon command, the examples, what the README shows.
dist_check_SCRIPTS += %D%/conform.sh %D%/conform_accelerators.sh \
  %D%/liars.sh
EXTRA_DIST += %D%/liars.txt
dist_check_SCRIPTS += %D%/charlm.sh %D%/cpu_chaos.sh \
  %D%/partial_capture.sh %D%/readme.sh %D%/semantics.sh \
  %D%/streams_example.sh %D%/tenon_command.sh %D%/textstats.sh

EXTRA_DIST += %D%/leaks.txt
EXTRA_PROGRAMS += %D%/textstats_reference
check_DATA += %D%/textstats_reference$(EXEEXT)
%C%_textstats_reference_SOURCES = %D%/textstats_reference.c
%C%_textstats_reference_LDADD = -lm
CLEANFILES += %D%/textstats_reference$(EXEEXT)

# Layers (docs/layers.md).
dist_check_SCRIPTS += %D%/plugin_layers.sh %D%/race.sh %D%/trace.sh
if CUDA
dist_check_SCRIPTS += %D%/layers_emulated.sh
endif
EXTRA_DIST += %D%/race_on.sh %D%/trace_check.py build-aux/trace_svg.py
check_PROGRAMS += %D%/race_extent
%C%_race_extent_SOURCES = %D%/race_extent.c layers/race_extent.c \
  layers/race_extent.h layers/race_own.c %D%/tap.c
%C%_race_extent_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
EXTRA_PROGRAMS += %D%/race_cases
check_DATA += %D%/race_cases$(EXEEXT)
%C%_race_cases_SOURCES = %D%/race_cases.c
%C%_race_cases_LDADD = $(tests_ldadd)
CLEANFILES += %D%/race_cases$(EXEEXT)
