# backend_LTLIBRARIES += %D%/tenon-cpu.la and
# backend_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR) come with its files.
