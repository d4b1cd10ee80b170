#include "base/check.h"

bool fits_bytes(double count) { return count <= 4294967296.0; }
bool fits_floats(double count) { return fits_bytes(count * sizeof(float)); }
bool has_floats(const void *tensor, double count) { return fits_floats(count) && (tensor || count == 0); }
bool may_have_floats(const void *tensor, double count) { return !tensor || fits_floats(count); }
