/* The backward pass of attention for the multi-head layer. The caller has validated the arguments and provides the
 * workspace. */
#ifndef HL_BACKWARD_H
#define HL_BACKWARD_H

#include "headlight.h"

double attention_backward_workspace(const hl_attention_backward_args *args); /* floats */
void attention_backward(const hl_attention_backward_args *args, float *workspace);

#endif
