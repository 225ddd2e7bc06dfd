/* store_schema: the tables, and the steps that bring an older file up to date. */
#ifndef HOTBUNK_STORE_SCHEMA_H
#define HOTBUNK_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/err.h"

/* In one transaction per step; turns synchronous to NORMAL. 0, -EPROTO (the file is newer than this
 * program), or what store_db_code says. */
int store_schema_migrate(sqlite3 *db, struct err *err) MUSTCHECK;

/* The newest version, for tests. */
int store_schema_version(void);

#endif
