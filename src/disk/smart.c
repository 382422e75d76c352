#include "disk/smart.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double bytes_per_data_unit = 512000, hours_per_minute = 1.0 / 60;
static const double max_figure = 1e30;

fr_status fr_smart_document(const char *text, size_t n, const char *where, json_t **out,
                            struct fr_err *err)
{
    json_error_t bad;

    *out = json_loadb(text, n, JSON_DECODE_INT_AS_REAL, &bad);
    if (*out == NULL)
        return fr_err_set(err, FR_EARG, "%s: line %d, column %d: %s", where, bad.line,
                          bad.column, bad.text);
    if (json_is_object(*out))
        return FR_OK;
    json_decref(*out);
    *out = NULL;
    return fr_err_set(err, FR_EARG, "%s: it is no JSON object", where);
}

/* A number of the path "a.b.c"; also one in a text, as nvme prints what is longer than 64
 * bits.  -1: there is none that makes sense. */
static double number_at(const json_t *o, const char *path)
{
    char key[64];
    double got = -1;

    while (o != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof key, "%.*s", (int)n, path);
        o = json_object_get(o, key);
        path += n + (path[n] == '.' ? 1 : 0);
    }
    if (json_is_number(o)) {
        got = json_number_value(o);
    } else if (json_is_string(o)) {
        (void)fr_num_real(json_string_value(o), max_figure, &got);
    }
    return isfinite(got) && got >= 0 && got <= max_figure ? got : -1;
}

static void copy_text(char *out, size_t bytes, const json_t *v)
{
    const char *text = json_string_value(v);
    size_t n;

    snprintf(out, bytes, "%s", text == NULL ? "" : text);
    n = strlen(out);
    /* a character that was cut is no character */
    while (n > 0 && text != NULL && strlen(text) >= bytes &&
           ((unsigned char)out[n - 1] & 0xC0) == 0x80)
        out[--n] = '\0';
    if (n > 0 && text != NULL && strlen(text) >= bytes &&
        ((unsigned char)out[n - 1] & 0x80) != 0)
        out[n - 1] = '\0';
    for (char *p = out; *p != '\0'; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7F)
            *p = ' ';
}

static void set_written(struct fr_smart *s, double bytes, const char *by)
{
    if (bytes < 0 || bytes > max_figure || s->written_bytes >= 0)
        return;
    s->written_bytes = bytes;
    snprintf(s->written_by, sizeof s->written_by, "%s", by);
}

static void set_used(struct fr_smart *s, double percent, const char *by)
{
    if (percent < 0 || s->used_percent >= 0)
        return;
    s->used_percent = percent;
    snprintf(s->used_by, sizeof s->used_by, "%s", by);
}

/* -- ATA attributes ------------------------------------------------------------------ */

/* What their raw values count, in bytes; 0: sectors of this device. */
static const struct {
    const char *name;
    double unit_bytes;
    bool is_read;
} volumes[] = {
    {"Total_LBAs_Written", 0, false},
    {"Host_Writes_32MiB", 32.0 * 1048576, false},
    {"Host_Writes_GiB", 1073741824.0, false},
    {"Lifetime_Writes_GiB", 1073741824.0, false},
    {"Total_Writes_GiB", 1073741824.0, false},
    {"Total_Host_Writes_GiB", 1073741824.0, false},
    {"Host_Writes_MiB", 1048576.0, false},
    {"Total_Host_Sector_Write", 0, false},
    {"Host_Sectors_Written", 0, false},
    {"Total_LBAs_Read", 0, true},
    {"Host_Reads_32MiB", 32.0 * 1048576, true},
    {"Host_Reads_GiB", 1073741824.0, true},
    {"Lifetime_Reads_GiB", 1073741824.0, true},
    {"Total_Reads_GiB", 1073741824.0, true},
};

/* Their normalised value is what is left in percent, 100 when the device is new; those
 * that say it best first. */
static const char *const left_names[] = {
    "Percent_Lifetime_Remain", "Percent_Life_Remaining",  "SSD_Life_Left",
    "Remaining_Lifetime_Perc", "Media_Wearout_Indicator", "Wear_Leveling_Count",
};

static const json_t *find_attribute(const json_t *table, const char *name)
{
    size_t i;
    json_t *a;

    json_array_foreach(table, i, a)
    {
        const char *got = json_string_value(json_object_get(a, "name"));

        if (got != NULL && strcasecmp(got, name) == 0)
            return a;
    }
    return NULL;
}

static void take_attributes(const json_t *document, struct fr_smart *s)
{
    const json_t *table =
        json_object_get(json_object_get(document, "ata_smart_attributes"), "table");
    double sector = number_at(document, "logical_block_size");

    for (size_t i = 0; i < sizeof volumes / sizeof volumes[0]; i++) {
        double raw = number_at(find_attribute(table, volumes[i].name), "raw.value");
        double unit = volumes[i].unit_bytes;

        if (unit <= 0)
            unit = sector > 0 ? sector : 512;
        if (raw >= 0 && volumes[i].is_read && s->read_bytes < 0)
            s->read_bytes = raw * unit;
        else if (raw >= 0 && !volumes[i].is_read)
            set_written(s, raw * unit, volumes[i].name);
    }
    for (size_t i = 0; !s->is_rotating && i < sizeof left_names / sizeof *left_names;
         i++) {
        double left = number_at(find_attribute(table, left_names[i]), "value");

        /* above 100 it counts something else */
        if (left <= 100)
            set_used(s, left < 0 ? -1 : 100 - left, left_names[i]);
    }
}

/* -- programs ------------------------------------------------------------------------ */

static void take_nvme_log(const json_t *log, struct fr_smart *s)
{
    double units = number_at(log, "data_units_written");

    snprintf(s->kind, sizeof s->kind, "NVMe");
    set_written(s, units < 0 ? -1 : units * bytes_per_data_unit, "data_units_written");
    units = number_at(log, "data_units_read");
    s->read_bytes = units < 0 ? -1 : units * bytes_per_data_unit;
    set_used(s, number_at(log, "percentage_used"), "percentage_used");
    /* nvme-cli */
    set_used(s, number_at(log, "percent_used"), "percent_used");
    s->power_on_hours = number_at(log, "power_on_hours");
}

static void take_power_on(const json_t *document, struct fr_smart *s)
{
    double hours = number_at(document, "power_on_time.hours");
    double minutes = number_at(document, "power_on_time.minutes");

    if (hours >= 0)
        s->power_on_hours = hours + (minutes > 0 ? minutes * hours_per_minute : 0);
}

/* SCSI counts GB of 10^9 bytes, printed as a text with decimals. */
static void take_scsi(const json_t *document, struct fr_smart *s)
{
    const json_t *counters = json_object_get(document, "scsi_error_counter_log");
    double gigabytes = number_at(counters, "write.gigabytes_processed");

    set_written(s, gigabytes < 0 ? -1 : gigabytes * 1e9, "gigabytes_processed");
    set_used(s, number_at(document, "scsi_percentage_used_endurance_indicator"),
             "scsi_percentage_used_endurance_indicator");
}

static void take_smartctl(const json_t *document, struct fr_smart *s)
{
    const json_t *device = json_object_get(document, "device");
    const json_t *nvme = json_object_get(document, "nvme_smart_health_information_log");
    const json_t *passed =
        json_object_get(json_object_get(document, "smart_status"), "passed");

    copy_text(s->device, sizeof s->device, json_object_get(device, "name"));
    copy_text(s->model, sizeof s->model, json_object_get(document, "model_name"));
    if (s->model[0] == '\0')
        copy_text(s->model, sizeof s->model,
                  json_object_get(document, "scsi_model_name"));
    s->is_rotating = number_at(document, "rotation_rate") > 0;
    if (json_is_boolean(passed))
        s->failing = json_is_true(passed) ? 0 : 1;
    if (nvme != NULL)
        take_nvme_log(nvme, s);
    else
        copy_text(s->kind, sizeof s->kind, json_object_get(device, "protocol"));
    take_power_on(document, s);
    /* smartctl 7.4 and later, of any protocol */
    set_used(s, number_at(document, "endurance_used.current_percent"), "endurance_used");
    take_attributes(document, s);
    take_scsi(document, s);
}

/* smartctl(8), exit status: bit 0 the command line, bit 1 the device did not open.  Of
 * its messages the first error. */
static fr_status check_smartctl(const json_t *program, struct fr_err *err)
{
    double exit_status = number_at(program, "exit_status");
    unsigned bits = exit_status > 0 && exit_status < 256 ? (unsigned)exit_status : 0;
    const char *says = "it says nothing";
    size_t i;
    json_t *m;

    if ((bits & 3) == 0)
        return FR_OK;
    json_array_foreach(json_object_get(program, "messages"), i, m)
    {
        const char *text = json_string_value(json_object_get(m, "string"));

        if (text != NULL) {
            says = text;
            break;
        }
    }
    return fr_err_set(err, FR_EIO, "smartctl cannot ask the device: %.600s%s", says,
                      strcasestr(says, "permission") != NULL
                          ? " (it needs root: sudo, or save its JSON as root and read it "
                            "with --file)"
                          : "");
}

static bool tells_nothing(const struct fr_smart *d)
{
    return d->device[0] == '\0' && d->model[0] == '\0' && d->kind[0] == '\0' &&
           d->written_bytes < 0 && d->read_bytes < 0 && d->used_percent < 0 &&
           d->power_on_hours < 0 && d->failing < 0;
}

fr_status fr_smart_read(const json_t *document, struct fr_smart *out, struct fr_err *err)
{
    const json_t *program = json_object_get(document, "smartctl");
    fr_status st = FR_OK;

    *out = (struct fr_smart){.written_bytes = -1,
                             .read_bytes = -1,
                             .used_percent = -1,
                             .power_on_hours = -1,
                             .failing = -1};
    if (json_is_object(program)) {
        st = check_smartctl(program, err);
        if (st == FR_OK)
            take_smartctl(document, out);
        if (st == FR_OK && tells_nothing(out))
            st = fr_err_set(err, FR_EIO,
                            "smartctl told nothing of the device: neither what it is nor "
                            "what was written to it (is this the whole of what "
                            "`smartctl --json -a` printed?)");
    } else if (json_object_get(document, "data_units_written") != NULL) {
        take_nvme_log(document, out);
    } else {
        st = fr_err_set(err, FR_EARG,
                        "this is neither of `smartctl --json -a` nor of `nvme smart-log "
                        "-o json`");
    }
    return st;
}
