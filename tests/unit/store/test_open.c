/* Opening: a new file, a damaged one, one of a newer program, one that is in use. */
#include "store_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>

#include "store/store_internal.h"
#include "store/store_schema.h"

static int try_open(struct fixture *fx, struct err *err)
{
    return store_open(fx->loop, &fx->options, &fx->store, err);
}

static unsigned count_files(const struct fixture *fx, const char *needle)
{
    DIR *dir = opendir(fx->dir);
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += strstr(entry->d_name, needle) != NULL;
    (void)closedir(dir);
    return count;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void a_new_file_opens_without_a_warning(void **state)
{
    struct fixture *fx = *state;
    struct err err = {.code = -1};

    assert_int_equal(try_open(fx, &err), 0);
    assert_int_equal(err.code, 0);
}

static void a_file_that_is_no_database_is_moved_aside_with_a_warning(void **state)
{
    struct fixture *fx = *state;
    struct err err;
    char junk[8192];

    memset(junk, 'x', sizeof(junk));
    write_file(fx->path, junk, sizeof(junk));

    assert_int_equal(try_open(fx, &err), 0);
    assert_int_equal(err.code, -EUCLEAN);
    assert_non_null(strstr(err.msg, "moved to"));
    assert_int_equal(count_files(fx, ".corrupt-"), 1);
}

static void a_database_with_a_damaged_page_is_moved_aside(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A), *back = NULL;
    struct err err;
    FILE *file;

    fixture_open(fx);
    fixture_put(fx, &job);
    fixture_close(fx);
    file = fopen(fx->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    for (int i = 0; i < 16384; i++)
        assert_int_not_equal(fputc(0xee, file), EOF);
    assert_int_equal(fclose(file), 0);

    assert_int_equal(try_open(fx, &err), 0);
    assert_int_equal(err.code, -EUCLEAN);
    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), -ENOENT);
    fixture_put(fx, &job);
    assert_int_equal(fx->last_status, 0);
}

static void a_newer_schema_is_refused_and_left_alone(void **state)
{
    struct fixture *fx = *state;
    struct err err;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(fx->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);

    assert_int_equal(try_open(fx, &err), -EPROTO);
    assert_non_null(strstr(err.msg, "newer"));
    assert_int_equal(count_files(fx, ".corrupt-"), 0);
}

static void the_schema_version_is_stamped(void **state)
{
    struct fixture *fx = *state;
    sqlite3_stmt *stmt = NULL;

    fixture_open(fx);
    assert_int_equal(store_db_prepare(fx->store->read_db, "PRAGMA user_version", &stmt), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 0), store_schema_version());
    (void)sqlite3_finalize(stmt);
}

static void commits_survive_a_killed_daemon(void **state)
{
    struct fixture *fx = *state;
    sqlite3_stmt *stmt = NULL;

    fixture_open(fx);
    assert_int_equal(store_db_prepare(fx->store->writer_db, "PRAGMA synchronous", &stmt),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 0), 1); /* NORMAL, not the OFF of the set-up */
    (void)sqlite3_finalize(stmt);
}

static void a_file_in_use_is_refused(void **state)
{
    struct fixture *fx = *state;
    struct store *second = NULL;
    struct err err;

    fixture_open(fx);

    assert_int_equal(store_open(fx->loop, &fx->options, &second, &err), -EBUSY);
    assert_non_null(strstr(err.msg, "--state-dir"));
    assert_null(second);
}

static void a_missing_directory_is_an_error(void **state)
{
    struct fixture *fx = *state;
    struct err err;

    fx->options.path = "/nonexistent/jobs.db";

    assert_int_equal(try_open(fx, &err), -ENOENT);
}

static void result_codes_become_errnos(void **state)
{
    (void)state;

    assert_int_equal(store_db_code(NULL, SQLITE_OK), 0);
    assert_int_equal(store_db_code(NULL, SQLITE_FULL), -ENOSPC);
    assert_int_equal(store_db_code(NULL, SQLITE_IOERR_WRITE), -EIO);
    assert_int_equal(store_db_code(NULL, SQLITE_BUSY_SNAPSHOT), -EBUSY);
    assert_int_equal(store_db_code(NULL, SQLITE_NOTADB), -EUCLEAN);
    assert_int_equal(store_db_code(NULL, SQLITE_CORRUPT_INDEX), -EUCLEAN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_opens_without_a_warning),
        TEST(a_file_that_is_no_database_is_moved_aside_with_a_warning),
        TEST(a_database_with_a_damaged_page_is_moved_aside),
        TEST(a_newer_schema_is_refused_and_left_alone),
        TEST(the_schema_version_is_stamped),
        TEST(commits_survive_a_killed_daemon),
        TEST(a_file_in_use_is_refused),
        TEST(a_missing_directory_is_an_error),
        cmocka_unit_test(result_codes_become_errnos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
