/* Attention in reverse for the layer, which has checked its arguments and brings the workspace. */
#ifndef HL_BACKWARD_H
#define HL_BACKWARD_H

#include "headlight.h"

double attention_backward_workspace(const hl_attention_backward_args *args); /* floats */
void attention_backward_run(const hl_attention_backward_args *args, float *workspace);

#endif
