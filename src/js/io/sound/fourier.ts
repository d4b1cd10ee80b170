// The discrete Fourier transform of a fixed length, by the algorithm of Cooley and Tukey for its prime factors.

/** Returns the smallest first. */
function primeFactors(n: number): number[] {
  const factors = [];
  for (let rest = n, p = 2; rest > 1; p++)
    while (rest % p === 0) {
      factors.push(p);
      rest /= p;
    }
  return factors;
}

export class Fourier {
  #length: number;
  #factors: number[];
  #cos: Float64Array<ArrayBuffer>;
  #sin: Float64Array<ArrayBuffer>;
  #scratch: { re: Float64Array<ArrayBuffer>; im: Float64Array<ArrayBuffer> };
  #column: { re: Float64Array<ArrayBuffer>; im: Float64Array<ArrayBuffer> };

  constructor(length: number) {
    this.#length = length;
    this.#factors = primeFactors(length);
    const angles = Float64Array.from({ length }, (_, i) => (-2 * Math.PI * i) / length);
    this.#cos = angles.map(Math.cos);
    this.#sin = angles.map(Math.sin);
    this.#scratch = { re: new Float64Array(length), im: new Float64Array(length) };
    const most = Math.max(...this.#factors, 1);
    this.#column = { re: new Float64Array(most), im: new Float64Array(most) };
  }

  /** Computes squared absolute values of the frequencies 0 to length / 2, (⌊length/2⌋ + 1). */
  power(signal: Float64Array, power: Float64Array) {
    const { re, im } = this.#scratch;
    this.#transform(signal, 0, 1, 0, re, im, 0);
    for (let k = 0; k < power.length; k++) power[k] = re[k] * re[k] + im[k] * im[k];
  }

  /** Transforms every step-th number from index `from` on, to index `at` of re and im. level: index in the factors. */
  #transform(
    signal: Float64Array,
    from: number,
    step: number,
    level: number,
    re: Float64Array,
    im: Float64Array,
    at: number,
  ) {
    const size = this.#length / step;
    if (size === 1) {
      re[at] = signal[from];
      im[at] = 0;
      return;
    }
    const factor = this.#factors[level];
    const part = size / factor;
    for (let f = 0; f < factor; f++)
      this.#transform(signal, from + f * step, step * factor, level + 1, re, im, at + f * part);
    const { re: columnRe, im: columnIm } = this.#column;
    for (let k = 0; k < part; k++) {
      for (let f = 0; f < factor; f++) {
        columnRe[f] = re[at + f * part + k];
        columnIm[f] = im[at + f * part + k];
      }
      for (let q = 0; q < factor; q++) {
        let [sumRe, sumIm] = [0, 0];
        for (let f = 0; f < factor; f++) {
          const turn = (f * (k + q * part) * step) % this.#length;
          sumRe += columnRe[f] * this.#cos[turn] - columnIm[f] * this.#sin[turn];
          sumIm += columnRe[f] * this.#sin[turn] + columnIm[f] * this.#cos[turn];
        }
        re[at + q * part + k] = sumRe;
        im[at + q * part + k] = sumIm;
      }
    }
  }
}
