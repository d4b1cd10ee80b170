// The form: what a visitor changes, and the files that are dropped.

import { EXAMPLES, TOKEN_LIMIT, tokenize } from '../model/examples.js';
import { headChoices, initialState } from '../model/state.js';

/** Options of a select, made anew only where they differ. */
export function fill(select, options, value) {
  const wanted = options.map(([, text]) => text).join('\n');
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([key, text]) => new Option(String(text), String(key))));
  }
  select.value = String(value);
}

/** The bytes of a file, with a word on the way. */
async function readBytes(file, { onProgress, signal }) {
  const bytes = new Uint8Array(file.size);
  let at = 0;
  const reader = file.stream().getReader();
  // What is cancelled ends a read that waits, too.
  signal.addEventListener('abort', () => reader.cancel(), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (signal.aborted) return null;
    if (done) return bytes;
    bytes.set(value, at);
    at += value.length;
    onProgress(at);
  }
}

export function createControls(page) {
  const { $, host } = page;
  const number = (id) => Number($(id).value);
  const { update } = page;
  /** What the file that was read last has: heads of its own, or null. */
  let ownHeads = null;

  $('example').onchange = () => {
    page.fileProblem = null;
    update({ example: $('example').value });
  };
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
  $('view').onchange = () => {
    const { value } = $('view');
    page.compare = value === 'difference' || value === 'side' ? value : 'none';
    update(page.compare === 'none' ? { view: value } : { view: 'cells' });
  };
  $('paint').onchange = () => {
    page.painting = $('paint').checked;
    page.redraw();
  };
  $('unpaint').onclick = () => update({ painted: [] });
  $('off').onclick = () => {
    const { off, head } = page.state;
    update({ off: off.includes(head) ? off.filter((h) => h !== head) : [...off, head] });
  };
  $('hold').onclick = () => {
    page.before = page.state;
    page.compare = 'difference';
    update({ view: 'cells' });
  };
  $('reset').onclick = () => {
    Object.assign(page, { before: null, compare: 'none', painting: false, fileProblem: null });
    page.become(initialState);
  };
  page.root.querySelector('#explore form').onsubmit = (event) => event.preventDefault();

  /** Files that are read go to the worker; what fits becomes the example of the visitor's own. */
  async function takeSources(sources, more = {}) {
    const { given, problem, error } = await page.request(
      'take',
      { sources, before: page.before },
      sources.map(({ bytes }) => bytes.buffer),
    );
    page.reading = false;
    page.fileProblem = problem ?? (error ? { message: error } : null);
    ownHeads = given?.heads ?? null;
    update({
      example: 'file',
      head: 0,
      batch: 0,
      cell: null,
      off: [],
      painted: [],
      region: [],
      file: given?.id ?? 0,
      heads: ownHeads ?? 1,
      ...more,
    });
  }

  async function takeFiles(files) {
    const { strings } = page;
    const stopped = new AbortController();
    const since = performance.now();
    const [total, sizes] = [files.reduce((sum, { size }) => sum + size, 0), files.map(() => 0)];
    const cancel = () => stopped.abort();
    $('cancel').addEventListener('click', cancel, { once: true });
    const sources = [];
    page.reading = true;
    page.redraw();
    for (const [i, file] of files.entries()) {
      const onProgress = (at) => {
        sizes[i] = at;
        const done = sizes.reduce((a, b) => a + b);
        if (performance.now() - since > 100) page.progress(strings.read(done, total), done / total);
      };
      let problem = null;
      const bytes = await readBytes(file, { signal: AbortSignal.any([stopped.signal, page.signal]), onProgress }).catch(
        ({ message }) => {
          problem = { code: 'lost', values: [file.name, message] };
        },
      );
      if (!bytes) {
        page.reading = false;
        page.fileProblem = problem;
        return page.redraw();
      }
      sources.push({ name: file.name, bytes });
    }
    $('cancel').removeEventListener('click', cancel);
    await takeSources(sources);
  }

  $('file').onchange = () => $('file').files.length > 0 && takeFiles([...$('file').files]);
  const carriesFiles = (event) => event.dataTransfer?.types.includes('Files');
  host.ondragover = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    host.classList.add('dropping');
  };
  host.ondragleave = (event) => !host.contains(event.relatedTarget) && host.classList.remove('dropping');
  host.ondrop = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    host.classList.remove('dropping');
    takeFiles([...event.dataTransfer.files]);
  };

  /** Files, or numbers as JSON, from the clipboard; what is pasted into a field is the field's. */
  host.addEventListener('paste', (event) => {
    const { clipboardData: given } = event;
    if (page.state.page !== 'explore' || event.composedPath()[0].matches?.('input, textarea')) return;
    const text = given.getData('text').trim();
    if (given.files.length > 0) takeFiles([...given.files]);
    else if (/^[[{]/.test(text)) takeFiles([new File([text], 'x.json')]);
  });

  function draw() {
    const { state, strings, shown, before, compare } = page;
    const example = EXAMPLES[state.example];
    const [batches = 1, , T = 1, keys = 1] = shown.problem?.shape ?? [];
    fill($('example'), Object.entries(strings.examples), state.example);
    fill($('mask'), Object.entries(strings.masks), state.mask);
    fill($('scale'), Object.entries(strings.scales), state.scale);
    fill($('lines'), Object.entries(strings.lineRules), state.lines);
    $('lines-row').hidden = state.view !== 'lines' || compare !== 'none';
    const { cells, lines, grid, side, difference } = strings.views;
    const picture = shown.problem?.image && shown.problem.self;
    const views = { cells, lines, ...(picture && { grid }), ...(before && { side, difference }) };
    fill($('view'), Object.entries(views), compare === 'none' ? state.view : compare);
    $('about').textContent =
      strings.about[state.example] +
      (example.text && tokenize(state.text).length > TOKEN_LIMIT ? ` ${strings.tooLong(TOKEN_LIMIT)}` : '');
    $('text-row').hidden = !example.text;
    $('file-row').hidden = !example.file;
    if (page.root.activeElement !== $('text')) $('text').value = state.text;
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
    $('heads-row').hidden = choices.length === 1 || (example.file && ownHeads !== null);
    fill(
      $('batch'),
      Array.from({ length: batches }, (_, b) => [b, strings.batch(b, batches)]),
      Math.min(state.batch, batches - 1),
    );
    $('batch-row').hidden = batches === 1;
    $('seed-row').hidden = !example.seeded;
    if (page.root.activeElement !== $('seed')) $('seed').value = String(state.seed);
    $('scaled').checked = state.scaled;
    $('softcap').value = String(state.softcap);
    $('softcap-value').textContent = strings.cap(state.softcap);
    $('paint').checked = page.painting;
    $('unpaint').hidden = state.painted.length === 0;
    $('off').textContent = strings.off(state.off.includes(state.head));
    $('off').hidden = choices.length === 1;
    const misfit = compare === 'difference' && shown.facts && !shown.facts.differs;
    $('held').textContent = !before ? '' : misfit ? strings.holdMisfit : strings.held(strings.settings(before));
    $('frame').classList.toggle('painting', page.painting);
    $('zoom-row').hidden = state.view === 'grid' || Math.max(T, keys) <= 24;
  }
  return { draw, takeSources };
}
