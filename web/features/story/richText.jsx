// Renders texts of the story with quotations, emphasis and values.

/** @import { Filled } from './observationTexts.js' */

/** @param {string} text @param {Record<string, string>} [values] */
export const filled = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
/** @param {Filled} filled */
export const plainText = ({ of, values }) => filled(of.replaceAll('*', ''), values);

/**
 * Renders a text: *x* is a quotation, **x** is emphasized, {x} is replaced by a value.
 * @param {{ of: string, values?: Record<string, string> }} props
 */
export function Rich({ of, values = {} }) {
  return of.split(/(\*\*[^*]+\*\*|\*[^*]+\*)/).map((part, i) => {
    if (part.startsWith('**')) return <b key={i}>{filled(part.slice(2, -2), values)}</b>;
    if (part.startsWith('*') && part.length > 1) return <i key={i}>{filled(part.slice(1, -1), values)}</i>;
    return filled(part, values);
  });
}
