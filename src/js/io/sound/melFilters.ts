// Filters that map frequencies to the mel scale of Slaney, linear below 1000 Hz and logarithmic above. Each is a
// triangle of the same area.

const [LINEAR, BEGIN] = [200 / 3, 1000];
const STEP = Math.log(6.4) / 27;

const toMel = (hertz: number) => (hertz < BEGIN ? hertz / LINEAR : BEGIN / LINEAR + Math.log(hertz / BEGIN) / STEP);
const toHertz = (mel: number) =>
  mel < BEGIN / LINEAR ? mel * LINEAR : BEGIN * Math.exp(STEP * (mel - BEGIN / LINEAR));

/** frequencies: from 0 to half of the rate; returns a filter for each bin: (frequencies) */
export function melFilters(bins: number, frequencies: number, rate: number): Float64Array[] {
  const top = toMel(rate / 2);
  const edges = Array.from({ length: bins + 2 }, (_, i) => toHertz((top * i) / (bins + 1)));
  return Array.from({ length: bins }, (_, bin) => {
    const [low, middle, high] = edges.slice(bin, bin + 3);
    return Float64Array.from({ length: frequencies }, (_, k) => {
      const hertz = (k * rate) / 2 / (frequencies - 1);
      const height = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      return (2 / (high - low)) * Math.max(height, 0);
    });
  });
}
