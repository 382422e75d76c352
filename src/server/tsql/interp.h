/*
 * interp.h - running statements.
 *
 * A statement's outcome is a struct-free flow value; an error is in ctx->err when the
 * flow is FLOW_ERROR.  All in the session's thread.
 */
#ifndef FRD_TSQL_INTERP_H
#define FRD_TSQL_INTERP_H

#include "server/tsql/session_priv.h"

enum flow {
    FLOW_NEXT,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_RETURN, /* frame->return_status */
    FLOW_GOTO,   /* frame->label */
    FLOW_ERROR,  /* ctx->err is on its way to a CATCH of an outer scope, or has been
                    reported */
    FLOW_STOP    /* attention, KILL, lost client: nothing catches it */
};

/* One running batch or procedure body: what the interpreter adds to a struct exec_ctx. */
struct frame {
    struct exec_ctx ctx;
    struct frame *caller;
    enum done_kind done_kind;
    int32_t return_status;
    const char *label; /* FLOW_GOTO: where to */
    const struct batch *batch;
    int try_depth;   /* TRY blocks of this frame around the running statement */
    bool reported;   /* FLOW_ERROR: the error has been sent already */
    bool ends_batch; /* FLOW_ERROR: the callers end too, not only this frame */
    bool skip_try;   /* FLOW_ERROR: this frame's TRY blocks do not catch it */
    enum { RAISED_BY_SERVER, RAISED_BY_RAISERROR, RAISED_BY_THROW } raised;
};

static inline struct frame *frame_of(struct exec_ctx *ctx)
{
    return (struct frame *)(void *)ctx; /* ctx is the first member */
}

/* ---- interp.c ---- */
enum flow run_list(struct frame *f, const struct stmt *first);
/* caller NULL: the client's batch.  false: out of memory or nested too deeply (217), in
 * *e. */
bool frame_init(struct frame *f, struct session *s, struct frame *caller,
                struct sqlerr *e);
/* Declare the body's variables and run it. */
enum flow frame_run(struct frame *f, const struct batch *b, const struct stmt *body);
/* What a callee's outcome means for the statement that called it; frees the callee. */
enum flow frame_end(struct frame *f, enum flow flow);
/* An error of the running statement, in f->ctx.err: report it or send it to a CATCH. */
enum flow statement_error(struct frame *f, const struct stmt *st);
/* Value of an expression, as `want` (NULL: its own type); literals and variables at once.
 */
bool eval(struct exec_ctx *ctx, const struct expr *x, const struct sqltype *want,
          struct value *out);
/* NULL: *is_null. */
bool eval_int(struct exec_ctx *ctx, const struct expr *x, int64_t *out, bool *is_null);
/* As nvarchar(max) text; "" for NULL. Valid until value_free(out). */
bool eval_text(struct exec_ctx *ctx, const struct expr *x, struct value *out);
/* cmd: the statement's number in DONE; 0 = none.  rows -1: it has no count. */
enum { DONE_CMD_SET = 249 };
void send_done(struct frame *f, uint16_t cmd, int64_t rows, bool failed);

/* ---- interp_data.c ---- */
enum flow run_data(struct frame *f, const struct stmt *st);

/* ---- interp_proc.c ---- */
enum flow run_exec(struct frame *f, const struct stmt *st);
enum flow run_create_proc(struct frame *f, const struct stmt *st);
enum flow run_drop_proc(struct frame *f, const struct stmt *st);
void proc_cache_clear(struct session *s);

/* A call as EXEC and RPC make it. */
struct call_arg {
    const char *name; /* "@p", or NULL: positional */
    bool output;
    bool use_default;
    struct value value; /* in, borrowed; out of an output argument: owned */
};
struct call {
    const char *proc; /* for messages, as written */
    const struct name *name;
    struct call_arg *args;
    size_t nargs;
    int32_t status; /* out */
};
/* System procedure, then the catalog's. */
enum flow call_run(struct frame *f, struct call *c);
/* A text with declared parameters (sp_executesql, EXEC('...'), sp_execute). */
struct text_call {
    const char *proc; /* for messages about arguments */
    const char *sql;
    size_t bytes;
    const char *params; /* "@a int, @b ...", or NULL */
    size_t params_bytes;
    struct call_arg *args;
    size_t nargs;
};
enum flow call_text(struct frame *f, struct text_call *t);

/* ---- sysproc.c ---- */
typedef enum flow (*sysproc_fn)(struct frame *f, struct call *c);
/* NULL when there is none of that name. */
sysproc_fn sysproc_find(const struct name *name);

/* ---- sysproc_text.c ---- */
bool sysproc_text_find(const struct name *name);
enum flow sysproc_text_run(struct frame *f, struct call *c);

/* ---- interp_backup.c ---- */
bool run_backup(struct frame *f, const struct stmt *st);

/* ---- interp_bulk.c ---- */
bool run_bulk_insert(struct frame *f, const struct stmt *st);

/* ---- interp_misc.c ---- */
enum flow run_misc(struct frame *f, const struct stmt *st);
enum flow run_raiserror(struct frame *f, const struct stmt *st);
enum flow run_throw(struct frame *f, const struct stmt *st);
bool message_format(struct exec_ctx *ctx, const char *fmt, const struct value *args,
                    size_t n, char *out, size_t size);

#endif
