/* Converts the bytes of the fuzzer into the arguments of a call, and checks properties that hold for every call. An
 * entry chooses its sizes, numbers and tensors here, then makes its call in rounds that must all give the same result:
 * while (next_round()) returned(hl_add(sum, a, b, count)); if (is_moderate()) ... the numbers are right ... */
#ifndef HL_FUZZ_INPUT_H
#define HL_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headlight.h"

/* Begins and ends an input; at the end all memory must be freed. When the bytes are used up, choices become random. */
void input_start(const uint8_t *bytes, size_t count);
void input_end(void);

/* ---- choices. In some inputs, a few are invalid on purpose, so that the call must be refused--------------------- */

uint32_t below(uint32_t n);
bool one_in(uint32_t n);

uint32_t
size_of(uint32_t max); /* small, or near the size of a tile or block; if invalid sizes are allowed, near 2³¹ or 2³² */
uint32_t positive_size(uint32_t max);   /* 1..max; if invalid arguments are allowed, also 0 and others */
uint32_t maybe_extreme(uint32_t value); /* the value; sometimes another, extreme but valid value */
uint32_t choice(uint32_t max);          /* 0..max; sometimes a larger value, which is invalid */
bool make_invalid(void);                /* rarely true: the caller must make an argument invalid */
float number(void);                     /* from −1 to 1; sometimes NaN, infinite, huge or denormal */
float finite(float value);              /* the value, which is invalid if it is NaN or infinite */
void must_refuse(bool wrong);           /* if `wrong`, the call must be refused */

/* ---- tensors of exactly this many elements, between guard bytes ------------------------------------------------ */

/* Allocate inputs and outputs. They are sometimes NULL, if they have no elements or as an invalid argument. Optional
 * ones are NULL half of the time; required ones are never NULL. */
float *required_input(double count);
float *required_output(double count);
float *input(double count);
float *optional_input(double count);
float *output(double count);
float *optional_output(double count);
/* Makes numbers that the test reads and the call does not get, so that any number of them is allowed. */
float *own_numbers(double count);
float *if_(bool condition, float *make(double count), double count);
uint8_t *optional_flags(double count);
int32_t *labels(double count, uint32_t below);
int32_t *optional_positions(double count, int32_t from, int32_t to);
int32_t *output_labels(double count);

/* Returns how many floats have the size of this many numbers of a stored type. */
double stored_floats(double count, uint32_t stored);

/* Tensors (B,N,R,W) with gaps between the rows. The call must not change the gaps. */
double rows_extent(double batch, double heads, double rows, double width, const hl_stride *stride);
float *input_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *stride);
float *output_rows(uint32_t batch, uint32_t heads, uint32_t rows, uint32_t width, const hl_stride *stride);

/* Returns false for a tensor that is too large to allocate. Such a tensor has a single element, and the call is made
 * only if it must be refused. */
bool is_allocated(double count);

/* Declares that the call would take too long, so that it is made only if it must be refused. */
void takes_long(void);

/* Makes the outputs of the last call inputs of the next call. */
void outputs_become_inputs(void);

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Begins a round and returns true, or returns false after the last one. There are two rounds; some inputs have
 * another one before them, with little memory. Before each round, outputs are restored and free memory is filled with
 * other contents. */
bool next_round(void);
/* Checks the status of a call. Fails if an invalid call was accepted or a valid one refused, if the call wrote into
 * inputs, gaps between rows or, when refused, outputs, if workspace is leaked, or if two rounds gave different bits. */
void returned(hl_status status);

/* Returns true if the call was made with numbers moderate enough for a plain loop to give nearly the same result. */
bool is_moderate(void);
/* Returns the contents of an output before the call. */
const float *before(const float *output);
/* Fails unless the numbers are nearly equal. */
void near(const char *what, double got, double expected);

_Noreturn void fail(const char *what);

#endif
