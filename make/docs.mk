# The documentation: make reference writes docs/reference/ from hone's own tables; make docs builds docs/ as a site with search
# in BUILD/site, with mkdocs-material in an environment of its own. A dead link or anchor is an error.
SITE_ENV := $(BUILD)/siteenv

.PHONY: reference docs
reference: $(BUILD)/hone
	tools/reference_docs.sh $(BUILD)/hone

$(SITE_ENV)/ready: tools/site/requirements.txt
	@rm -rf $(SITE_ENV)
	$(PYTHON) -m venv $(SITE_ENV)
	$(SITE_ENV)/bin/python -m pip install --quiet --no-input --disable-pip-version-check -r $<
	@touch $@
docs: $(SITE_ENV)/ready
	NO_MKDOCS_2_WARNING=1 $(SITE_ENV)/bin/mkdocs build --strict --clean -f tools/site/mkdocs.yml -d $(abspath $(BUILD))/site
	@echo "site: $(abspath $(BUILD))/site; with search: python3 -m http.server -d $(BUILD)/site"
