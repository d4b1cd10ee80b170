/* Attention for the layer, which has checked its arguments and brings the workspace. */
#ifndef HL_ATTENTION_H
#define HL_ATTENTION_H

#include "headlight.h"

double attention_workspace(const hl_attention_args *args); /* floats */
void attention_run(const hl_attention_args *args, float *workspace);

#endif
