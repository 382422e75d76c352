# The converters against references of their own, in Python.
check_PROGRAMS += tests/property/convert_values
tests_property_convert_values_SOURCES = tests/property/convert_values.c
tests_property_convert_values_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
check_PROGRAMS += tests/property/split_rows
tests_property_split_rows_SOURCES = tests/property/split_rows.c
tests_property_split_rows_LDADD = libfrclient.a libfrbase.a
TESTS += tests/property/test_properties.py tests/property/test_split.py
EXTRA_DIST += tests/property/test_properties.py tests/property/test_split.py tests/property/reference.py tests/property/values.py
