# Ratios against other clients in one run; never a test.
bench: all
	$(srcdir)/tests/bench/bench.py
EXTRA_DIST += tests/bench/bench.py
.PHONY: bench
