# Added to by this folder's files.
