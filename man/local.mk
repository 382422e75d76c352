dist_man_MANS = man/fullrack.1 man/fullrack.json.5 man/spawnmany.1 man/fullrackd.8
dist_pkgdata_DATA += schema/fullrack.schema.json
