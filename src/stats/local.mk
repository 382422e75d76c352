libfrclient_a_SOURCES += \
	src/stats/pace.c src/stats/pace.h \
	src/stats/tally.c src/stats/tally.h
