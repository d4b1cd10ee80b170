// The arc over the sentence of the first visit, from the word that is copied to the prediction, in CSS pixels.

/** of a word, relative to the drawing */
export type Box = { left: number; right: number; top: number; bottom: number };
export type Arc = {
  path: string;
  /** path of the arrowhead */
  tip: string;
  /** middle of the arc's text; null if there is no room for a text */
  label: { x: number; y: number } | null;
};

/** Pixels from a word to the arc, and from the end of the arc to a prediction that is not copied. */
const [GAP, SHORT] = [6, 18];
/** Height of an arc over one line, as a share of its width. */
const RISE = 0.21;
/** A cubic curve reaches this share of the height of its control points. */
const REACHED = 0.75;
/** Length of the arrowhead, and half of its width without the thickness of the line. */
const [TIP, WING] = [18, 7];
/** Pixels from the letters to the line in the right margin. */
const MARGIN = 10;

export function arcOf(given: {
  /** box of the copied word */
  from: Box;
  /** box of the prediction */
  to: Box;
  /** of the drawing */
  width: number;
  thickness: number;
  /** pixels above the first line */
  room: number;
  /** false if the head is off, so that the arc stops short of the prediction */
  on: boolean;
  /** true if nothing follows the copied word in its line */
  endsLine: boolean;
}): Arc {
  const oneLine = Math.abs(given.from.top - given.to.top) < (given.from.bottom - given.from.top) / 2;
  return oneLine ? above(given) : aside(given);
}

const middle = ({ left, right }: Box) => (left + right) / 2;

function above({ from, to, thickness, room, on }: Parameters<typeof arcOf>[0]): Arc {
  const [x1, x2] = [middle(from), middle(to)];
  const y = Math.min(from.top, to.top) - GAP;
  const end = y - (on ? TIP - 2 : 0);
  const rise = Math.min(RISE * Math.abs(x2 - x1), Math.max(room - 40, 40));
  const top = y - rise / REACHED;
  const wing = WING + thickness / 2;
  return {
    path: `M${x1} ${y}C${x1} ${top} ${x2} ${top} ${x2} ${end}`,
    tip: `M${x2 - wing} ${y - TIP}h${2 * wing}L${x2} ${y}z`,
    label: { x: (x1 + x2) / 2, y: y - rise - thickness / 2 - 12 },
  };
}

/** Returns an arc through the right margin, for two words in different lines. */
function aside({ from, to, width, thickness, room, on, endsLine }: Parameters<typeof arcOf>[0]): Arc {
  const wing = WING + thickness / 2;
  const edge = width - thickness / 2 - 2;
  const y2 = (to.top + to.bottom) / 2;
  const x2 = to.right + MARGIN;
  const end = x2 + (on ? TIP - 2 : SHORT);
  const tip = `M${x2 + TIP} ${y2 - wing}v${2 * wing}L${x2} ${y2}z`;
  if (endsLine) {
    const [x1, y1] = [from.right + MARGIN, (from.top + from.bottom) / 2];
    const bend = Math.min((y2 - y1) / 2, edge - Math.max(x1, end));
    return {
      path:
        `M${x1} ${y1}H${edge - bend}Q${edge} ${y1} ${edge} ${y1 + bend}` +
        `V${y2 - bend}Q${edge} ${y2} ${edge - bend} ${y2}H${end}`,
      tip,
      label: null,
    };
  }
  const [x1, y1] = [middle(from), from.top - GAP];
  const top = y1 - Math.min(room - GAP - thickness, 60) / REACHED;
  return {
    path: `M${x1} ${y1}C${x1} ${top} ${edge} ${top} ${edge} ${(y1 + y2) / 2}Q${edge} ${y2} ${end} ${y2}`,
    tip,
    label: null,
  };
}
