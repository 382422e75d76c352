include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/property/local.mk
include tests/integration/local.mk
include tests/model/local.mk
EXTRA_DIST += scripts/check-server tests/torture/torture.py tests/torture/remote.py
# A server that is not ours: make check-server SERVER=HOST:PORT USER=LOGIN, password in FULLRACK_PASSWORD
check-server: all
	$(srcdir)/scripts/check-server "$(SERVER)" "$(USER)"
.PHONY: check-server
