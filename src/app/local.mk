bin_PROGRAMS += fullrack
fullrack_CPPFLAGS = $(libfrclient_a_CPPFLAGS)
fullrack_SOURCES = \
	src/app/main.c src/app/commands.c src/app/command.h \
	src/app/manual.c src/app/manual.h \
	src/app/open.c src/app/open.h \
	src/app/sources.c src/app/sources.h \
	src/app/cut.c src/app/cut.h \
	src/app/document_print.c src/app/document_print.h \
	src/app/lineitem.c src/app/lineitem.h src/app/lineitem_files.c src/app/lineitem_files.h \
	src/app/enqueue.c src/app/enqueue.h \
	src/app/runtables.c src/app/runtables.h \
	src/app/runjob.c src/app/runjob.h \
	src/app/preflight.c src/app/preflight_show.c src/app/preflight_file.c src/app/preflight.h src/app/preflight_priv.h \
	src/app/run_document.c src/app/run_document.h \
	src/app/watch.c src/app/watch.h \
	src/app/cmd_add.c \
	src/app/cmd_backup.c \
	src/app/cmd_config.c \
	src/app/cmd_check.c src/app/check.h \
	src/app/suggest.c \
	src/app/cmd_gen.c \
	src/app/cmd_init.c \
	src/app/cmd_io.c \
	src/app/cmd_load.c \
	src/app/cmd_query.c \
	src/app/cmd_queue.c \
	src/app/cmd_replay.c src/app/replay_target.c src/app/replay_target.h \
	src/app/cmd_report.c \
	src/app/cmd_run.c \
	src/app/cmd_snapshot.c \
	src/app/cmd_status.c \
	src/app/cmd_undo.c \
	src/app/cmd_verify.c \
	src/app/cmd_wear.c \
	src/app/cmd_worker.c \
	src/app/cmd_workload.c \
	src/app/workload_print.c src/app/workload_print.h
# symbols are found once, in the coordinator, and not anew in each worker that is forked
fullrack_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,relro,-z,now
fullrack_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm

# the record team's name for the same program
all-local: spawnmany
spawnmany: fullrack$(EXEEXT)
	@ln -sf fullrack$(EXEEXT) $@
install-exec-hook:
	ln -sf fullrack$(EXEEXT) "$(DESTDIR)$(bindir)/spawnmany"
uninstall-hook:
	rm -f "$(DESTDIR)$(bindir)/spawnmany" "$(DESTDIR)$(bashcompletiondir)/spawnmany"
CLEANFILES += spawnmany
