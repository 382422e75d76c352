libfrclient_a_SOURCES += \
	src/disk/members.c src/disk/members.h \
	src/disk/kinds.c src/disk/kinds.h \
	src/disk/matrix.c src/disk/matrix.h \
	src/disk/targets.c src/disk/targets.h \
	src/disk/result.c src/disk/result.h \
	src/disk/sheet.c src/disk/sheet.h \
	src/disk/test_file.c src/disk/test_file.h \
	src/disk/child.c src/disk/child.h \
	src/disk/fio.c src/disk/fio.h \
	src/disk/smart.c src/disk/smart.h \
	src/disk/wear.c src/disk/wear.h \
	src/disk/defaults.h
nodist_libfrclient_a_SOURCES += src/disk/defaults.c
DISK_DEFAULT_FILES = share/disk/matrix.json share/disk/targets.json
dist_pkgdata_DATA += $(DISK_DEFAULT_FILES)
EXTRA_DIST += scripts/embed-json
BUILT_SOURCES += src/disk/defaults.c
CLEANFILES += src/disk/defaults.c
src/disk/defaults.c: $(DISK_DEFAULT_FILES) scripts/embed-json
	@mkdir -p $(@D)
	$(AM_V_GEN)$(srcdir)/scripts/embed-json $@ disk/defaults.h fr_disk_default_ $(DISK_DEFAULT_FILES:%=$(srcdir)/%)
