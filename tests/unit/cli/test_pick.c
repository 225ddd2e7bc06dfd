/* Which model does the work when none is named. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/work.h"

#define MESH(id, active)                                                                           \
    "{\"id\":\"" id "\",\"input\":\"image\",\"output\":\"mesh\",\"active\":" active                \
    ",\"aliases\":[\"" id "-alias\"]}"
#define AUDIO(id) "{\"id\":\"" id "\",\"input\":\"text\",\"output\":\"audio\",\"active\":false}"

/* The id, or NULL with the exit code 2. */
static char *pick(const char *models, const char *named, const char *input, const char *kind)
{
    static const struct cli_option model = {"model", 'm', "ID", "", false};
    auto_free char *text = mem_printf("{\"models\":[%s]}", models);
    struct cli cli = {0};
    struct work work = {.cli = &cli};
    char *id;
    int code;

    assert_int_equal(json_parse_object(slice_str(text), &work.models, NULL), 0);
    if (named)
        cli.args.given[cli.args.given_count++] = (struct cli_given){&model, named};
    code = work_pick_model(&work, input, kind, strcmp(input, "image") == 0);
    assert_true(code == (work.model_id ? 0 : CLI_EXIT_USAGE));
    id = mem_strdup(work.model_id);
    json_object_put(work.models);
    return id;
}

static void assert_pick(const char *models, const char *named, const char *input, const char *kind,
                        const char *expected)
{
    auto_free char *id = pick(models, named, input, kind);

    if (expected)
        assert_string_equal(id, expected);
    else
        assert_null(id);
}

static void the_active_model_comes_first_for_pictures(void **state)
{
    (void)state;
    assert_pick(MESH("a", "false") "," MESH("b", "true"), NULL, "image", "mesh", "b");
}

static void else_the_first_that_fits(void **state)
{
    (void)state;
    assert_pick(AUDIO("s") "," MESH("a", "false") "," MESH("b", "false"), NULL, "image", "mesh",
                "a");
}

static void speech_needs_a_choice_when_there_are_several(void **state)
{
    (void)state;
    assert_pick(AUDIO("s"), NULL, "text", "audio", "s");
    assert_pick(AUDIO("s") "," AUDIO("t"), NULL, "text", "audio", NULL);
    assert_pick(AUDIO("s") "," AUDIO("t"), "t", "text", "audio", "t");
}

static void none_that_fits_is_an_error(void **state)
{
    (void)state;
    assert_pick(AUDIO("s"), NULL, "image", "mesh", NULL);
    assert_pick("", NULL, "text", "audio", NULL);
}

static void a_name_is_passed_on_even_if_it_is_unknown(void **state)
{
    (void)state;
    assert_pick(MESH("a", "true"), "a-alias", "image", "mesh", "a-alias");
    assert_pick(MESH("a", "true"), "other", "image", "mesh", "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_active_model_comes_first_for_pictures),
        cmocka_unit_test(else_the_first_that_fits),
        cmocka_unit_test(speech_needs_a_choice_when_there_are_several),
        cmocka_unit_test(none_that_fits_is_an_error),
        cmocka_unit_test(a_name_is_passed_on_even_if_it_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
