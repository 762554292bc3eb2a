/* doc_node: what a node is made of, for the doc_* files alone. */
#ifndef CORE_DOC_NODE_H
#define CORE_DOC_NODE_H

#include "core/doc.h"

struct node {
    enum node_kind kind;
    const char *key; /* of this member, or NULL */
    union {
        bool truth;
        int64_t number;
        double real;
        const char *text;
        struct {
            const struct node *first;
            size_t count;
        } children;
    };
};

#endif
