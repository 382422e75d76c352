libfrclient_a_SOURCES += \
	src/observe/reading.c src/observe/reading.h \
	src/observe/figures.c src/observe/figures.h \
	src/observe/host.c src/observe/host.h
