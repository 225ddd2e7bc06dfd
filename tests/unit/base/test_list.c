#include "unit.h"

#include "base/list.h"
#include "base/mem.h"

struct item {
    int number;
    struct list node;
};

static int sum_in_order(struct list *head)
{
    int sum = 0;

    list_each (node, head)
        sum = sum * 10 + list_entry(node, struct item, node)->number;
    return sum;
}

static void nodes_come_in_the_order_they_were_added(void **state)
{
    struct item a = {.number = 1}, b = {.number = 2}, c = {.number = 3};
    struct list head;

    (void)state;
    list_init(&head);
    assert_true(list_is_empty(&head));
    assert_null(list_first(&head));
    list_add_tail(&head, &a.node);
    list_add_tail(&head, &c.node);
    list_add_before(&c.node, &b.node);
    assert_int_equal(sum_in_order(&head), 123);
    assert_ptr_equal(list_first(&head), &a.node);
    list_del(&b.node);
    assert_int_equal(sum_in_order(&head), 13);
}

static void a_node_in_no_list_can_be_deleted(void **state)
{
    struct item a = {0};
    struct list head;

    (void)state;
    list_del(&a.node);
    list_init(&head);
    list_add_tail(&head, &a.node);
    list_del(&a.node);
    list_del(&a.node);
    assert_true(list_is_empty(&head));
}

static void a_zeroed_head_is_empty(void **state)
{
    struct list head = {0};

    (void)state;
    assert_true(list_is_empty(&head));
    assert_null(list_first(&head));
}

static void the_safe_loop_may_free_its_node(void **state)
{
    struct list head;
    int seen = 0;

    (void)state;
    list_init(&head);
    for (int i = 0; i < 3; i++) {
        struct item *item = mem_new(1, sizeof(*item));
        list_add_tail(&head, &item->node);
    }
    list_each_safe (node, &head) {
        struct item *item = list_entry(node, struct item, node);
        list_del(node);
        mem_free(item);
        seen++;
    }
    assert_int_equal(seen, 3);
    assert_true(list_is_empty(&head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_in_the_order_they_were_added),
        cmocka_unit_test(a_node_in_no_list_can_be_deleted),
        cmocka_unit_test(a_zeroed_head_is_empty),
        cmocka_unit_test(the_safe_loop_may_free_its_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
