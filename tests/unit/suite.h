/* SPDX-License-Identifier: GPL-2.0-only */
/* The main() that every unit test program would otherwise repeat. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/**
 * SUITE() - define main(): run the named tests as one suite.
 * @name: shown in the report.
 * @...: tests defined by START_TEST().
 *
 * CK_RUN_CASE, CK_FORK and the other variables of libcheck work as usual.
 */
#define SUITE(name, ...)                                                                           \
	int main(void)                                                                             \
	{                                                                                          \
		const TTest *tests[] = { __VA_ARGS__ };                                            \
		return suite_run(name, tests, sizeof(tests) / sizeof(*tests));                     \
	}

static inline int suite_run(const char *name, const TTest **tests, size_t n)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
