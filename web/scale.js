// From a number to a colour. The legend is drawn from the same object as the cells.

/** Straight lines in OKLab between stops of evenly spaced lightness: equal steps look equal, in grey too. */
const STOPS = {
  light: [[0.985, 0.012, 95], [0.67, 0.135, 68], [0.355, 0.1, 45]],
  dark: [[0.225, 0.012, 75], [0.585, 0.125, 68], [0.945, 0.115, 98]],
};

function oklabToRgb(L, a, b) {
  const [l, m, s] = [L + 0.3963377774 * a + 0.2158037573 * b, L - 0.1055613458 * a - 0.0638541728 * b, L - 0.0894841775 * a - 1.291485548 * b].map((x) => x ** 3);
  const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s, -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
  return linear.map((x) => Math.round(255 * Math.min(Math.max(x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055, 0), 1)));
}

/** 256 colours of a theme. */
function table(theme) {
  const lab = STOPS[theme].map(([L, c, h]) => [L, c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)]);
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (lab.length - 1);
    const from = Math.min(Math.floor(x), lab.length - 2);
    return oklabToRgb(...lab[from].map((value, axis) => value + (lab[from + 1][axis] - value) * (x - from)));
  });
}

/** @param {'light' | 'dark'} theme @param {number} most the weight that is brightest */
export function makeScale(theme, most) {
  const colours = table(theme);
  const domain = [0, most > 0 ? most : 1];
  return {
    domain,
    /** [r, g, b] of a weight */
    colour: (weight) => colours[Math.round(255 * Math.min(Math.max(weight / domain[1], 0), 1))],
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, value: share * domain[1] })),
  };
}

/** Weights to three digits that count. */
export function formatWeight(weight) {
  if (weight === 0 || weight === 1) return String(weight);
  if (weight < 0.0001) return weight.toExponential(1);
  return weight.toFixed(weight < 0.01 ? 4 : 3);
}
