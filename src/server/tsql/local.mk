libfrserver_a_SOURCES += \
	src/server/tsql/session.h src/server/tsql/sink.h src/server/tsql/exec.h \
	src/server/tsql/function.h src/server/tsql/ast.h \
	src/server/tsql/arena.c src/server/tsql/arena.h \
	src/server/tsql/lexer.c src/server/tsql/lexer.h \
	src/server/tsql/parser.c src/server/tsql/parser.h src/server/tsql/parse_priv.h \
	src/server/tsql/parse_name.c src/server/tsql/parse_literal.c \
	src/server/tsql/parse_expr.c src/server/tsql/parse_func.c \
	src/server/tsql/parse_query.c src/server/tsql/parse_from.c \
	src/server/tsql/parse_dml.c src/server/tsql/parse_table.c \
	src/server/tsql/parse_ddl.c src/server/tsql/parse_index.c src/server/tsql/parse_security.c src/server/tsql/bind_rights.c src/server/tsql/parse_proc.c \
	src/server/tsql/parse_set.c src/server/tsql/parse_stmt.c \
	src/server/tsql/parse_backup.c src/server/tsql/parse_bulk.c src/server/tsql/parse_partition.c
libfrserver_a_SOURCES += \
	src/server/tsql/errclass.c src/server/tsql/errclass.h \
	src/server/tsql/interp.c src/server/tsql/interp.h \
	src/server/tsql/interp_data.c src/server/tsql/interp_misc.c src/server/tsql/interp_backup.c src/server/tsql/interp_bulk.c \
	src/server/tsql/interp_proc.c src/server/tsql/raise.c \
	src/server/tsql/scope.c src/server/tsql/session.c \
	src/server/tsql/session_priv.h src/server/tsql/session_state.c \
	src/server/tsql/setopt.c src/server/tsql/sysproc.c src/server/tsql/sysproc_text.c \
	src/server/tsql/txn.c src/server/tsql/txn.h
libfrserver_a_SOURCES += \
	src/server/tsql/function.c src/server/tsql/func_priv.h \
	src/server/tsql/func_rules.c src/server/tsql/func_string.c \
	src/server/tsql/func_string2.c src/server/tsql/func_math.c \
	src/server/tsql/func_date.c src/server/tsql/func_session.c \
	src/server/tsql/func_misc.c src/server/tsql/func_meta.c src/server/tsql/func_rights.c src/server/tsql/func_catalog.c \
	src/server/tsql/func_aggr.c
libfrserver_a_SOURCES += \
	src/server/tsql/operator.c src/server/tsql/operator.h \
	src/server/tsql/bind.c src/server/tsql/bind.h src/server/tsql/bind_conv.c \
	src/server/tsql/bind_expr.c src/server/tsql/bind_pred.c src/server/tsql/bind_func.c \
	src/server/tsql/bind_source.c src/server/tsql/select.c src/server/tsql/select_order.c \
	src/server/tsql/select_run.c src/server/tsql/run.c src/server/tsql/query.c \
	src/server/tsql/dml.h src/server/tsql/dml_write.c src/server/tsql/dml_keys.c \
	src/server/tsql/dml_identity.c src/server/tsql/dml_output.c \
	src/server/tsql/dml_insert.c src/server/tsql/dml_exec.c \
	src/server/tsql/dml_select.c src/server/tsql/dml_select.h \
	src/server/tsql/dml_update.c src/server/tsql/dml_delete.c
