// Writes a few lines of HTML that show the current head in another page.

import type { State } from '../../model/state.ts';
import { writeAddress } from '../../store/address.ts';

/** The address of the package, for a page without a bundler. */
const PACKAGE = 'https://cdn.jsdelivr.net/npm/headlight-attention/dist/view.js';
const VIEWS = { lines: 'lines', flow: 'flow' };

const literal = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');

/** Returns true for the demo model, the only one that the package includes. */
export const isEmbeddable = ({ model }: State) => model === 'whale';

/** Returns HTML that shows one head, or another view, in its current state. */
export function snippetOf(state: State) {
  const view = (VIEWS as Record<string, string>)[state.view] ?? 'head';
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
