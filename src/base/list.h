/* list: an intrusive doubly linked list. A zeroed node is in no list; a head must be
 * list_init-ed. An object unlinks itself with list_del, which is safe when it is in none. */
#ifndef HOTBUNK_BASE_LIST_H
#define HOTBUNK_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev;
    struct list *next;
};

#define list_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#define list_each(node, head)                                                                      \
    for (struct list *node = (head)->next; node != (head); node = node->next)

/* The body may unlink and free `node`. */
#define list_each_safe(node, head)                                                                 \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
         node = node##_next, node##_next = node->next)

static inline void list_init(struct list *head)
{
    head->prev = head->next = head;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head || !head->next;
}

static inline void list_add_before(struct list *at, struct list *node)
{
    node->prev = at->prev;
    node->next = at;
    at->prev->next = node;
    at->prev = node;
}

static inline void list_add_tail(struct list *head, struct list *node)
{
    list_add_before(head, node);
}

static inline void list_del(struct list *node)
{
    if (!node->next)
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->prev = node->next = NULL;
}

static inline struct list *list_first(const struct list *head)
{
    return list_is_empty(head) ? NULL : head->next;
}

#endif
