#include "store/store_schema.h"

#include <errno.h>
#include <stdio.h>

#include "store/store_internal.h"

/* MIGRATIONS[n] leads from user_version n to n + 1. Never change one that was released: add. */
static const char *const MIGRATIONS[] = {
    /* seq orders jobs as they were accepted; the two partial indexes keep the start (unfinished
     * jobs) and the pruning (finished ones) independent of the other part's size. */
    "CREATE TABLE jobs ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id TEXT NOT NULL UNIQUE,"
    " model TEXT NOT NULL,"
    " params TEXT, image_path TEXT, text TEXT, collection TEXT,"
    " is_scratch INTEGER NOT NULL, is_bound INTEGER NOT NULL,"
    " created_ms INTEGER NOT NULL,"
    " state INTEGER NOT NULL, progress INTEGER NOT NULL, step TEXT, why TEXT,"
    " error_code TEXT, error TEXT,"
    " output_path TEXT, workspace_path TEXT, media_type TEXT, result TEXT,"
    " started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    " queue_ms INTEGER NOT NULL, load_ms INTEGER NOT NULL, run_ms INTEGER NOT NULL,"
    " held_bytes INTEGER NOT NULL"
    ");"
    "CREATE INDEX jobs_by_state ON jobs (state, seq);"
    "CREATE INDEX jobs_finished ON jobs (seq) WHERE state >= 2;"
    "CREATE INDEX jobs_unfinished ON jobs (seq) WHERE state < 2;",
};

int store_schema_version(void)
{
    return (int)ARRAY_LEN(MIGRATIONS);
}

static int schema_version_of(sqlite3 *db, int *out_version)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *out_version = sqlite3_column_int(stmt, 0);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt); /* repeats the error of the step */
    return rc;
}

static int schema_step(sqlite3 *db, int from)
{
    char version[48];
    int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

    (void)snprintf(version, sizeof(version), "PRAGMA user_version = %d; COMMIT", from + 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, MIGRATIONS[from], NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, version, NULL, NULL, NULL);
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(db))
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* the first error is what counts */
    return rc;
}

int store_schema_migrate(sqlite3 *db, struct err *err)
{
    int version = 0;
    int rc = schema_version_of(db, &version);

    if (rc == SQLITE_OK && version > store_schema_version())
        return err_set(err, -EPROTO,
                       "the job store has version %d, this program knows %d: run the newer "
                       "hotbunk, or give another --state-dir",
                       version, store_schema_version());
    if (rc == SQLITE_OK && version == 0) /* a new file: nothing in it could be lost */
        rc = schema_step(db, version++);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    for (; rc == SQLITE_OK && version < store_schema_version(); version++)
        rc = schema_step(db, version);
    if (rc == SQLITE_OK)
        return 0;
    return err_set(err, store_db_code(db, rc), "cannot prepare the job store: %s",
                   sqlite3_errmsg(db));
}
