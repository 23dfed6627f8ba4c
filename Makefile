# attn: GNU make, 4.2 or later.
#
#   make            build ./attn (V=1 shows the commands)
#   make demo       run the main job on a sample
#   make check      build and run all tests; with -j side by side.  Each test leaves its
#                   output in $(BUILD)/check, and the last line counts all of them
#   make test T=X   build and run one test, with its output: test_engine (a unit test),
#                   streams (tests/cmd/streams.sh), conformance, or replay_json (a corpus)
#   make unit       the unit tests alone; likewise commands, conformance, replay
#   make check-kernels  the whole suite under each set of kernels
#   make asan       make check under the address and undefined-behaviour sanitizers
#   make tsan       threads under the thread sanitizer
#   make neon       the NEON kernels under emulation, where qemu-user is
#   make lint       warnings of gcc and clang, formatting, manual pages, and which folder
#                   includes from which (lint-includes)
#   make bench      measure the engine, also against other programs where they are
#   make fuzz       fuzz each reader, and parts, for FUZZ_SECONDS (needs clang)
#   make install    program, manual pages, bash completion under $(DESTDIR)$(PREFIX)
#   make uninstall  remove them
#   make clean      remove what was built
#
# User variables: CC CFLAGS CPPFLAGS LDFLAGS HARDEN AR PKG_CONFIG PREFIX DESTDIR BUILD PROGRAM.
# Objects are made anew when the compiler or its flags are others than before.
#
# BUILD is any folder of its own, also outside the tree; the program is then in it, unless PROGRAM
# says where.  For another processor, CC=aarch64-linux-gnu-gcc is enough: the kernels are
# those of what the compiler makes code for, and the prefix is that of ar and, where there
# is one, of pkg-config, too.
#
# To debug a test: RUN is put before it, and the environment is passed on.
#
#   make test T=test_engine CFLAGS='-O0 -g' BUILD=build/debug RUN='gdb --args'
#   ATTN_KERNEL=avx2 make test T=test_ways       one set of kernels
#   ATTN_VARIANT=17 make test T=test_variants    one case, as a failure names it
#   ATTN_TEST_SEED=1 make test T=test_kernels    other random numbers
#   CMOCKA_TEST_ABORT=1                          stop where an assertion fails
#   make test T=streams RUN='bash -x'            a command test, each command shown

VERSION = 0.1.0

CC = gcc
CFLAGS = -O2 -g
CROSS = $(patsubst %gcc,%,$(lastword $(filter %-gcc,$(CC))))
AR = $(CROSS)ar
PKG_CONFIG = $(or $(if $(CROSS),$(shell command -v $(CROSS)pkg-config)),pkg-config)
PREFIX = /usr/local
BUILD = build
PROGRAM = $(if $(filter build,$(BUILD)),attn,$(BUILD)/attn)
FUZZ_SECONDS = 60

# `make clean` removes the folder: one that holds other things is refused.
ifeq ($(filter build build/%,$(BUILD))$(wildcard $(BUILD)/flags),)
ifneq ($(wildcard $(BUILD)/*),)
$(error BUILD is '$(BUILD)', which holds other things, expected a folder of its own)
endif
endif

# Pango and Cairo are loaded when the first label is drawn (src/draw/pango.h says
# why), so only their headers are needed here.
MACHINE := $(shell $(CC) -dumpmachine | cut -d- -f1)
PACKAGES = libcjson libpng libpcre2-8 libutf8proc zlib
HEADERS_ONLY = pangocairo
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wcast-qual -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef
ALL_CPPFLAGS = -Isrc -D_GNU_SOURCE -DATTN_VERSION='"$(VERSION)"' $(PACKAGE_CFLAGS) $(CPPFLAGS)
# What an attacker finds harder, and HARDEN= leaves out: guarded stacks, checked string functions, tables that
# are bound before the program begins and then read-only, and jumps to their targets alone (CET).
HARDEN = -fstack-protector-strong $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) \
	$(if $(filter x86_64,$(MACHINE)),-fcf-protection)
HARDEN_LINK = $(if $(HARDEN),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
comma := ,
# Debug information names files from here, so that two builds in different folders are the same bytes.
RELATIVE = -ffile-prefix-map=$(CURDIR)=.
# No contraction to fused multiply-adds and no fast-math: results are the same everywhere.
ALL_CFLAGS = -std=c11 -ffp-contract=off -pthread $(WARNINGS) $(RELATIVE) $(HARDEN) $(CFLAGS)
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) $(HEADERS_ONLY))
LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lm -ldl
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined

# In folders of any depth; the library is all but the commands.
c_files = $(sort $(shell find $(1) -name '*.c'))
COMMAND_SOURCES := src/main.c $(call c_files,src/cmd)
LIBRARY_SOURCES := $(filter-out $(COMMAND_SOURCES),$(call c_files,src))
ALL_SOURCES := $(LIBRARY_SOURCES) $(COMMAND_SOURCES) $(call c_files,tests)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/replay_%)
PAGES := $(sort $(wildcard man/*.[157]))

# One short line a step, unless V=1.
V = 0
quiet_0 = @printf '  %-5s %s\n' $(1) $(2);
say = $(quiet_$(V))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY = $(BUILD)/libattn.a

# The files of attn view's page; its scripts share one scope, in this order.
PAGE = src/draw/page
PAGE_SCRIPTS = $(addprefix $(PAGE)/,codec.js state.js colour.js surface.js heads.js matrix.js grid.js panel.js main.js)
PAGE_OBJECTS = $(addprefix $(BUILD)/$(PAGE)/,html.o css.o js.o)
PAGE_HEADER := $(shell find src/draw -name page_files.h)

all: $(PROGRAM)

# A file that keeps the value of a variable and is written when that is another than the
# last time, so that what depends on it is made anew.
define stamp
ifneq ($$(strip $$(file <$(1))),$$(strip $$($(2))))
$(1): FORCE
endif
$(1):
	@mkdir -p $$(@D)
	@printf '%s\n' '$$(subst ','\'',$$(strip $$($(2))))' >$$@
endef

FLAGS = $(CC) $(AR) $(MACHINE) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) $(LIBS)
$(eval $(call stamp,$(BUILD)/flags,FLAGS))
$(eval $(call stamp,$(BUILD)/members,LIBRARY_SOURCES))
$(BUILD)/members: | $(BUILD)/flags

# Of what a program depends on, what it is linked from.
parts = $(filter %.o %.a,$^)

$(PROGRAM): $(call objects,$(COMMAND_SOURCES)) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(parts) $(LIBS)

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(PAGE_OBJECTS) $(BUILD)/members
	@rm -f $@
	$(call say,ar,$@) $(AR) rcs $@ $(parts)

$(BUILD)/%.o: %.c Makefile $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,cc,$<) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(FILE_CFLAGS) -MMD -MP -c -o $@ $<

# Each becomes an array of its bytes, in C: no other tool is needed, and it crosses to any target.
$(BUILD)/$(PAGE)/html.c: $(PAGE)/page.html
$(BUILD)/$(PAGE)/css.c: $(PAGE)/page.css
$(BUILD)/$(PAGE)/js.c: $(PAGE_SCRIPTS)
$(PAGE_OBJECTS:%.o=%.c): Makefile | $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,embed,$@) { \
		printf '#include "%s"\nconst unsigned char page_%s[] = {\n' $(PAGE_HEADER:src/%=%) $(basename $(@F)); \
		cat $(filter-out Makefile,$^) | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'; \
		printf '};\nconst size_t page_%s_size = sizeof page_%s;\n' $(basename $(@F)) $(basename $(@F)); \
	} >$@

$(PAGE_OBJECTS): %.o: %.c $(BUILD)/flags
	$(call say,cc,$<) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Rows of a few hundred bytes: the library copies them faster than what is inlined.
$(BUILD)/src/%/project.o: FILE_CFLAGS = -O3 -fno-builtin-memcpy -fno-builtin-memset

# Loops that the compiler's vectoriser makes fast, which changes no result.
$(addprefix $(BUILD)/src/attention/,blocks.o matrix.o rotary.o vector_norm.o row_norm.o): FILE_CFLAGS = -O3

# The reference wants it, too.  Each set
# of kernels is for the processors that its flags name (select.c checks).
KERNEL_FLAGS = -O3
$(BUILD)/src/kernels/reference.o: FILE_CFLAGS = -O3
ifeq ($(MACHINE),x86_64)
$(BUILD)/src/kernels/avx512.o: FILE_CFLAGS = $(KERNEL_FLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma \
	-mprefer-vector-width=512
$(BUILD)/src/kernels/avx2.o: FILE_CFLAGS = $(KERNEL_FLAGS) -mavx2 -mfma
else
$(BUILD)/src/kernels/neon.o: FILE_CFLAGS = $(KERNEL_FLAGS)
endif

# --- the main job on a sample -------------------------------------------------

RUN_ATTN = $(abspath $(PROGRAM))
DEMO_INPUT = --model samples/stories260K --layer 2 --head 0 --words \
	--text "Once upon a time, there was a little girl named Lily. She loved to play"

demo: $(PROGRAM)
	$(RUN_ATTN) run $(DEMO_INPUT) -o attn-out >/dev/null
	$(RUN_ATTN) heatmap $(DEMO_INPUT) --numbers off -o attn-out/lily.png
	$(RUN_ATTN) inspect token Lily $(DEMO_INPUT) --top 1 --pretty

# --- tests --------------------------------------------------------------------

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(parts) $(LIBS) -lcmocka

$(BUILD)/tests/conformance: $(BUILD)/tests/conformance.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(parts) $(LIBS)

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(parts) $(LIBS)

# tests/check.mk runs them, in a make of its own: which there are depends on what was built.
RUN_CHECKS = $(MAKE) --no-print-directory -f tests/check.mk BUILD=$(BUILD) PROGRAM=$(PROGRAM) MACHINE=$(MACHINE)

check: all tests
	+@$(RUN_CHECKS)

check-kernels: all tests
	+@$(RUN_CHECKS) EACH_SET=all

commands conformance replay unit: all tests
	+@$(RUN_CHECKS) KINDS=$@

# What T names: a program, a corpus for one, or a script.
T_CORPUS = $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/$(patsubst replay_%,fuzz_%,$(T)).c))
T_PROGRAM = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/$(T).c) $(filter tests/conformance.c,tests/$(T).c)) \
	$(T_CORPUS:%=$(BUILD)/tests/fuzz/replay_%)
T_SCRIPT = $(filter-out %/lib.sh,$(wildcard tests/cmd/$(T).sh))

test: $(PROGRAM) $(T_PROGRAM)
	$(if $(strip $(T_PROGRAM) $(T_SCRIPT)),,$(error no test is named '$(T)': give T=NAME, such as test_engine, streams, conformance or replay_json))
	ATTN=$(RUN_ATTN) $(if $(T_SCRIPT),$(or $(RUN),bash) $(T_SCRIPT),$(RUN) $(strip $(T_PROGRAM)) $(T_CORPUS:%=tests/fuzz/corpus/%))

asan: $(BUILD)/flags
	+@LSAN_OPTIONS=suppressions=$(abspath tests/lsan.supp):print_suppressions=0 \
		$(MAKE) --no-print-directory check BUILD=$(BUILD)/asan PROGRAM=$(BUILD)/asan/attn CFLAGS="-O1 -g $(SANITIZE)" \
		LDFLAGS="$(LDFLAGS) $(SANITIZE)"

fuzz: $(BUILD)/flags
	$(MAKE) $(BUILD)/fuzz/libattn.a CC=clang BUILD=$(BUILD)/fuzz CFLAGS="-g -O1 -fsanitize=fuzzer-no-link,address,undefined"
	@set -e; for t in $(FUZZ_TARGETS); do \
		mkdir -p $(BUILD)/fuzz/$$t; \
		clang $(ALL_CPPFLAGS) -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -o $(BUILD)/fuzz/fuzz_$$t \
			tests/fuzz/fuzz_$$t.c $(BUILD)/fuzz/libattn.a $(LIBS); \
		$(BUILD)/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -max_len=65536 $(BUILD)/fuzz/$$t tests/fuzz/corpus/$$t; \
	done

# peer_attn is the engine behind the line protocol of a comparing harness.  It is run
# with BENCH_SHAPES and BENCH_MODES where that harness is.
BENCH_HARNESS = ../shared/bench/bench.py
BENCH_SHAPES = A,B,C,D,E,F,G
BENCH_MODES = ctx,full,proj
PYTHON = /usr/bin/python3

$(BUILD)/peer_attn: $(BUILD)/tests/bench/peer_attn.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(parts) $(LIBS)

bench: $(PROGRAM) $(BUILD)/peer_attn
	$(RUN_ATTN) bench --shape 12x512x64 --shape 12x2048x64 --shape 32x1024x128 --shape 8x4096x64 \
		--shape 1x16384x64 --shape 12x12x64 --text
	$(RUN_ATTN) bench --shape 12x2048x64 --causal --text
	@if [ -f $(BENCH_HARNESS) ]; then \
		PEERBIN=$(abspath $(BUILD)) $(PYTHON) $(BENCH_HARNESS) $(BENCH_SHAPES) $(BENCH_MODES); \
	else \
		echo "skipped other programs: there is no $(BENCH_HARNESS)"; \
	fi

lint: lint-gcc lint-clang lint-includes
	find src tests -name '*.[ch]' -exec clang-format --dry-run -Werror {} +
	if command -v mandoc >/dev/null; then mandoc -T lint -W warning $(PAGES); fi

lint-includes:
	tests/includes.sh

lint-gcc lint-clang: lint-%: $(BUILD)/flags
	$(MAKE) all tests BUILD=$(BUILD)/lint-$* PROGRAM=$(BUILD)/lint-$*/attn CC=$* CFLAGS="-O2 -Werror"

tests: $(UNIT_TESTS) $(REPLAYS) $(BUILD)/tests/conformance $(BUILD)/peer_attn

# --- other processors and sanitizers -----------------------------------------

# The NEON kernels under emulation; tests/plain stands in for cmocka.
NEON_CC = aarch64-linux-gnu-gcc
NEON_OBJECTS = $(addprefix $(BUILD)/neon/,src/kernels/neon.o src/kernels/select.o src/kernels/reference.o src/util/error.o tests/unit/test_kernels.o)
$(BUILD)/neon/%.o: %.c Makefile $(BUILD)/flags
	@mkdir -p $(@D)
	$(NEON_CC) -Itests/plain $(ALL_CPPFLAGS) $(filter-out -fcf-protection,$(ALL_CFLAGS)) $(FILE_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/neon/src/kernels/neon.o: FILE_CFLAGS = $(KERNEL_FLAGS)

$(BUILD)/neon/test_kernels: $(NEON_OBJECTS)
	$(NEON_CC) $(filter-out -fcf-protection,$(ALL_CFLAGS)) $(LDFLAGS) -static -o $@ $(parts) -lm

neon:
	@if command -v $(NEON_CC) && command -v qemu-aarch64; then \
		$(MAKE) $(BUILD)/neon/test_kernels && qemu-aarch64 $(BUILD)/neon/test_kernels; \
	else echo "skipped: no $(NEON_CC) or qemu-aarch64 (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"; fi

TSAN_TESTS = test_threads test_engine test_grid test_ranking
tsan: $(BUILD)/flags
	$(MAKE) $(TSAN_TESTS:%=$(BUILD)/tsan/tests/unit/%) $(BUILD)/tsan/attn BUILD=$(BUILD)/tsan PROGRAM=$(BUILD)/tsan/attn \
		CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS="$(LDFLAGS) -fsanitize=thread"
	@set -e; for t in $(TSAN_TESTS); do $(BUILD)/tsan/tests/unit/$$t; done
	TSAN_OPTIONS=suppressions=$(abspath tests/tsan.supp) ATTN=$(abspath $(BUILD)/tsan/attn) tests/run.sh tests/cmd/threads.sh

# --- installation -------------------------------------------------------------

SECTIONS = 1 5 7
INSTALL = install
ROOT = $(DESTDIR)$(PREFIX)
COMPLETIONS = $(ROOT)/share/bash-completion/completions

install: all
	$(INSTALL) -d '$(ROOT)/bin' $(SECTIONS:%='$(ROOT)/share/man/man%') '$(COMPLETIONS)'
	$(INSTALL) -m 755 $(PROGRAM) '$(ROOT)/bin/attn'
	set -e; for s in $(SECTIONS); do $(INSTALL) -m 644 man/*.$$s '$(ROOT)/share/man/man'$$s; done
	$(INSTALL) -m 644 man/attn.bash '$(COMPLETIONS)/attn'

uninstall:
	rm -f '$(ROOT)/bin/attn' '$(COMPLETIONS)/attn' \
		$(foreach s,$(SECTIONS),$(patsubst man/%,'$(ROOT)/share/man/man$(s)/%',$(filter %.$(s),$(PAGES))))

clean:
	rm -rf $(BUILD) $(PROGRAM) attn-out

FORCE:

.PHONY: all demo check check-kernels test neon tsan unit replay commands conformance asan bench fuzz lint lint-gcc lint-clang \
	lint-includes tests install uninstall clean FORCE
.SECONDARY:

-include $(patsubst %.o,%.d,$(call objects,$(ALL_SOURCES)) $(PAGE_OBJECTS))
