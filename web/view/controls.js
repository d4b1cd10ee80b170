// The form: what a visitor changes.

import { EXAMPLES, TOKEN_LIMIT, tokenize } from '../model/examples.js';
import { chooseExample, chooseView, pin, reset } from '../model/session.js';
import { headChoices } from '../model/state.js';

/** Options of a select, made anew only where they differ. */
export function fill(select, options, value) {
  const wanted = options.map(([, text]) => text).join('\n');
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([key, text]) => new Option(String(text), String(key))));
  }
  select.value = String(value);
}

export function createControls({ $, root, store, update }) {
  const number = (id) => Number($(id).value);

  $('example').onchange = () => store.set(chooseExample(store.get(), $('example').value));
  $('text').oninput = () => update({ text: $('text').value });
  $('temperature').oninput = () => update({ temperature: 10 ** number('temperature') });
  $('mask').onchange = () => update({ mask: $('mask').value });
  $('tokens').onchange = () => update({ tokens: number('tokens'), region: [], cell: null });
  $('keys').oninput = () => update({ keys: number('keys') });
  $('window').oninput = () => update({ window: number('window') });
  $('heads').onchange = () => update({ heads: number('heads') });
  $('batch').onchange = () => update({ batch: number('batch') });
  $('seed').oninput = () => update({ seed: number('seed') });
  $('scaled').onchange = () => update({ scaled: $('scaled').checked });
  $('softcap').oninput = () => update({ softcap: number('softcap') });
  $('scale').onchange = () => update({ scale: $('scale').value });
  $('lines').onchange = () => update({ lines: $('lines').value });
  $('view').onchange = () => store.set(chooseView(store.get(), $('view').value));
  $('paint').onchange = () => store.set({ painting: $('paint').checked });
  $('unpaint').onclick = () => update({ painted: [] });
  $('off').onclick = () => {
    const { off, head } = store.get().state;
    update({ off: off.includes(head) ? off.filter((h) => h !== head) : [...off, head] });
  };
  $('pin').onclick = () => store.set(pin(store.get()));
  $('reset').onclick = () => store.set(reset());
  root.querySelector('#explore form').onsubmit = (event) => event.preventDefault();

  function draw({ state, strings, shown, pinned, compare, painting, ownHeads }) {
    const example = EXAMPLES[state.example];
    const [batches = 1, , T = 1, keys = 1] = shown.problem?.shape ?? [];
    fill($('example'), Object.entries(strings.examples), state.example);
    fill($('mask'), Object.entries(strings.masks), state.mask);
    fill($('scale'), Object.entries(strings.scales), state.scale);
    fill($('lines'), Object.entries(strings.lineRules), state.lines);
    $('lines-row').hidden = state.view !== 'lines' || compare !== 'none';
    const { cells, lines, grid, side, difference } = strings.views;
    const picture = shown.problem?.image && shown.problem.self;
    const views = { cells, lines, ...(picture && { grid }), ...(pinned && { side, difference }) };
    fill($('view'), Object.entries(views), compare === 'none' ? state.view : compare);
    $('about').textContent =
      strings.about[state.example] +
      (example.text && tokenize(state.text).length > TOKEN_LIMIT ? ` ${strings.tooLong(TOKEN_LIMIT)}` : '');
    $('text-row').hidden = !example.text;
    $('file-row').hidden = !example.file;
    if (root.activeElement !== $('text')) $('text').value = state.text;
    $('temperature').value = String(Math.log10(state.temperature));
    $('temperature-value').textContent = state.temperature.toFixed(2);
    $('tokens-row').hidden = !example.tokens;
    fill(
      $('tokens'),
      (example.tokens ?? []).map((n) => [n, n]),
      state.tokens,
    );
    $('keys-row').hidden = state.mask !== 'padding';
    $('keys').max = String(keys);
    $('keys').value = String(Math.min(state.keys, keys));
    $('keys-value').textContent = strings.keys(Math.min(state.keys, keys), keys);
    $('window-row').hidden = state.mask !== 'window';
    $('window').value = String(state.window);
    $('window-value').textContent = strings.window(state.window);
    const choices = headChoices(state);
    fill(
      $('heads'),
      choices.map((n) => [n, n]),
      state.heads,
    );
    $('heads-row').hidden = choices.length === 1 || (example.file && ownHeads);
    fill(
      $('batch'),
      Array.from({ length: batches }, (_, b) => [b, strings.batch(b, batches)]),
      Math.min(state.batch, batches - 1),
    );
    $('batch-row').hidden = batches === 1;
    $('seed-row').hidden = !example.seeded;
    if (root.activeElement !== $('seed')) $('seed').value = String(state.seed);
    $('scaled').checked = state.scaled;
    $('softcap').value = String(state.softcap);
    $('softcap-value').textContent = strings.cap(state.softcap);
    $('paint').checked = painting;
    $('unpaint').hidden = state.painted.length === 0;
    $('off').textContent = strings.off(state.off.includes(state.head));
    $('off').hidden = choices.length === 1;
    const misfit = compare === 'difference' && shown.facts && !shown.facts.differs;
    $('pinned').textContent = !pinned ? '' : misfit ? strings.pinnedMisfit : strings.pinned(strings.settings(pinned));
    $('frame').classList.toggle('painting', painting);
    $('zoom-row').hidden = state.view === 'grid' || Math.max(T, keys) <= 24;
  }
  return { draw };
}
