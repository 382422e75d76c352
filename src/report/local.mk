libfrclient_a_SOURCES += \
	src/report/grid.c src/report/grid.h \
	src/report/gather.c src/report/gather.h \
	src/report/document.c src/report/document.h \
	src/report/query_sheet.c src/report/query_sheet.h \
	src/report/record.c src/report/record.h \
	src/report/html.c src/report/html.h src/report/html_chart.c src/report/html_queries.c src/report/html_priv.h
