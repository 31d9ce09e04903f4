# The least a backend can be. Its source is installed as an example; the
# plugin only if configure was asked (--enable-template-backend).
%C%_tenon_template_la_SOURCES = %D%/template.c
if TEMPLATE_BACKEND
backend_LTLIBRARIES += %D%/tenon-template.la
backend_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR)
%C%_tenon_template_la_LDFLAGS = $(backend_ldflags)
else
check_LTLIBRARIES += %D%/tenon-template.la
test_backend_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR)
%C%_tenon_template_la_LDFLAGS = $(test_plugin_ldflags)
endif

templatedir = $(exampledir)/template
dist_template_DATA = %D%/launch.c %D%/template.c
