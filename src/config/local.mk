libfrclient_a_SOURCES += \
	src/config/settings.c src/config/settings.h \
	src/config/option_table.c src/config/option_priv.h \
	src/config/parse.c
