/* The smallest plugin there is: what loading one costs at least. */
__attribute__((visibility("default"))) int tiny(void);
int tiny(void) { return 42; }
