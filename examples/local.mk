# Programs that use the library as others do; their sources are installed.
noinst_PROGRAMS += %D%/hello %D%/streams/streams %D%/textstats
%C%_hello_SOURCES = %D%/hello.c
%C%_hello_LDADD = libtenon.la
%C%_streams_streams_SOURCES = $(stream_example)
%C%_streams_streams_LDADD = libtenon.la
stream_example = %D%/streams/lab.c %D%/streams/lab.h \
  %D%/streams/patterns.c %D%/streams/patterns.h %D%/streams/streams.c
%C%_textstats_SOURCES = %D%/textstats.c
%C%_textstats_LDADD = libtenon.la

exampledir = $(docdir)/examples
dist_example_DATA = %D%/hello.c %D%/textstats.c

# On tensors.
noinst_PROGRAMS += %D%/partial_capture
%C%_partial_capture_SOURCES = %D%/partial_capture.c
%C%_partial_capture_LDADD = libtenon-tensor.la libtenon.la
dist_example_DATA += %D%/partial_capture.c

# It learns from the documentation unless told otherwise.
charlm_sources = \
  %D%/charlm/complain.c \
  %D%/charlm/complain.h \
  %D%/charlm/document.c \
  %D%/charlm/document.h \
  %D%/charlm/main.c \
  %D%/charlm/model.c \
  %D%/charlm/model.h \
  %D%/charlm/options.c \
  %D%/charlm/options.h \
  %D%/charlm/plot.c \
  %D%/charlm/plot.h \
  %D%/charlm/stepper.c \
  %D%/charlm/stepper.h \
  %D%/charlm/text.c \
  %D%/charlm/text.h
noinst_PROGRAMS += %D%/charlm/charlm
%C%_charlm_charlm_SOURCES = $(charlm_sources)
%C%_charlm_charlm_CPPFLAGS = $(AM_CPPFLAGS) \
  -DCHARLM_DOCUMENTS='"$(abs_top_srcdir):$(docdir)"'
%C%_charlm_charlm_LDADD = libtenon-tensor.la libtenon.la -lm
charlmdir = $(exampledir)/charlm
dist_charlm_DATA = $(charlm_sources)
streamexampledir = $(exampledir)/streams
dist_streamexample_DATA = $(stream_example)
