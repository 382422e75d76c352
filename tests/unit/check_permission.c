/* The table of permissions: names, codes, what implies what. */
#include "server/store/permission.h"
#include "server/store/principal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_names)
{
    for (int p = PERM_NONE + 1; p < PERM_COUNT; p++) {
        const char *name = permission_name((enum permission)p);

        ck_assert_str_ne(name, "");
        ck_assert_uint_eq(strlen(permission_code((enum permission)p)), 4);
        ck_assert_int_eq(permission_find(name, strlen(name)), p);
    }
    ck_assert_int_eq(permission_find("create table", 12), PERM_CREATE_TABLE);
    ck_assert_int_eq(permission_find("CREATE TABLE", 6), PERM_NONE);
    ck_assert_int_eq(permission_find("", 0), PERM_NONE);
}
END_TEST

/* Each chain of implied permissions ends: at CONTROL, and on the server at CONTROL
 * SERVER. */
static enum permission follow(enum perm_class *where, enum permission p)
{
    for (int steps = 0; steps < 10; steps++) {
        const struct permission_rule *r = permission_rule(*where, p);

        ck_assert_msg(r != NULL, "%s is no permission on a %s", permission_name(p),
                      permission_class_name(*where));
        if (r->covering != PERM_NONE)
            p = r->covering;
        else if (r->above != PERM_NONE) {
            *where = permission_above(*where);
            p = r->above;
        } else
            return p;
    }
    ck_abort_msg("%s never ends", permission_name(p));
    return PERM_NONE;
}

START_TEST(test_rules)
{
    const struct permission_rule *r;

    for (size_t i = 0; (r = permission_rule_at(i)) != NULL; i++) {
        enum perm_class where = r->where;

        ck_assert_ptr_eq(permission_rule(r->where, r->permission), r);
        ck_assert_int_eq(follow(&where, r->permission), PERM_CONTROL_SERVER);
        ck_assert_int_eq(where, CLASS_SERVER);
        if (r->above == PERM_NONE)
            continue;
        where = permission_above(r->where);
        follow(&where, r->above);
    }
    ck_assert_ptr_null(permission_rule(CLASS_OBJECT, PERM_CREATE_TABLE));
    ck_assert_ptr_null(permission_rule(CLASS_SERVER, PERM_SELECT));
}
END_TEST

START_TEST(test_fits)
{
    ck_assert(permission_fits(PERM_SELECT, false) && !permission_fits(PERM_SELECT, true));
    ck_assert(permission_fits(PERM_EXECUTE, true) &&
              !permission_fits(PERM_EXECUTE, false));
    ck_assert(permission_fits(PERM_ALTER, true) && permission_fits(PERM_ALTER, false));
}
END_TEST

/* What the fixed roles have is there to be had. */
START_TEST(test_roles)
{
    const struct role_permission *rp;

    for (size_t i = 0; (rp = role_permission_at(i)) != NULL; i++)
        ck_assert_ptr_nonnull(permission_rule(CLASS_DATABASE, rp->permission));
    for (size_t i = 0; (rp = server_role_permission_at(i)) != NULL; i++)
        ck_assert_ptr_nonnull(permission_rule(CLASS_SERVER, rp->permission));
    ck_assert_int_eq(server_role_named("SysAdmin")->id, LOGIN_SYSADMIN);
    ck_assert_ptr_null(server_role_named("nosuch"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("permission");
    TCase *tc = tcase_create("permission");
    SRunner *sr;
    int failed;

    tcase_add_test(tc, test_names);
    tcase_add_test(tc, test_rules);
    tcase_add_test(tc, test_fits);
    tcase_add_test(tc, test_roles);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
