dist_man_MANS = man/fullrack.1 man/fullrack.json.5 man/spawnmany.1 man/fullrackd.8
dist_pkgdata_DATA += schema/fullrack.schema.json

# Of each command a page, and the shells' completion: made of the tables of commands and options, so that they say what the program takes.
command_pages = \
	man/fullrack-add.1 man/fullrack-backup.1 man/fullrack-cancel.1 man/fullrack-check.1 man/fullrack-config.1 \
	man/fullrack-gen.1 man/fullrack-init.1 man/fullrack-io.1 man/fullrack-latches.1 man/fullrack-load.1 \
	man/fullrack-purge.1 man/fullrack-query.1 man/fullrack-replay.1 man/fullrack-report.1 man/fullrack-reset.1 \
	man/fullrack-retry.1 man/fullrack-run.1 man/fullrack-schedulers.1 man/fullrack-spawnmany.1 man/fullrack-start.1 \
	man/fullrack-status.1 man/fullrack-undo.1 man/fullrack-verify.1 man/fullrack-vfs.1 man/fullrack-waits.1 \
	man/fullrack-wear.1 man/fullrack-worker.1 man/fullrack-workload.1
nodist_man_MANS = $(command_pages)
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = man/bash/fullrack
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = man/zsh/_fullrack
CLEANFILES += $(command_pages) man/bash/fullrack man/zsh/_fullrack

$(command_pages): fullrack$(EXEEXT)
	@$(MKDIR_P) man
	$(AM_V_GEN)c=$@; c=$${c#man/fullrack-}; ./fullrack$(EXEEXT) manual page "$${c%.1}" >$@.new && mv $@.new $@
man/bash/fullrack: fullrack$(EXEEXT)
	@$(MKDIR_P) man/bash
	$(AM_V_GEN)./fullrack$(EXEEXT) manual bash >$@.new && mv $@.new $@
man/zsh/_fullrack: fullrack$(EXEEXT)
	@$(MKDIR_P) man/zsh
	$(AM_V_GEN)./fullrack$(EXEEXT) manual zsh >$@.new && mv $@.new $@
# bash looks for a command's completion by its name
install-data-hook:
	ln -sf fullrack "$(DESTDIR)$(bashcompletiondir)/spawnmany"
