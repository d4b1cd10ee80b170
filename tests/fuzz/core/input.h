/* From the fuzzer's bytes to the arguments of a call, and what is true of every call.
 *
 * An entry chooses its sizes, numbers and tensors here, then makes its call in rounds that are to give the same:
 *
 *   while (next_round()) returned(hl_add(sum, a, b, count));
 *   if (is_moderate()) ... the numbers are right ... */
#ifndef HL_FUZZ_INPUT_H
#define HL_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headlight.h"

/* A new input, and its end: all memory must be back. Where the bytes end, choices go on at random. */
void input_start(const uint8_t *bytes, size_t count);
void input_end(void);

/* ---- choices. In a wild input some are wrong on purpose: then the call must be refused ------------------------- */

uint32_t below(uint32_t n);
bool one_in(uint32_t n);

uint32_t size_of(uint32_t most); /* small, or around a tile or block; in a wild input sometimes near 2³¹ or 2³² */
uint32_t some_of(uint32_t most); /* 1..most; in a wild input also 0 and the others */
uint32_t stray(uint32_t value);  /* the value; in a wild input sometimes any other, which is not wrong */
uint32_t choice(uint32_t most);  /* 0..most; in a wild input sometimes another, which is wrong */
bool is_wrong(void);             /* rarely, in a wild input: be wrong here */
float number(void);              /* from −1 to 1; in a wild input also NaN, infinite, huge, denormal */
float finite(float value);       /* the value, which is wrong if it is NaN or infinite */
void must_refuse(bool wrong);    /* where it is wrong, the call must be refused */

/* ---- tensors of exactly so many elements, between what may not be touched ------------------------------------ */

/* Inputs and outputs; NULL now and then where there are no elements, and where that is wrong. Those that `may` be given
 * are half the time. What is `given` is never NULL. */
float *given(double count);
float *given_output(double count);
float *input(double count);
float *may_input(double count);
float *output(double count);
float *may_output(double count);
float *if_(bool given, float *make(double count), double count);
uint8_t *may_flags(double count);
int32_t *labels(double count, uint32_t below);
int32_t *may_positions(double count, int32_t from, int32_t to);
int32_t *output_labels(double count);

/* The floats that so many numbers take as a file holds them. */
double stored_floats(double count, uint32_t stored);

/* (B,N,R,W) with room between the rows, which the call leaves as it is. */
double rows_extent(double batch, double heads, double rows, double width, const hl_stride *stride);
float *input_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *stride);
float *output_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *stride);

/* Larger ones are a single element, and the call is made only if it must be refused. */
bool is_allocated(double count);

/* Likewise where it would take too long. */
void takes_long(void);

/* What the last call gave is an input of the next. */
void outputs_become_inputs(void);

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Three rounds: the first, of some inputs, with little memory left. Before each, outputs are as they were and free
 * memory holds something else. */
bool next_round(void);
/* Fails where a wrong call was not refused or a right one was, where inputs, refused outputs or room between rows were
 * written, where workspace is lost, and where the last round gave other bits than the one before. */
void returned(hl_status status);

/* The call was made, and its numbers are of a size that a plain loop agrees with. */
bool is_moderate(void);
/* What was in an output before the call. */
const float *before(const float *output);
/* Fails unless it is about the same. */
void near(const char *what, double got, double expected);

_Noreturn void fail(const char *what);

#endif
