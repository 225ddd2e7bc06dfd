/* The two SQLite connections: opening them, moving a damaged file aside, result codes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/file.h"
#include "store/store_internal.h"
#include "store/store_schema.h"

#define DB_BUSY_MS          2000
#define DB_CACHE_KIB        512 /* each; the daemon must stay small */
#define DB_WAL_LIMIT_BYTES  4194304
#define DB_CHECKPOINT_PAGES 1000

int store_db_code(sqlite3 *db, int sqlite_rc)
{
    int system_errno = db ? sqlite3_system_errno(db) : 0;

    switch (sqlite_rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EUCLEAN;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return system_errno == ENOSPC || system_errno == EDQUOT ? -ENOSPC
               : system_errno > 0                               ? -system_errno
                                                                : -EIO;
    default:
        return -EIO;
    }
}

int store_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out_stmt)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out_stmt, NULL);
}

static int db_connect(const char *path, int flags, sqlite3 **out_db)
{
    char pragmas[256];
    int rc = sqlite3_open_v2(path, out_db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             NULL);

    if (rc != SQLITE_OK)
        return rc;
    (void)sqlite3_busy_timeout(*out_db, DB_BUSY_MS); /* cannot fail */
    /* OFF until the tables are there (store_schema.c): a new, empty file would pay for several
     * syncs (30 ms); what a power cut leaves of it is moved aside at the next start. */
    (void)snprintf(pragmas, sizeof(pragmas),
                   "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;"
                   "PRAGMA cache_size = -%d; PRAGMA journal_size_limit = %d;"
                   "PRAGMA wal_autocheckpoint = %d",
                   DB_CACHE_KIB, DB_WAL_LIMIT_BYTES, DB_CHECKPOINT_PAGES);
    return sqlite3_exec(*out_db, pragmas, NULL, NULL, NULL);
}

/* Reads through the indexes that the start will use: finds most damage before work begins. */
static int db_probe(sqlite3 *db)
{
    return sqlite3_exec(db,
                        "SELECT count(*) FROM jobs INDEXED BY jobs_unfinished WHERE state < 2;"
                        "SELECT id FROM jobs ORDER BY seq DESC LIMIT 1",
                        NULL, NULL, NULL);
}

static int db_fail(sqlite3 *db, int rc, const char *path, struct err *err)
{
    int code = store_db_code(db, rc);

    return err_set(err, code, "cannot open the job store %s: %s", path,
                   db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

static int db_open_both(struct store *store, struct err *err)
{
    int rc = db_connect(store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store->writer_db);
    int code;

    if (rc != SQLITE_OK)
        return db_fail(store->writer_db, rc, store->path, err);
    code = store_schema_migrate(store->writer_db, err);
    if (code != 0)
        return code;
    rc = db_probe(store->writer_db);
    for (size_t i = 0; rc == SQLITE_OK && i < STORE_STMT_COUNT; i++)
        rc = store_db_prepare(store->writer_db, STORE_JOBS_SQL[i], &store->stmts[i]);
    if (rc != SQLITE_OK)
        return db_fail(store->writer_db, rc, store->path, err);
    rc = db_connect(store->path, SQLITE_OPEN_READWRITE, &store->read_db);
    return rc == SQLITE_OK ? 0 : db_fail(store->read_db, rc, store->path, err);
}

void store_db_close(struct store *store)
{
    for (size_t i = 0; i < STORE_STMT_COUNT; i++) {
        (void)sqlite3_finalize(store->stmts[i]); /* repeats the error of its last step */
        store->stmts[i] = NULL;
    }
    (void)sqlite3_close(store->read_db);
    (void)sqlite3_close(store->writer_db); /* the last one checkpoints; a failure keeps the WAL */
    store->read_db = store->writer_db = NULL;
}

/* Moves the file and what belongs to it to <path>.corrupt-<time>. */
static int db_move_aside(struct store *store, const char *why, struct err *err)
{
    static const char *const PARTS[] = {"-wal", "-shm", ""};
    auto_free char *to = mem_printf("%s.corrupt-%lld", store->path, (long long)loop_wall_ms());

    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
        auto_free char *old = mem_printf("%s%s", store->path, PARTS[i]);
        auto_free char *new = mem_printf("%s%s", to, PARTS[i]);
        if (rename(old, new) != 0 && errno != ENOENT)
            return err_set(err, -errno, "cannot move the damaged job store %s aside: %s", old,
                           strerror(errno));
    }
    (void)err_set(err, -EUCLEAN,
                  "the job store was damaged (%s): it was moved to %s and a new, empty one is used",
                  why, to);
    return 0;
}

/* One daemon per file: an advisory lock that ends with the process. */
static int db_lock(struct store *store, struct err *err)
{
    auto_free char *path = mem_printf("%s.lock", store->path);

    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock_fd < 0)
        return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return err_set(err, -EBUSY,
                   "another hotbunk uses %s: stop it, or give this one another --state-dir",
                   store->path);
}

int store_db_open(struct store *store, struct err *err)
{
    struct err why = {0};
    int rc = db_lock(store, err);

    if (rc != 0)
        return rc;
    rc = db_open_both(store, &why);
    if (rc == -EUCLEAN) {
        struct err damage = why;
        store_db_close(store);
        rc = db_move_aside(store, damage.msg, &why);
        if (rc == 0) {
            struct err warning = why;
            rc = db_open_both(store, &why);
            why = rc == 0 ? warning : why;
        }
    }
    if (err)
        *err = why;
    return rc;
}
