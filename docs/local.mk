dist_man_MANS += %D%/man/tenon.1 %D%/man/tenon-conform.1 %D%/man/tenon-devices.1 \
  %D%/man/tenon-doctor.1 %D%/man/tenon-memory.1 \
  %D%/man/tenon-new-backend.1 %D%/man/tenon.7
dist_doc_DATA += README.md NEWS.md SECURITY.md \
  %D%/from-pytorch.md %D%/graphs.md %D%/kernels.md %D%/layers.md %D%/numbers.md \
  %D%/semantics.md %D%/streams.md %D%/tensors.md %D%/tour.md %D%/trace.svg \
  %D%/writing-a-backend.md
EXTRA_DIST += %D%/design/abi.md
