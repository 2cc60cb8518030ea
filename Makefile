# SPDX-License-Identifier: GPL-2.0-only
#
# One makefile for the whole tree. `make` builds into build/, `make help` lists the rest.
#   V=1  show commands   DEBUG=1  -O0 -g3   SANITIZE=address,undefined   BUILD=dir

BUILD	?= build
PREFIX	?= /usr/local
DESTDIR	?=
CC	?= gcc
VERSION	:= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

Q	:= $(if $(filter 1,$(V)),,@)
say	= $(if $(filter 1,$(V)),@:,@printf '  %-8s%s\n' $(1) $(2))

PKGS	:= libpci libmnl libkmod json-c libibverbs librdmacm
WARN	:= -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	   -Wformat=2 -Wundef -Wvla
OPT	:= $(if $(filter 1,$(DEBUG)),-O0 -g3,-O2 -g)
ifneq ($(SANITIZE),)
SAN	:= -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

INC	:= -I. -Itests/unit -Iutil/include -Imemtype/include -Ivfio/include -I$(BUILD)
CFLAGS	?= $(OPT)
ALL_CFLAGS  = -std=gnu17 -D_GNU_SOURCE $(WARN) $(INC) $(SAN) -pthread \
	      $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SAN) -pthread -Wl,--as-needed $(LDFLAGS)

PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# --- what is built: a directory is a library or a program -----------------------------------

objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

UTIL_OBJS	:= $(call objs,$(wildcard util/*.c))
MEMTYPE_OBJS	:= $(call objs,$(wildcard memtype/*.c))
MEMTYPE_CMD_OBJS := $(call objs,$(wildcard memtype/cmd/*.c))
VFIO_OBJS	:= $(call objs,$(wildcard vfio/*.c))
VFCTL_OBJS	:= $(call objs,$(wildcard vfio/vfctl/*.c))
VMM_MAIN	:= $(call objs,vmm/main.c)
VMM_OBJS	:= $(filter-out $(VMM_MAIN),$(call objs,$(wildcard vmm/*.c vmm/*/*.c)))
LAT_MAINS	:= $(call objs,$(wildcard latency/*/main.c))
LAT_OBJS	:= $(filter-out $(LAT_MAINS),$(call objs,$(wildcard latency/*.c latency/*/*.c)))
GUEST_SRCS	:= $(wildcard tests/guest/*.c)
UNIT_SRCS	:= $(wildcard tests/unit/*_test.c)

LIBUTIL		:= $(BUILD)/lib/libutil.a
LIBMEMTYPE	:= $(BUILD)/lib/libmemtype.a
LIBVF		:= $(BUILD)/lib/libvf.a
LIBVMM		:= $(BUILD)/lib/libvmm.a
LIBLAT		:= $(BUILD)/lib/liblat.a
LIBS		:= $(LIBVMM) $(LIBLAT) $(LIBVF) $(LIBMEMTYPE) $(LIBUTIL)

PROGRAMS	:= $(addprefix $(BUILD)/bin/,memtype vfctl bluepass perfdiff mmap_lat bf_send_lat)
# Sanitizers do not go into static programs.
GUEST		:= $(BUILD)/guest/bpguest $(if $(SANITIZE),,$(addprefix $(BUILD)/guest/,perfdiff mmap_lat))
FUZZERS		:= $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
BENCHES		:= $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
UNIT		:= $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRCS))
MANPAGES	:= $(patsubst docs/man/%.scd,$(BUILD)/man/%,$(wildcard docs/man/*.scd))

.PHONY: all programs guest unit man kmod install setup test unit-test demo headers clean help lint \
	memtype vfctl bluepass fuzz fuzzers bench FORCE
.DELETE_ON_ERROR:
all: programs guest

programs: $(PROGRAMS)
guest: $(GUEST)
# Some unit tests run the program beside them.
unit: $(UNIT) $(BUILD)/bin/memtype $(addprefix $(BUILD)/bin/,perfdiff mmap_lat bf_send_lat)
man: $(MANPAGES)
# kvm-memtype.ko for the lab's kernels, into $(BUILD)/kmod/KERNEL.
kmod:
	$(call say,KMOD,$(BUILD)/kmod)
	$(Q)VERSION='$(VERSION)' tests/lab/kmod/build -o $(BUILD)/kmod

memtype: $(BUILD)/bin/memtype
vfctl: $(BUILD)/bin/vfctl
bluepass: $(BUILD)/bin/bluepass

# Rebuild everything when the flags change, since a sanitized object does not link with a plain one.
FLAGS_NOW := $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The version is in one object only, so that a commit does not rebuild everything.
$(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
$(BUILD)/obj/util/cli.o: $(BUILD)/version
$(BUILD)/obj/util/cli.o: ALL_CFLAGS += -DBP_VERSION='"$(VERSION)"'

$(LIBUTIL): $(UTIL_OBJS)
$(LIBMEMTYPE): $(MEMTYPE_OBJS)
# error.o goes along, so that libvf.a is complete when installed alone.
$(LIBVF): $(VFIO_OBJS) $(BUILD)/obj/util/error.o
$(LIBVMM): $(VMM_OBJS)
$(LIBLAT): $(LAT_OBJS)
$(LIBS):
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/bin/memtype: $(MEMTYPE_CMD_OBJS) $(LIBMEMTYPE) $(LIBUTIL)
$(BUILD)/bin/vfctl: $(VFCTL_OBJS) $(LIBVF) $(LIBUTIL)
$(BUILD)/bin/bluepass: $(VMM_MAIN) $(LIBS)
$(BUILD)/bin/perfdiff $(BUILD)/bin/mmap_lat $(BUILD)/bin/bf_send_lat: $(BUILD)/bin/%: $(BUILD)/obj/latency/%/main.o $(LIBLAT) $(LIBUTIL)
$(PROGRAMS):
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lm

# Runs as PID 1 of a guest that has no libraries.
$(BUILD)/guest/bpguest: $(GUEST_SRCS) $(wildcard tests/guest/*.h) $(BUILD)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -static -pthread -o $@ $(GUEST_SRCS)

# The same programs as in bin, for guests.
$(BUILD)/guest/perfdiff $(BUILD)/guest/mmap_lat: $(BUILD)/guest/%: $(BUILD)/obj/latency/%/main.o $(LIBLAT) $(LIBUTIL)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -static -o $@ $^ -ljson-c -lm

$(BUILD)/unit/%: tests/unit/%.c $(LIBS) $(BUILD)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(shell pkg-config --cflags check) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< \
		$(LIBS) $(PKG_LIBS) $(shell pkg-config --libs check) -lm

# Fuzzers need clang, and libraries that it instrumented: `make fuzz` builds those apart.
$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIBMEMTYPE) $(BUILD)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIBMEMTYPE)

# Never sanitized: instructions are counted.
$(BUILD)/bench/%: tests/bench/%.c $(LIBMEMTYPE) $(BUILD)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIBMEMTYPE)

$(BUILD)/man/%: docs/man/%.scd
	$(call say,SCDOC,$@)
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

# --- what the README names: both do their own set-up ----------------------------------------
# The packages decide what pkg-config says above, hence a second make after they are there.

setup:
	$(Q)tests/setup

demo: setup
	$(Q)$(MAKE) -s -j2 all
	$(Q)tests/demo/run

test: setup
	$(Q)$(MAKE) -s -j2 all unit
	$(Q)tests/run

unit-test: unit
	$(Q)tests/run --unit

# Each fuzzer for FUZZ_SECONDS; what it learns stays in build/fuzz/NAME.corpus.
FUZZ_SECONDS ?= 60
fuzzers: $(FUZZERS)

fuzz:
	$(Q)$(MAKE) -s -j2 CC=clang BUILD=$(BUILD)/fuzzing SANITIZE=fuzzer-no-link,address,undefined fuzzers
	$(Q)for f in $(notdir $(FUZZERS)); do mkdir -p $(BUILD)/fuzz/$$f.corpus && \
		$(BUILD)/fuzzing/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=5 -print_final_stats=1 \
			-artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/$$f.corpus || exit 1; done

# Each tests/bench script writes $(BUILD)/bench/NAME.json.
bench: programs $(BENCHES)
	$(Q)for b in $(filter-out %.c,$(wildcard tests/bench/*)); do \
		BUILD=$(BUILD) $$b || [ $$? -eq 77 ] || exit 1; done

lint:
	$(Q)clang-tidy --quiet $(wildcard util/*.c memtype/*.c memtype/cmd/*.c vfio/*.c vfio/vfctl/*.c vmm/*.c vmm/*/*.c latency/*.c latency/*/*.c) -- \
		$(ALL_CFLAGS)

install: programs man
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib \
		$(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(BUILD)/bin/vfctl $(DESTDIR)$(PREFIX)/sbin/
	install -m 755 $(BUILD)/bin/memtype $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BUILD)/bin/bluepass $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BUILD)/bin/perfdiff $(BUILD)/bin/mmap_lat $(BUILD)/bin/bf_send_lat $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(LIBVF) $(LIBMEMTYPE) $(DESTDIR)$(PREFIX)/lib/
	cp -r vfio/include/vf memtype/include/mt $(DESTDIR)$(PREFIX)/include/
	install -D -m 644 util/include/bp/error.h $(DESTDIR)$(PREFIX)/include/bp/error.h
	install -m 644 completions/* $(DESTDIR)$(PREFIX)/share/bash-completion/completions/
	memtype/kmod/collect $(DESTDIR)/usr/src/kvm-memtype-$(VERSION) '$(VERSION)'
	for m in $(MANPAGES); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit 1; done

help:
	@sed -n '3,6s/^# \{0,1\}//p' Makefile
	@printf '%s\n' 'all        programs and the test guest' 'unit       unit test programs' \
		'unit-test  run the unit tests, plain and sanitized' \
		'setup      install packages (Debian 12, root) and bring the lab its kernels' \
		'test       setup, build, run every test' 'demo       setup, build, assign VFs for real' \
		'fuzz       run each fuzzer for FUZZ_SECONDS (clang)' 'bench      benchmarks' \
		'kmod       kvm-memtype.ko for the lab'\''s kernels' \
		'man        man pages' 'headers    compile each header alone' 'lint       clang-tidy' \
		'install    to DESTDIR and PREFIX' 'clean      remove the build folder'

# Every header must compile alone.
headers:
	$(Q)for h in $(wildcard util/include/bp/*.h memtype/include/mt/*.h memtype/kmod/kvm_memtype.h memtype/kmod/rules.h vfio/include/vf/*.h vmm/*.h vmm/*/*.h \
			latency/*.h latency/*/*.h); do \
		$(CC) $(ALL_CFLAGS) -fsyntax-only -x c $$h || exit 1; done

-include $(patsubst %.o,%.d,$(UTIL_OBJS) $(MEMTYPE_OBJS) $(MEMTYPE_CMD_OBJS) $(VFIO_OBJS) $(VFCTL_OBJS) $(VMM_MAIN) $(VMM_OBJS) \
	$(LAT_OBJS) $(LAT_MAINS))
-include $(addsuffix .d,$(UNIT) $(FUZZERS) $(BENCHES))

clean:
	rm -rf $(BUILD)
