// Reads lengths that the script needs from the style sheets, so that each length is defined only in a style sheet. The
// lengths are custom properties of the page, in pixels.

import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';

/**
 * The custom properties, by the names that the script uses.
 *   small, middle       font sizes of labels and buttons, and of tokens
 *   header, sentence, sheet, whatIf   heights of the lines around a picture that must be visible
 *   legend              the line under the picture
 *   paneLine, paneGap, paneTitle, besidePanes   a picture in patches: the line above each of its two panes, the gap
 *                       between them, the height of a title above and the width of a title next to them
 */
const PROPERTIES = {
  small: '--s',
  middle: '--m',
  header: '--header',
  sentence: '--sentence',
  sheet: '--sheet',
  whatIf: '--what-if',
  legend: '--legend',
  paneLine: '--pane-line',
  paneGap: '--pane-gap',
  paneTitle: '--pane-title',
  besidePanes: '--beside-panes',
};
export type Lengths = Record<keyof typeof PROPERTIES, number>;

const read = (lengthOf: (property: string) => number) =>
  Object.fromEntries(Object.entries(PROPERTIES).map(([name, property]) => [name, lengthOf(property)])) as Lengths;
const UNKNOWN = read(() => 0);

export const LengthsContext = createContext(UNKNOWN);
/** Returns zeros until the page has been laid out. */
export const useLengths = (): Lengths => useContext(LengthsContext);

/** Reads an element's lengths for LengthsContext when `look` changes: the classes that distinguish screens. */
export function useLengthsOf(ref: { current: Element | null }, look: string) {
  const [lengths, setLengths] = useState(UNKNOWN);
  useLayoutEffect(() => {
    if (!ref.current) return;
    const style = getComputedStyle(ref.current);
    setLengths(read((property) => Number.parseFloat(style.getPropertyValue(property)) || 0));
  }, [look]);
  return lengths;
}
