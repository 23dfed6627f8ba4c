# The tests that the Makefile built, each a target, so that `make -j` runs them side by
# side; tests/job.sh runs one, tests/report.sh adds up.  The Makefile gives BUILD, PROGRAM
# and MACHINE.
#
#   KINDS         which tests [all]
#   EACH_SET=all  try everything under each set of kernels, not only what depends on them

KINDS = includes kernel-sets commands conformance unit replay

LOGS = $(BUILD)/check
SETS := $(shell $(abspath $(PROGRAM)) --version --verbose | sed -n 's/^kernels: //p' | tr -d ,)
export ATTN = $(abspath $(PROGRAM))

all: report

# test NAME,COMMAND
define test
NAMES += $(1)
$(1):
	@tests/job.sh $(LOGS) $(1) $(2)
endef

# test_each_set NAME,COMMAND: a test for each set
test_each_set = $(foreach set,$(SETS),$(eval $(call test,$(1)@$(set),env ATTN_KERNEL=$(set) $(2))))
test_once = $(eval $(call test,$(1),$(2)))

$(if $(filter includes,$(KINDS)),$(call test_once,includes,tests/includes.sh))
$(if $(filter kernel-sets,$(KINDS)),$(call test_once,kernel-sets,tests/kernel-sets.sh $(MACHINE) $(SETS)))

# What takes longest begins first.
COMMANDS := $(patsubst tests/cmd/%.sh,%,$(sort $(wildcard tests/cmd/*.sh)))
COMMANDS := progress $(filter-out progress lib,$(COMMANDS))
run_command = $(call $(if $(EACH_SET),test_each_set,test_once),cmd/$(1),bash tests/cmd/$(1).sh)
$(if $(filter commands,$(KINDS)),$(foreach c,$(COMMANDS),$(call run_command,$(c))))

$(if $(filter conformance,$(KINDS)),$(call test_each_set,conformance,$(BUILD)/tests/conformance))

# Which unit tests depend on kernels?  kernels/select.c asks the environment which set is
# to run: a program that does not hold the variable's name was linked without it, and so
# without kernels.
UNITS := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
KERNEL_UNITS := $(if $(EACH_SET),$(UNITS),$(notdir $(shell grep -l ATTN_KERNEL $(UNITS:%=$(BUILD)/tests/unit/%))))
run_unit = $(call $(if $(filter $(1),$(KERNEL_UNITS)),test_each_set,test_once),unit/$(1),$(BUILD)/tests/unit/$(1))
$(if $(filter unit,$(KINDS)),$(foreach u,$(KERNEL_UNITS) $(filter-out $(KERNEL_UNITS),$(UNITS)),$(call run_unit,$(u))))

CORPORA := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
run_corpus = $(call test_once,corpus/$(1),$(BUILD)/tests/fuzz/replay_$(1) tests/fuzz/corpus/$(1))
$(if $(filter replay,$(KINDS)),$(foreach c,$(CORPORA),$(call run_corpus,$(c))))

# What a former run left must not count.
$(NAMES): | empty
empty:
	@rm -rf $(LOGS)
	@mkdir -p $(LOGS)

report: $(NAMES)
	@tests/report.sh $(LOGS) $(NAMES)

.PHONY: all report empty $(NAMES)
