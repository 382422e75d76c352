libfrserver_a_SOURCES += \
	src/server/store/store.c src/server/store/store.h src/server/store/store_priv.h \
	src/server/store/database.c \
	src/server/store/catalog.c src/server/store/catalog.h src/server/store/catalog_priv.h \
	src/server/store/catalog_load.c src/server/store/catalog_load_priv.h \
	src/server/store/catalog_load_space.c src/server/store/partition.c src/server/store/partition.h \
	src/server/store/ddl_space.c src/server/store/ddl_partition.c src/server/store/ddl_switch_range.c \
	src/server/store/sysview_partition.c \
	src/server/store/catalog_load_principal.c src/server/store/principal.c src/server/store/principal.h \
	src/server/store/permission.c src/server/store/permission.h src/server/store/rights.c src/server/store/rights.h \
	src/server/store/handle.c src/server/store/handle.h \
	src/server/store/spool.c src/server/store/spool.h \
	src/server/store/latch.c src/server/store/latch.h \
	src/server/store/io_stats.c src/server/store/io_stats.h \
	src/server/store/segment.c src/server/store/segment.h src/server/store/segment_priv.h \
	src/server/store/segment_list.c src/server/store/segment_rows.c \
	src/server/store/segment_shape.c src/server/store/segment_shape.h \
	src/server/store/segment_files.c src/server/store/segment_files.h \
	src/server/store/bulk.c src/server/store/bulk.h src/server/store/bulk_priv.h \
	src/server/store/bulk_row.c src/server/store/spool_row.h \
	src/server/store/ddl.c src/server/store/ddl.h src/server/store/ddl_priv.h \
	src/server/store/ddl_table.c src/server/store/ddl_constraint.c \
	src/server/store/ddl_index.c src/server/store/ddl_index_alter.c src/server/store/ddl_alter.c src/server/store/ddl_switch.c \
	src/server/store/ddl_drop.c src/server/store/ddl_misc.c \
	src/server/store/ddl_principal.c src/server/store/ddl_grant.c src/server/store/ddl_rights.c \
	src/server/store/lock.c src/server/store/lock.h \
	src/server/store/sysview.h src/server/store/sysview_priv.h src/server/store/sysview.c \
	src/server/store/sysview_catalog.c src/server/store/sysview_constraint.c \
	src/server/store/sysview_server.c src/server/store/sysview_space.c \
	src/server/store/sysview_compat.c src/server/store/sysview_principal.c src/server/store/log_use.c \
	src/server/store/media.c src/server/store/media.h \
	src/server/store/flat_file.c src/server/store/flat_file.h \
	src/server/store/device.c src/server/store/device.h \
	src/server/store/backup.c src/server/store/backup.h \
	src/server/store/backup_files.c src/server/store/backup_files.h \
	src/server/store/restore.c src/server/store/adopt.c
