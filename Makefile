# hone. `make` builds, `make bench` shows the main job, `make test` runs every test; all three set up what
# is missing. GNU make, no configure step. BUILD=folder, CC=..., VARIANT=release|debug|asan|tsan|coverage, WERROR=-Werror.
SHELL := /bin/sh
VARIANT ?= release
BUILD ?= $(if $(filter release,$(VARIANT)),build,build/$(VARIANT))
PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= python3
CC ?= cc
OBJCOPY ?= objcopy
VERSION := 0.1.0

PACKAGES := jansson sqlite3 libxxhash libcrypto
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
OPTIMISE_release := -O2 -g
OPTIMISE_debug := -O0 -g3
OPTIMISE_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Data races: make VARIANT=tsan build/tsan/tests/test_run build/tsan/tests/test_api
OPTIMISE_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
# What tests reach: make coverage
OPTIMISE_coverage := -O0 -g --coverage -fprofile-update=atomic
# Asked once and not before the first compilation: set-up may install the packages during this very run.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES)))$(PACKAGE_CFLAGS)
PACKAGE_LIBS = $(eval PACKAGE_LIBS := $(shell pkg-config --libs $(PACKAGES)))$(PACKAGE_LIBS)
override CPPFLAGS += -Iinclude -Isrc -I. -D_GNU_SOURCE
override CFLAGS += -std=gnu11 $(OPTIMISE_$(VARIANT)) $(WARNINGS) $(WERROR) -fPIC -fvisibility=hidden \
          -ffp-contract=off -pthread $(PACKAGE_CFLAGS)
override LDLIBS += $(PACKAGE_LIBS) -ldl -lm -pthread
# Of gcc: with -flto among the flags the object still holds code.
LTO_TO_OBJECT = $(if $(filter -flto%,$(CFLAGS)),$(filter -flto%,$(CFLAGS)) -flinker-output=nolto-rel)
override LDFLAGS += $(filter -fsanitize=% --coverage,$(OPTIMISE_$(VARIANT)))

# Files below a folder `embedded` are not compiled into hone: their text is (kernel sources, page styles, scripts).
EMBEDDED := $(sort $(shell find src/ -path '*/embedded/*' -type f))
SOURCES := $(sort $(shell find src/ -name '*.c' -not -path '*/embedded/*') $(wildcard zoo/*.c))
CLI_SOURCES := $(filter src/ui/cli/%,$(SOURCES))
LIB_SOURCES := $(filter-out src/ui/cli/%,$(SOURCES))
EMBEDDED += src/compiler/run/artifact.h src/compiler/run/stages.h $(sort $(wildcard workers/*.py)) python/hone/_zoo.py LICENSE
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/embedded.o
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/obj/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))

# All cores, unless the command line says otherwise; sub-makes share them.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

# V=1 shows the commands, otherwise one short line each.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '%-5s %s\n' $(1) '$(@:$(BUILD)/%=%)')

.PHONY: all clean unit-tests FORCE
all: $(BUILD)/hone $(BUILD)/libhone.a $(BUILD)/libhone.so

include $(wildcard make/*.mk)

# Present when the packages are; changed when the compiler or its flags are.
$(BUILD)/packages.ok: tools/setup.sh
	@tools/setup.sh $(if $(filter check test test-full asan test-engines unit-tests,$(MAKECMDGOALS)),test,build)
	@mkdir -p $(@D) && touch $@
$(BUILD)/flags: FORCE | $(BUILD)/packages.ok
	@echo '$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' >$@
# Changed when a file is added, moved or removed: times alone do not show that.
$(BUILD)/embedded.list: FORCE | $(BUILD)/packages.ok
	@echo '$(EMBEDDED)' | cmp -s - $@ || echo '$(EMBEDDED)' >$@
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/gen/embedded.c: $(EMBEDDED) $(BUILD)/embedded.list tools/embed.sh
	@mkdir -p $(@D)
	$(call say,embed)
	$(Q)tools/embed.sh $@ $(EMBEDDED)
$(BUILD)/obj/embedded.o: $(BUILD)/gen/embedded.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# For hone itself, tests and tools: every function of the sources can be called.
$(BUILD)/internal.a: $(LIB_OBJECTS)
	@rm -f $@
	$(call say,ar)
	$(Q)$(AR) rcs $@ $^
# For users: one object in which all but the functions of hone.h is local, so that no name of hone's meets one of theirs.
$(BUILD)/libhone.a: $(LIB_OBJECTS)
	@rm -f $@
	$(call say,ar)
	$(Q)$(CC) -r -nostdlib $(LTO_TO_OBJECT) -o $(BUILD)/obj/libhone.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/obj/libhone.o
	$(Q)$(AR) rcs $@ $(BUILD)/obj/libhone.o
$(BUILD)/libhone.so: $(LIB_OBJECTS)
	$(call say,link)
	$(Q)$(CC) -shared -Wl,-soname,libhone.so.0 $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/hone: $(CLI_OBJECTS) $(BUILD)/internal.a
	$(call say,link)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -rdynamic

# Unit tests: one cmocka program a file, linked against everything but the command line.
unit-tests: $(UNIT_TESTS)
	@set -e; for t in $(UNIT_TESTS); do echo "== $$t"; $$t; done

clean:
	rm -rf $(BUILD)

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(wildcard $(BUILD)/tests/*.d)
