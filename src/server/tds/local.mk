libfrserver_a_SOURCES +=
