# attn: GNU make.  User variables: CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR.
#
#   make            build ./attn (V=1 shows the commands)
#   make demo       run the main job on a sample
#   make check      build and run all tests
#   make check-kernels  all tests under each set of kernels
#   make asan       the same under the address and undefined-behaviour sanitizers
#   make tsan       threads under the thread sanitizer
#   make neon       the NEON kernels under emulation, where qemu-user is
#   make lint       warnings of gcc and clang, formatting, manual pages
#   make bench      measure the engine, also against other programs where they are
#   make fuzz       fuzz each reader, and parts, for FUZZ_SECONDS (needs clang)
#   make install    program, manual pages, bash completion under $(DESTDIR)$(PREFIX)
#   make uninstall  remove them

VERSION = 0.1.0

CC = gcc
CFLAGS = -O2 -g
PREFIX = /usr/local
BUILD = build
PROGRAM = attn
FUZZ_SECONDS = 60

# Pango and Cairo are loaded when the first label is drawn (src/draw/pango.h says
# why), so only their headers are needed here.
PACKAGES = libcjson libpng zlib
HEADERS_ONLY = pangocairo
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wcast-qual -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef
ALL_CPPFLAGS = -Isrc -D_GNU_SOURCE -DATTN_VERSION='"$(VERSION)"' $(PACKAGE_CFLAGS) $(CPPFLAGS)
# No contraction to fused multiply-adds and no fast-math: results are the same everywhere.
ALL_CFLAGS = -std=c11 -ffp-contract=off -pthread $(WARNINGS) $(CFLAGS)
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(HEADERS_ONLY))
LIBS := $(shell pkg-config --libs $(PACKAGES)) -lm -ldl
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined

LIBRARY_SOURCES := $(sort $(filter-out src/main.c src/cmd/%,$(shell find src -name "*.c")))
COMMAND_SOURCES := $(sort src/main.c $(wildcard src/cmd/*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/replay_%)
ALL_SOURCES := $(LIBRARY_SOURCES) $(COMMAND_SOURCES) $(sort $(wildcard tests/*.c tests/*/*.c))
PAGES := $(sort $(wildcard man/*.[157]))

# One short line a step, unless V=1.
V = 0
quiet_0 = @printf '  %-5s %s\n' $(1) $(2);
say = $(quiet_$(V))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY = $(BUILD)/libattn.a

# The files of attn view's page; its scripts share one scope, in this order.
PAGE_SCRIPTS = $(addprefix src/draw/page/,codec.js state.js colour.js surface.js heads.js matrix.js grid.js panel.js main.js)
PAGE_OBJECTS = $(addprefix $(BUILD)/src/draw/page/,html.o css.o js.o)

all: $(PROGRAM)

$(PROGRAM): $(call objects,$(COMMAND_SOURCES)) $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(PAGE_OBJECTS)
	@rm -f $@
	$(call say,ar,$@) ar rcs $@ $^

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,cc,$<) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(FILE_CFLAGS) -MMD -MP -c -o $@ $<

# Each becomes an array of its bytes, in C: no other tool is needed, and it crosses to any target.
$(BUILD)/src/draw/page/html.c: src/draw/page/page.html
$(BUILD)/src/draw/page/css.c: src/draw/page/page.css
$(BUILD)/src/draw/page/js.c: $(PAGE_SCRIPTS)
$(PAGE_OBJECTS:%.o=%.c): Makefile
	@mkdir -p $(@D)
	$(call say,embed,$@) { \
		printf '#include "draw/page/page_files.h"\nconst unsigned char page_%s[] = {\n' $(basename $(@F)); \
		cat $(filter-out Makefile,$^) | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'; \
		printf '};\nconst size_t page_%s_size = sizeof page_%s;\n' $(basename $(@F)) $(basename $(@F)); \
	} >$@

$(PAGE_OBJECTS): %.o: %.c
	$(call say,cc,$<) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Rows of a few hundred bytes: the library copies them faster than what is inlined.
$(BUILD)/src/attention/engine_project.o: FILE_CFLAGS = -fno-builtin-memcpy -fno-builtin-memset

# The reference wants the compiler's vectoriser, which changes no result.  Each set
# of kernels is for the processors that its flags name (select.c checks).
KERNEL_FLAGS = -O3
$(BUILD)/src/kernels/reference.o: FILE_CFLAGS = -O3
ifeq ($(shell $(CC) -dumpmachine | cut -d- -f1),x86_64)
$(BUILD)/src/kernels/avx512.o: FILE_CFLAGS = $(KERNEL_FLAGS) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma \
	-mprefer-vector-width=512
$(BUILD)/src/kernels/avx2.o: FILE_CFLAGS = $(KERNEL_FLAGS) -mavx2 -mfma
else
$(BUILD)/src/kernels/neon.o: FILE_CFLAGS = $(KERNEL_FLAGS)
endif

# --- the main job on a sample -------------------------------------------------

DEMO_INPUT = samples/animal.safetensors samples/use-lite-layer1.safetensors

demo: $(PROGRAM)
	./$(PROGRAM) run $(DEMO_INPUT) -o attn-out >/dev/null
	./$(PROGRAM) heatmap $(DEMO_INPUT) --head 3 -o attn-out/animal.png
	./$(PROGRAM) inspect token it $(DEMO_INPUT) --head 3 --top 1 --text

# --- tests --------------------------------------------------------------------

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/tests/conformance: $(BUILD)/tests/conformance.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIBRARY)
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Prints the sets that this machine runs.
KERNELS = $(abspath $(PROGRAM)) --version --verbose | sed -n 's/^kernels: //p' | tr -d ,

# What the kernels compute is tried with every set that this machine runs.
check: replay commands
	@set -e; for k in $$($(KERNELS)); do \
		echo "== ATTN_KERNEL=$$k"; ATTN_KERNEL=$$k $(MAKE) unit conformance; \
	done

# The whole suite under each.
check-kernels: all
	@set -e; for k in $$($(KERNELS)); do \
		echo "== ATTN_KERNEL=$$k"; ATTN_KERNEL=$$k $(MAKE) unit commands conformance; \
	done

unit: $(UNIT_TESTS)
	@set -e; for t in $(UNIT_TESTS); do echo "== $${t##*/}"; $$t; done

replay: $(REPLAYS)
	@set -e; for t in $(FUZZ_TARGETS); do echo "== corpus of $$t"; \
		$(BUILD)/tests/fuzz/replay_$$t tests/fuzz/corpus/$$t; done

commands: $(PROGRAM)
	ATTN=$(abspath $(PROGRAM)) tests/run.sh

conformance: $(PROGRAM) $(BUILD)/tests/conformance
	ATTN=$(abspath $(PROGRAM)) $(BUILD)/tests/conformance

asan:
	LSAN_OPTIONS=suppressions=$(abspath tests/lsan.supp):print_suppressions=0 $(MAKE) check BUILD=$(BUILD)/asan PROGRAM=$(BUILD)/asan/attn CFLAGS="-O1 -g $(SANITIZE)" \
		LDFLAGS="$(LDFLAGS) $(SANITIZE)"

fuzz:
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
	$(call say,link,$@) $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench: $(PROGRAM) $(BUILD)/peer_attn
	./$(PROGRAM) bench --shape 12x512x64 --shape 12x2048x64 --shape 32x1024x128 --shape 8x4096x64 \
		--shape 1x16384x64 --shape 12x12x64 --text
	./$(PROGRAM) bench --shape 12x2048x64 --causal --text
	@if [ -f $(BENCH_HARNESS) ]; then \
		PEERBIN=$(abspath $(BUILD)) $(PYTHON) $(BENCH_HARNESS) $(BENCH_SHAPES) $(BENCH_MODES); \
	else \
		echo "skipped other programs: there is no $(BENCH_HARNESS)"; \
	fi

lint: lint-gcc lint-clang
	clang-format --dry-run -Werror $(ALL_SOURCES) $(shell find src -name "*.h") $(wildcard tests/*/*.h)
	if command -v mandoc >/dev/null; then mandoc -T lint -W warning $(PAGES); fi

lint-gcc lint-clang: lint-%:
	$(MAKE) all tests BUILD=$(BUILD)/lint-$* PROGRAM=$(BUILD)/lint-$*/attn CC=$* CFLAGS="-O2 -Werror"

tests: $(UNIT_TESTS) $(REPLAYS) $(BUILD)/tests/conformance

# --- other processors and sanitizers -----------------------------------------

# The NEON kernels under emulation; tests/plain stands in for cmocka.
NEON_CC = aarch64-linux-gnu-gcc
NEON_OBJECTS = $(addprefix $(BUILD)/neon/,src/kernels/neon.o src/kernels/reference.o src/kernels/select.o src/util/error.o tests/unit/test_kernels.o)
$(BUILD)/neon/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(NEON_CC) -Itests/plain $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(FILE_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/neon/src/kernels/neon.o: FILE_CFLAGS = $(KERNEL_FLAGS)

$(BUILD)/neon/test_kernels: $(NEON_OBJECTS)
	$(NEON_CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ -lm

neon:
	@if command -v $(NEON_CC) && command -v qemu-aarch64; then \
		$(MAKE) $(BUILD)/neon/test_kernels && qemu-aarch64 $(BUILD)/neon/test_kernels; \
	else echo "skipped: no $(NEON_CC) or qemu-aarch64 (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"; fi

TSAN_TESTS = test_threads test_engine test_grid test_ranking
tsan:
	$(MAKE) $(TSAN_TESTS:%=$(BUILD)/tsan/tests/unit/%) $(BUILD)/tsan/attn BUILD=$(BUILD)/tsan PROGRAM=$(BUILD)/tsan/attn \
		CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS="$(LDFLAGS) -fsanitize=thread"
	@set -e; for t in $(TSAN_TESTS); do $(BUILD)/tsan/tests/unit/$$t; done
	TSAN_OPTIONS=suppressions=$(abspath tests/tsan.supp) ATTN=$(abspath $(BUILD)/tsan/attn) tests/run.sh tests/cmd/threads.sh


# --- installation -------------------------------------------------------------

SECTIONS = 1 5 7

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(SECTIONS:%=$(DESTDIR)$(PREFIX)/share/man/man%) \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/attn
	set -e; for s in $(SECTIONS); do \
		install -m 644 man/*.$$s $(DESTDIR)$(PREFIX)/share/man/man$$s; \
	done
	install -m 644 man/attn.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/attn

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/attn $(DESTDIR)$(PREFIX)/share/bash-completion/completions/attn
	rm -f $(foreach s,$(SECTIONS),$(patsubst man/%,$(DESTDIR)$(PREFIX)/share/man/man$(s)/%,$(filter %.$(s),$(PAGES))))

clean:
	rm -rf $(BUILD) $(PROGRAM) attn-out

.PHONY: all demo check check-kernels neon tsan unit replay commands conformance asan bench fuzz lint lint-gcc lint-clang tests install uninstall clean
.SECONDARY:

-include $(patsubst %.o,%.d,$(call objects,$(ALL_SOURCES)))
