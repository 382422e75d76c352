/* Wear: what devices say of themselves, and the formulas. */
#include "disk/wear.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* written, used percent, hours on, rotating; rate, rated; what comes of it.  TB, GB. */
static const struct {
    double written_tb, used, hours;
    bool is_rotating;
    double rate_gb, rated_tb;
    enum fr_wear_state state;
    double rated, left_percent, left_tb, days, rate;
} wears[] = {
    /* the device's own word: 100 TB are 25 %, so 400 TB are rated */
    {100, 25, 2400, false, 500, -1, FR_WEAR_LASTS, 400, 75, 300, 600, 500},
    /* no rate told: 100 TB in 100 days */
    {100, 25, 2400, false, -1, -1, FR_WEAR_LASTS, 400, 75, 300, 300, 1000},
    /* the data sheet is stricter, and is not */
    {100, 25, 2400, false, 500, 200, FR_WEAR_LASTS, 200, 50, 100, 200, 500},
    {100, 25, 2400, false, 500, 1000, FR_WEAR_LASTS, 400, 75, 300, 600, 500},
    /* nothing written yet */
    {0, 0, 10, false, 500, -1, FR_WEAR_UNKNOWN, -1, 100, -1, -1, 500},
    {0, 0, 10, false, 500, 600, FR_WEAR_LASTS, 600, 100, 600, 1200, 500},
    {0, 0, 0, false, -1, -1, FR_WEAR_UNKNOWN, -1, 100, -1, -1, -1},
    /* under one percent */
    {1, 0, 24, false, 10, -1, FR_WEAR_UNKNOWN, -1, 100, -1, -1, 10},
    /* all of it, and more: NVMe counts up to 255 */
    {400, 100, 2400, false, 500, -1, FR_WEAR_OVER, 400, 0, 0, 0, 500},
    {900, 255, 2400, false, 500, -1, FR_WEAR_OVER, 352.94117647, 0, 0, 0, 500},
    {601, 3, 2400, false, 0, 600, FR_WEAR_OVER, 600, 0, 0, 0, 0},
    /* rate 0 */
    {100, 25, 2400, false, 0, -1, FR_WEAR_ENDLESS, 400, 75, 300, -1, 0},
    {0, 0, 2400, false, -1, 600, FR_WEAR_ENDLESS, 600, 100, 600, -1, 0},
    /* unknown fields */
    {-1, 25, 2400, false, 500, -1, FR_WEAR_UNKNOWN, -1, 75, -1, -1, 500},
    {100, -1, 2400, false, 500, -1, FR_WEAR_UNKNOWN, -1, -1, -1, -1, 500},
    {100, -1, -1, false, 500, 300, FR_WEAR_LASTS, 300, 66.666666667, 200, 400, 500},
    {100, 25, -1, false, -1, -1, FR_WEAR_UNKNOWN, 400, 75, 300, -1, -1},
    {-1, -1, -1, false, -1, 300, FR_WEAR_UNKNOWN, -1, -1, -1, -1, -1},
    {-1, 25, -1, false, 0, -1, FR_WEAR_ENDLESS, -1, 75, -1, -1, 0},
    /* a rotating disk */
    {30, -1, 24000, true, 500, -1, FR_WEAR_NONE, -1, -1, -1, -1, 500},
};

static double times(double v, double unit)
{
    return v < 0 ? -1 : v * unit;
}

static void assert_close(double got, double want, double unit, const char *what)
{
    double scaled = times(want, unit);

    ck_assert_msg(fabs(got - scaled) <= 1e-6 * fabs(scaled) + 1e-9,
                  "%s: %.9g, expected %.9g", what, got, scaled);
}

START_TEST(test_wear)
{
    struct fr_smart s = {.written_bytes = times(wears[_i].written_tb, 1e12),
                         .used_percent = wears[_i].used,
                         .power_on_hours = wears[_i].hours,
                         .is_rotating = wears[_i].is_rotating};
    struct fr_wear_wish wish = {.rate_bytes = times(wears[_i].rate_gb, 1e9),
                                .rated_bytes = times(wears[_i].rated_tb, 1e12)};
    struct fr_wear got;

    fr_wear_reckon(&s, &wish, &got);
    ck_assert_str_eq(fr_wear_state_name(got.state), fr_wear_state_name(wears[_i].state));
    assert_close(got.rated_bytes, wears[_i].rated, 1e12, "rated");
    assert_close(got.left_percent, wears[_i].left_percent, 1, "left percent");
    assert_close(got.left_bytes, wears[_i].left_tb, 1e12, "left");
    assert_close(got.days_left, wears[_i].days, 1, "days");
    assert_close(got.rate_bytes, wears[_i].rate, 1e9, "rate");
}
END_TEST

#define ATTRIBUTE(name, value, raw)                                                      \
    "{\"id\":1,\"name\":\"" name "\",\"value\":" value ",\"raw\":{\"value\":" raw "}}"
#define ATA(more, attributes)                                                            \
    "{\"smartctl\":{\"exit_status\":0},\"device\":{\"name\":\"/dev/sda\",\"protocol\":"  \
    "\"ATA\"}" more ",\"ata_smart_attributes\":{\"table\":[" attributes "]}}"
#define NVME(fields)                                                                     \
    "{\"smartctl\":{\"exit_status\":4},\"device\":{\"protocol\":\"NVMe\"},"              \
    "\"nvme_smart_health_information_log\":{" fields "}}"

static const struct {
    const char *text;
    fr_status st;
    double written, used, hours;
    const char *says; /* the error, or what told the writes */
} devices[] = {
    {NVME("\"percentage_used\":3,\"data_units_written\":1000,\"power_on_hours\":7"),
     FR_OK, 512000000, 3, 7, "data_units_written"},
    {NVME("\"percentage_used\":255,\"data_units_written\":0,\"power_on_hours\":0"), FR_OK,
     0, 255, 0, "data_units_written"},
    {NVME("\"data_units_written\":340282366920938463463374607431768211455"), FR_OK, -1,
     -1, -1, ""},
    {NVME("\"data_units_written\":-1,\"percentage_used\":\"x\""), FR_OK, -1, -1, -1, ""},
    /* nvme-cli */
    {"{\"percent_used\":7,\"data_units_written\":\"2000\",\"power_on_hours\":1}", FR_OK,
     1024000000, 7, 1, "data_units_written"},
    {ATA(",\"logical_block_size\":4096,\"power_on_time\":{\"hours\":5,\"minutes\":30}",
         ATTRIBUTE("Wear_Leveling_Count", "93", "77") "," ATTRIBUTE("Total_LBAs_Written",
                                                                    "99", "1000")),
     FR_OK, 4096000, 7, 5.5, "Total_LBAs_Written"},
    {ATA("", ATTRIBUTE("Total_LBAs_Written", "99",
                       "1000") "," ATTRIBUTE("Media_Wearout_Indicator", "100", "0")),
     FR_OK, 512000, 0, -1, "Total_LBAs_Written"},
    {ATA("", ATTRIBUTE("Host_Writes_32MiB", "100", "3") "," ATTRIBUTE(
                 "Wear_Leveling_Count", "50",
                 "0") "," ATTRIBUTE("Percent_Lifetime_Remain", "80", "20")),
     FR_OK, 100663296, 20, -1, "Host_Writes_32MiB"},
    {ATA("", ATTRIBUTE("Lifetime_Writes_GiB", "100", "2") "," ATTRIBUTE("SSD_Life_Left",
                                                                        "1", "0")),
     FR_OK, 2147483648.0, 99, -1, "Lifetime_Writes_GiB"},
    /* a normalised value above 100 is no percent */
    {ATA("", ATTRIBUTE("Wear_Leveling_Count", "200", "0")), FR_OK, -1, -1, -1, ""},
    {ATA(",\"endurance_used\":{\"current_percent\":12}",
         ATTRIBUTE("Wear_Leveling_Count", "50", "0")),
     FR_OK, -1, 12, -1, ""},
    /* a disk */
    {ATA(",\"rotation_rate\":7200",
         ATTRIBUTE("Total_LBAs_Written", "100", "10") "," ATTRIBUTE("Wear_Leveling_Count",
                                                                    "90", "0")),
     FR_OK, 5120, -1, -1, "Total_LBAs_Written"},
    {ATA(",\"rotation_rate\":7200", ""), FR_OK, -1, -1, -1, ""},
    /* SAS */
    {"{\"smartctl\":{},\"device\":{\"protocol\":\"SCSI\"},\"scsi_error_counter_log\":{"
     "\"write\":{\"gigabytes_processed\":\"1234.5\"}},"
     "\"scsi_percentage_used_endurance_indicator\":4}",
     FR_OK, 1234.5e9, 4, -1, "gigabytes_processed"},
    {"{\"smartctl\":{\"exit_status\":2,\"messages\":[{\"string\":\"Smartctl open device: "
     "/dev/sda failed: Permission denied\",\"severity\":\"error\"}]}}",
     FR_EIO, 0, 0, 0,
     "smartctl cannot ask the device: Smartctl open device: /dev/sda failed: Permission "
     "denied (it needs root: sudo, or save its JSON as root and read it with --file)"},
    {"{\"smartctl\":{\"exit_status\":1}}", FR_EIO, 0, 0, 0,
     "smartctl cannot ask the device: it says nothing"},
    {"{\"a\":1}", FR_EARG, 0, 0, 0,
     "this is neither of `smartctl --json -a` nor of `nvme smart-log -o json`"},
    {"[1]", FR_EARG, 0, 0, 0, "f: it is no JSON object"},
    {"{\"a\"", FR_EARG, 0, 0, 0, "f: line 1, column 4: ':' expected near end of file"},
};

START_TEST(test_smart)
{
    const char *text = devices[_i].text;
    struct fr_smart got;
    struct fr_err err = {0};
    json_t *document;
    fr_status st = fr_smart_document(text, strlen(text), "f", &document, &err);

    if (st == FR_OK)
        st = fr_smart_read(document, &got, &err);
    ck_assert_int_eq(st, devices[_i].st);
    if (st != FR_OK) {
        ck_assert_str_eq(err.text, devices[_i].says);
    } else {
        assert_close(got.written_bytes, devices[_i].written, 1, "written");
        assert_close(got.used_percent, devices[_i].used, 1, "used");
        assert_close(got.power_on_hours, devices[_i].hours, 1, "hours");
        ck_assert_str_eq(got.written_by, devices[_i].says);
    }
    json_decref(document);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wear");
    TCase *tc = tcase_create("wear");

    tcase_add_loop_test(tc, test_wear, 0, COUNT_OF(wears));
    tcase_add_loop_test(tc, test_smart, 0, COUNT_OF(devices));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
