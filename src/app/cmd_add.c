/* fullrack add: queue one task per source. */
#include "app/command.h"
#include "app/open.h"
#include "app/sources.h"
#include "control/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With several sources each gets a reject file of its own, as load does it. */
static char *options_text(const struct fr_settings *s, const char *source, size_t count)
{
    json_t *o = fr_settings_to_json(s, FR_GROUP_LOAD);
    char *text, *path = NULL;

    if (o != NULL && s->load.error_file != NULL) {
        const char *slash = strrchr(source, '/');
        char *full = realpath(".", NULL);

        if (asprintf(&path, "%s%s%s%s%s",
                     s->load.error_file[0] == '/' || full == NULL ? "" : full,
                     s->load.error_file[0] == '/' ? "" : "/", s->load.error_file,
                     count > 1 ? "." : "",
                     count > 1 ? (slash == NULL ? source : slash + 1) : "") >= 0)
            json_object_set_new(o, "error-file", json_string(path));
        free(path);
        free(full);
    }
    text = o == NULL ? NULL : json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static fr_status add_all(struct fr_settings *s, struct fr_control *control,
                         const char *table, const struct sources *list, json_t *added,
                         struct fr_err *err)
{
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < list->count; i++) {
        char *options = options_text(s, list->items[i], list->count);
        struct fr_new_task t = {
            .source = list->items[i],
            .server = s->server,
            .database = s->database == NULL ? "" : s->database,
            .table = table,
            .options = options,
            .range_end = -1,
            .priority = s->priority,
            .max_attempts = s->max_attempts,
            .again = s->again,
        };
        int64_t task_id = 0;
        bool was_added = false;

        st = options == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for options")
                             : fr_queue_add(control, &t, &task_id, &was_added, err);
        free(options);
        if (st == FR_OK && !was_added)
            st = fr_err_set(
                err, FR_EARG,
                "%s is already queued for %s as task %lld (--again queues it once more)",
                t.source, table, (long long)task_id);
        if (st == FR_OK)
            json_array_append_new(added, json_pack("{s:I, s:s, s:s}", "task_id",
                                                   (json_int_t)task_id, "source",
                                                   t.source, "table", table));
    }
    return st;
}

/* A source the queue's workers could never open, or options no plan could have, is said
 * at once. */
static fr_status check(const struct sources *list, struct fr_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], "-") == 0)
            return fr_err_set(err, FR_EARG, "standard input cannot be queued: use load");
    return FR_OK;
}

int command_add(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_connector c;
    struct fr_control *control = NULL;
    struct sources list = {0};
    json_t *added = json_array();
    fr_status st;

    st = sources_expand(args->items + 1, args->count - 1, true, &list, err);
    if (st == FR_OK)
        st = check(&list, err);
    if (st == FR_OK)
        st = sources_check_reject_names(&list, s->load.error_file, err);
    if (st == FR_OK) {
        st = open_control(s, &c, &control, err);
        if (st == FR_OK)
            st = add_all(s, control, args->items[0], &list, added, err);
        fr_control_close(&control);
        fr_connector_free(&c);
    }
    if (st == FR_OK && s->json) {
        json_t *doc = json_pack("{s:O}", "tasks", added);

        json_dumpf(doc, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(doc);
    } else if (!s->quiet && json_array_size(added) > 0) {
        printf("%zu task%s queued\n", json_array_size(added),
               json_array_size(added) == 1 ? "" : "s");
    }
    json_decref(added);
    sources_free(&list);
    return fr_status_exit(st);
}
