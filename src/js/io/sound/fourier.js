// The discrete Fourier transform of a fixed length, by the algorithm of Cooley and Tukey for the prime factors of the
// length.

/** @param {number} n @returns {number[]} prime factors, the smallest first */
function primeFactors(n) {
  const factors = [];
  for (let rest = n, p = 2; rest > 1; p++)
    while (rest % p === 0) {
      factors.push(p);
      rest /= p;
    }
  return factors;
}

export class Fourier {
  #length;
  #factors;
  #cos;
  #sin;
  #scratch;
  #column;

  /** @param {number} length */
  constructor(length) {
    this.#length = length;
    this.#factors = primeFactors(length);
    const angles = Float64Array.from({ length }, (_, i) => (-2 * Math.PI * i) / length);
    this.#cos = angles.map(Math.cos);
    this.#sin = angles.map(Math.sin);
    this.#scratch = { re: new Float64Array(length), im: new Float64Array(length) };
    const most = Math.max(...this.#factors, 1);
    this.#column = { re: new Float64Array(most), im: new Float64Array(most) };
  }

  /**
   * Computes the power spectrum of a real signal: the squared absolute values of the frequencies from 0 to length / 2.
   * @param {Float64Array} signal
   * @param {Float64Array} power the result, (⌊length/2⌋ + 1)
   */
  power(signal, power) {
    const { re, im } = this.#scratch;
    this.#transform(signal, 0, 1, 0, re, im, 0);
    for (let k = 0; k < power.length; k++) power[k] = re[k] * re[k] + im[k] * im[k];
  }

  /**
   * Computes the transform of every step-th number from index `from` on, and writes it to index `at` of re and im.
   * @param {Float64Array} signal
   * @param {number} from
   * @param {number} step
   * @param {number} level index in the list of factors
   * @param {Float64Array} re
   * @param {Float64Array} im
   * @param {number} at
   */
  #transform(signal, from, step, level, re, im, at) {
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
