# Makes dist/native/libhl.a and headlight.h, the core for programs in C and C++. It needs only the system's compiler:
# make -f src/build/native.mk, with CC and CFLAGS as usual. With CFLAGS=-march=native the result runs on this kind of
# processor only.
#
# -mfma or -march=native with -D__wasm_relaxed_simd__ gives the flavour that fuses multiplication and addition.

TO ?= dist/native
CFLAGS ?= -O3
SOURCES := $(wildcard src/core/*/*.c)
OBJECTS := $(SOURCES:src/core/%.c=$(TO)/obj/%.o)
# With -ffp-contract=off, the compiler fuses a · b + c only in vec_fma.
COMPILE = -Isrc/core -std=c17 -fPIC -ffp-contract=off -fno-math-errno -Wall -Wextra $(CFLAGS)
VERSION := $(shell sed -n 's/^  "version": "\([0-9]*\)\.\([0-9]*\)\.\([0-9]*\).*/(\1<<16|\2<<8|\3)/p' package.json)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all
all: $(TO)/libhl.a $(TO)/headlight.h

$(TO)/libhl.a: $(OBJECTS)
	@echo 'native: $@'
	@rm -f $@
	@$(AR) rcs $@ $(OBJECTS)

$(TO)/obj/%.o: src/core/%.c src/build/native.mk
	@mkdir -p $(@D)
	@$(CC) $(COMPILE) '-DHL_VERSION=$(VERSION)' -MMD -MP -c $< -o $@

$(TO)/headlight.h: src/core/headlight.h
	@mkdir -p $(@D)
	@cp $< $@

-include $(OBJECTS:.o=.d)
