# The HTML report in a real browser; says so and passes where there is none.
.PHONY: test-report
test-report: $(BUILD)/tests/test_report
	tests/report/page.sh $(BUILD)
