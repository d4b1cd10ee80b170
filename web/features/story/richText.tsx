// Renders texts of the story with quotations, emphasis and values.

import type { Filled } from './observationTexts.ts';

export const filled = (text: string, values: Record<string, string> = {}) =>
  text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
export const plainText = ({ of, values }: Filled) => filled(of.replaceAll('*', ''), values);

/** Renders a text: *x* is a quotation, **x** is emphasized, {x} is replaced by a value. */
export function Rich({ of, values = {} }: { of: string; values?: Record<string, string> }) {
  return of.split(/(\*\*[^*]+\*\*|\*[^*]+\*)/).map((part, i) => {
    if (part.startsWith('**')) return <b key={i}>{filled(part.slice(2, -2), values)}</b>;
    if (part.startsWith('*') && part.length > 1) return <i key={i}>{filled(part.slice(1, -1), values)}</i>;
    return filled(part, values);
  });
}
