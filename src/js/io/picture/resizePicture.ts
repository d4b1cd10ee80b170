// Resizes pictures to the same bytes as Pillow: applies a filter, widened if the picture becomes smaller, with integer
// weights, first along rows and then along columns.

export type Picture = { data: Uint8Array; width: number; height: number };
export type Filter = { support: number; weight: (x: number) => number };

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** Filters, by their numbers in Pillow. */
export const FILTERS: Record<number, Filter> = {
  1: { support: 3, weight: (x) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
  2: { support: 1, weight: (x) => Math.max(1 - Math.abs(x), 0) },
  3: {
    support: 2,
    weight: (signed) => {
      const x = Math.abs(signed);
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
    },
  },
};
const CHANNELS = 3;
/** Bits of the fixed-point weights after the binary point. */
const BITS = 22;

/** Computes for each new pixel of an axis the first old pixel that the filter covers, and the weights. */
function weightsOf(from: number, to: number, { support, weight }: Filter) {
  const scale = from / to;
  const widened = Math.max(scale, 1);
  return Array.from({ length: to }, (_, i) => {
    const centre = (i + 0.5) * scale;
    const first = Math.max(Math.trunc(centre - support * widened + 0.5), 0);
    const end = Math.min(Math.trunc(centre + support * widened + 0.5), from);
    const weights = Array.from({ length: end - first }, (_, k) => weight((first + k - centre + 0.5) / widened));
    const sum = weights.reduce((a, b) => a + b, 0);
    const integer = (x: number) => Math.trunc(x < 0 ? x - 0.5 : x + 0.5);
    return { first, weights: Int32Array.from(weights, (w) => integer((w / sum) * 2 ** BITS)) };
  });
}

export function resizePicture(picture: Picture, width: number, height: number, filter: Filter): Picture {
  const narrow = picture.width === width ? picture : alongRows(picture, width, filter);
  return narrow.height === height ? narrow : turned(alongRows(turned(narrow), height, filter));
}

function alongRows({ data, width: old, height }: Picture, width: number, filter: Filter): Picture {
  const axis = weightsOf(old, width, filter);
  const to = new Uint8Array(height * width * CHANNELS);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const { first, weights } = axis[x];
      for (let c = 0; c < CHANNELS; c++) {
        let sum = 1 << (BITS - 1);
        for (let k = 0; k < weights.length; k++) sum += weights[k] * data[(y * old + first + k) * CHANNELS + c];
        to[(y * width + x) * CHANNELS + c] = Math.min(Math.max(Math.floor(sum / 2 ** BITS), 0), 255);
      }
    }
  return { data: to, width, height };
}

function turned({ data, width, height }: Picture): Picture {
  const to = new Uint8Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < CHANNELS; c++) to[(x * height + y) * CHANNELS + c] = data[(y * width + x) * CHANNELS + c];
  return { data: to, width: height, height: width };
}
