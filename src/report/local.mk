libfrclient_a_SOURCES += \
	src/report/grid.c src/report/grid.h
