libfrclient_a_SOURCES += \
	src/rack/ipc.c src/rack/ipc.h \
	src/rack/connector.c src/rack/connector.h \
	src/rack/encryption.c src/rack/encryption.h \
	src/rack/worker.c src/rack/worker.h src/rack/worker_priv.h \
	src/rack/keeper.c \
	src/rack/pin.c \
	src/rack/task.c \
	src/rack/phase.c \
	src/rack/query.c \
	src/rack/backup.c src/rack/bring.c src/rack/bulk_insert.c
libfrclient_a_SOURCES += \
	src/rack/result.c src/rack/result.h \
	src/rack/view.c src/rack/view.h src/rack/picture.c src/rack/picture.h \
	src/rack/coordinator.c src/rack/coordinator.h src/rack/coordinator_priv.h \
	src/rack/child.c src/rack/messages.c \
	src/rack/forkserver.c src/rack/forkserver.h \
	src/rack/run.c \
	src/rack/start.c \
	src/rack/dispatch.c \
	src/rack/rate.c \
	src/rack/queries.c src/rack/queries.h \
	src/rack/sampler.c src/rack/sampler.h \
	src/rack/metrics.c src/rack/metrics.h \
	src/rack/monitor.c src/rack/monitor.h src/rack/monitor_priv.h \
	src/rack/blocking.c \
	src/rack/dbjob.c
