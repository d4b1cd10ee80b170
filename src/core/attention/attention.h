/* Attention for the multi-head layer. The caller has validated the arguments and provides the workspace. */
#ifndef HL_ATTENTION_H
#define HL_ATTENTION_H

#include "headlight.h"

double attention_workspace(const hl_attention_args *args); /* floats */
void attention_forward(const hl_attention_args *args, float *workspace);

#endif
