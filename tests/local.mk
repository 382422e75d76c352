include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/property/local.mk
include tests/integration/local.mk
include tests/model/local.mk
