/* Scores that approach a cap: cap · tanh(score / cap), of panels of eight queries. */
#ifndef HL_SOFTCAP_H
#define HL_SOFTCAP_H

#include <stddef.h>

void softcap_panel(float *panel, size_t keys, float cap);

/* 1 − (capped / cap)²: the slope, from the scores after the cap. */
void softcap_slope(float *slope, const float *capped, size_t keys, float cap);

/* panel = panel · slope; 0 stays 0, also where a hidden key has made the slope NaN. */
void softcap_backward(float *panel, const float *slope, size_t keys);

#endif
