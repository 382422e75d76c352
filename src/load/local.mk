libfrclient_a_SOURCES += \
	src/load/options.c src/load/options.h src/load/throttle.c src/load/throttle.h \
	src/load/reject_table.c src/load/reject_table.h \
	src/load/split.c src/load/terminator.c src/load/split.h src/load/block.h \
	src/load/convert.c src/load/convert.h \
	src/load/convert_number.c \
	src/load/convert_decimal.c \
	src/load/convert_date.c \
	src/load/convert_date_format.c \
	src/load/convert_codepage.c \
	src/load/convert_text.c \
	src/load/long_text.c src/load/long_text.h
libfrclient_a_SOURCES += \
	src/load/source.c src/load/source.h src/load/packing.c src/load/packing.h \
	src/load/gunzip.c src/load/gunzip.h \
	src/load/encoding.c src/load/encoding.h \
	src/load/sniff.c src/load/sniff_look.c src/load/sniff_header.c src/load/sniff_bytes.c src/load/sniff_text.c src/load/sniff_file.c src/load/sniff.h src/load/sniff_priv.h \
	src/load/reader.c src/load/reader.h \
	src/load/ranges.c src/load/ranges_csv.c src/load/ranges.h src/load/ranges_priv.h \
	src/load/plan.c src/load/plan_map.c src/load/plan_row.c src/load/plan.h src/load/plan_priv.h \
	src/load/layout.c src/load/layout.h src/load/layout_priv.h src/load/layout_native.c src/load/host_type.c \
	src/load/split_layout.c src/load/split_priv.h \
	src/load/format_file.c src/load/format_file.h src/load/format_file_priv.h src/load/format_file_xml.c \
	src/load/native.c src/load/native_text.c src/load/native.h src/load/plan_layout.c \
	src/load/hint.c src/load/hint.h \
	src/load/preflight.c src/load/preflight_facts.c src/load/preflight_rights.c src/load/preflight.h src/load/preflight_priv.h \
	src/load/index.c src/load/index.h src/load/index_scan.h \
	src/load/direct.c src/load/direct.h src/load/direct_priv.h src/load/direct_kernels.h \
	src/load/direct_plain.c src/load/direct_avx2.c src/load/direct_avx512.c src/load/direct_vector.h src/load/digits.h \
	src/load/calendar.c src/load/calendar.h \
	src/load/reject.c src/load/reject.h \
	src/load/ledger.c src/load/ledger.h src/load/ledger_priv.h \
	src/load/stage.c src/load/stage_bring.c src/load/stage.h \
	src/load/stage_partition.c src/load/stage_partition.h \
	src/load/bulk_insert.c src/load/bulk_insert_options.c src/load/bulk_insert.h \
	src/load/bulk_insert_values.c src/load/bulk_insert_values.h \
	src/load/undo.c src/load/undo.h \
	src/load/check.c src/load/check.h \
	src/load/suggest.c src/load/suggest.h src/load/shape.c \
	src/load/suggest_value.c src/load/suggest_value.h \
	src/load/counters.c src/load/counters.h \
	src/load/loader.c src/load/loader.h src/load/loader_priv.h \
	src/load/batch.c \
	src/load/rows.c \
	src/load/retry.c
