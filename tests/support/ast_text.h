/*
 * ast_text.h - a syntax tree as one line of text, for tests.
 *
 * Expressions in prefix form, (+ a (* b c)); statements by kind with what matters of
 * them.
 */
#ifndef FR_TESTS_AST_TEXT_H
#define FR_TESTS_AST_TEXT_H

#include "base/buf.h"
#include "server/tsql/ast.h"

void ast_text_expr(struct fr_buf *b, const struct expr *x);
void ast_text(struct fr_buf *b, const struct stmt *first);

#endif
