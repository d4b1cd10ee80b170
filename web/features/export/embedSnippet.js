// Writes a few lines of HTML that show the current head in another page.

import { writeAddress } from '../../store/state.js';

/** @import { State } from '../../store/state.js' */

/** The address of the package, for a page without a bundler. */
const PACKAGE = 'https://cdn.jsdelivr.net/npm/headlight-attention/dist/view.js';
const VIEWS = { lines: 'lines', flow: 'flow' };

/** @param {unknown} value */
const literal = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

/**
 * Returns true if the snippet can show the current model, which must be the demo model, because the package includes no
 * other.
 * @param {State} state
 */
export const isEmbeddable = ({ model }) => model === 'whale';

/**
 * Returns HTML that shows one head, or another view, in its current state.
 * @param {State} state
 */
export function snippetOf(state) {
  const view = /** @type {Record<string, string>} */ (VIEWS)[state.view] ?? 'head';
  const { model, text, layer, head, cell } = state;
  const shown = { model, text, view, layer, head, ...(cell ? { cell } : {}) };
  const changed = writeAddress(state, { ...state, temperature: {}, mask: {}, painted: {}, scale: {}, off: 'zero' });
  const options = Object.entries({ ...shown, ...(changed ? { state: changed } : {}) });
  return `<div id="head" style="height: 640px"></div>
<script type="module">
  import { mount } from '${PACKAGE}';

  // Layers, heads and tokens are counted from 0.
  mount(document.querySelector('#head'), {
${options.map(([name, value]) => `    ${name}: ${literal(value)},\n`).join('')}  });
</script>
`;
}
