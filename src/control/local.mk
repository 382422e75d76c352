libfrclient_a_SOURCES += \
	src/control/control.c src/control/control.h src/control/control_priv.h \
	src/control/admin.c src/control/admin.h \
	src/control/job.c src/control/job.h \
	src/control/run.c \
	src/control/scheduler.c \
	src/control/workload.c src/control/workload.h \
	src/control/queue.c src/control/queue.h
