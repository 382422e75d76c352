libfrclient_a_SOURCES += \
	src/rack/ipc.c src/rack/ipc.h \
	src/rack/connector.c src/rack/connector.h \
	src/rack/worker.c src/rack/worker.h src/rack/worker_priv.h \
	src/rack/keeper.c \
	src/rack/pin.c \
	src/rack/task.c
