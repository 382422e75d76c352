# Ratios against other clients in one run, and of the queue's procedures with few and many tasks; never a test.
bench: all
	$(srcdir)/tests/bench/bench.py
	$(srcdir)/tests/bench/bench_claims.py --limit 1.5
EXTRA_DIST += tests/bench/bench.py tests/bench/bench_claims.py
.PHONY: bench
