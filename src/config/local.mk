libfrclient_a_SOURCES += \
	src/config/settings.c src/config/settings.h \
	src/config/option_table.c src/config/option_priv.h src/config/options.h \
	src/config/parse.c \
	src/config/nearest.c src/config/nearest.h \
	src/config/document.c src/config/document.h \
	src/config/guards.c src/config/guards.h \
	src/config/variables.c src/config/variables.h \
	src/config/workload.c src/config/workload.h \
	src/config/runfile.c src/config/runfile.h src/config/runfile_priv.h \
	src/config/runfile_phase.c src/config/runfile_order.c
