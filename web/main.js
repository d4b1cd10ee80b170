// Wires the page: what a visitor does changes the state, the state asks the core, the answer is drawn.

import { createCompute } from './ask.js';
import { toProgram } from './code.js';
import { attentionOptions, EXAMPLES, PAINT_STRIDE, TOKEN_LIMIT, tokenize } from './examples.js';
import { fileName, toCsv, toNpy, toSafetensors, toSvg } from './export.js';
import { cellAt, drawHead, drawLegend, drawThumbnail } from './heatmap.js';
import { drawLines, tokenAt } from './lines.js';
import { createPipeline } from './pipeline.js';
import { formatNumber, formatWeight, makeScale, makeSignedScale } from './scale.js';
import { copyText, download, pngOf } from './share.js';
import { asksAnew, change, headOf, initialState, paint, readCell, rowOf, step } from './state.js';
import { headStatistics, rankHeads, STATISTICS } from './stats.js';
import { explain } from './steps.js';
import { LANGUAGES, languageFor } from './strings.js';
import { readTensors, TensorProblem } from './tensors.js';
import { readState, writeState } from './url.js';

/** The large picture fits a laptop's screen together with what is said of it. */
const MOST_HEIGHT = 600;
/** Lines to the keys that make up so much of a row. */
const LINE_RULE = { kind: 'mass', share: 0.9 };
/** The address follows the state when a visitor rests. */
const ADDRESS_DELAY = 250;

const $ = (id) => document.getElementById(id);
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

let state = readState(location.hash.slice(1));
let language = languageFor([recall('language') ?? '', ...navigator.languages]);
let strings = LANGUAGES[language];
/** The newest answer of the core. */
let result = null;
let error = '';
let places = null;
let frame = 0;
let addressTimer = 0;
/** Tensors of the visitor's own, and what was wrong with a file. */
let given;
let fileProblem = null;
/** A result kept for comparison, and whether the difference from it is shown. */
let held = null;
let comparing = false;
let painting = false;
/** While a pointer paints: whether it hides. */
let brush = null;
let order = { key: null, descending: true };

const compute = createCompute((answer) => {
  error = answer.error ?? '';
  if (!error) result = answer.result;
  redraw();
});
const pipeline = createPipeline($('steps'), { format: formatNumber });

function update(patch) {
  const before = state;
  state = change(state, patch);
  if (asksAnew(before, state)) ask();
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => history.replaceState(null, '', `#${writeState(state)}`), ADDRESS_DELAY);
  redraw();
}

function ask() {
  compute.ask(EXAMPLES[state.example].file ? { state, given } : { state });
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A page from disk, or one without storage, forgets.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// ---- drawing ----

const theme = () => document.documentElement.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light');

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  return { text: get('soft'), ink: get('ink'), query: get('query'), key: get('key'), grid: get('grid'), hatch: get('hatch') };
}

const headName = (head) => (EXAMPLES[state.example].named ? strings.heads[head] : strings.head(head));
const batchShown = () => Math.min(state.batch, result.shape[0] - 1);
const tokenless = () => EXAMPLES[state.example].text && tokenize(state.text).length === 0;
const comparable = () => held && String(held.result.shape) === String(result.shape);

/** One head as it is to be drawn: its weights, or how they differ from what is held. */
function headShown(batch, head) {
  const shown = headOf(result, batch, head);
  if (!comparing || !comparable()) return shown;
  const before = headOf(held.result, batch, head);
  return { ...shown, weights: shown.weights.map((w, i) => w - before.weights[i]), scores: shown.scores.map((score, i) => Math.max(score, before.scores[i])) };
}

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(draw);
}

function draw() {
  drawControls();
  const waits = EXAMPLES[state.example].file && (!given || fileProblem);
  const shown = result && !waits && result.shape[1] === state.heads ? result : null;
  $('message').textContent = whyNothing(shown);
  $('large').hidden = !shown;
  $('steps-box').hidden = !shown || !state.cell;
  if (!shown) {
    $('grid').replaceChildren();
    return;
  }
  const batch = batchShown();
  const differs = comparing && comparable();
  const largest = (weights) => weights.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const scale = differs
    ? makeSignedScale(theme(), Math.max(...Array.from({ length: state.heads }, (_, head) => largest(headShown(batch, head).weights))))
    : makeScale(theme(), largest(result.weights), state.scale);
  const palette = colours();
  const head = headShown(batch, state.head);
  const common = { queries: result.queries, keys: result.keys, width: $('frame').clientWidth, colours: palette };
  places = state.view === 'lines' && !differs
    ? drawLines($('large'), head, { ...common, chosen: state.cell ? [state.cell.query] : null, rule: LINE_RULE, read: state.cell })
    : drawHead($('large'), head, { ...common, cell: state.cell, scale, height: MOST_HEIGHT });
  const name = headName(state.head);
  $('large').setAttribute('aria-label', strings.picture(name, result.queries.length, result.keys.length));
  $('head-name').textContent = differs ? strings.difference(name) : name;
  $('head-about').textContent = state.off.includes(state.head) ? strings.headOff : EXAMPLES[state.example].named ? strings.headAbout[state.head] : '';
  drawGrid(batch, scale, palette);
  drawScale(scale);
  drawReading(batch);
  if (state.cell) drawSteps(batch, palette);
  if ($('table-box').open) drawTable(batch);
  if ($('statistics-box').open) drawStatistics(batch);
  $('facts').textContent = strings.facts(result.info, result.milliseconds, result.queries.length, result.keys.length, result.shape[0] * result.shape[1]);
}

/** What stands in the place of the picture. */
function whyNothing(shown) {
  if (fileProblem) return fileProblem instanceof TensorProblem ? strings.fileProblems[fileProblem.code](...fileProblem.values) : strings.failed(fileProblem.message);
  if (EXAMPLES[state.example].file && !given) return strings.noFile;
  if (error) return strings.failed(error);
  if (result === null && tokenless()) return strings.empty;
  return shown ? '' : strings.loading;
}

function drawGrid(batch, scale, palette) {
  const grid = $('grid');
  while (grid.children.length > state.heads) grid.lastChild.remove();
  while (grid.children.length < state.heads) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(document.createElement('canvas'), document.createElement('span'));
    button.firstChild.setAttribute('aria-hidden', 'true');
    const head = grid.children.length;
    button.onclick = () => update({ head });
    button.ondblclick = () => solo(head);
    grid.append(button);
  }
  [...grid.children].forEach((button, head) => {
    button.setAttribute('aria-pressed', String(head === state.head));
    button.classList.toggle('off', state.off.includes(head));
    button.lastChild.textContent = headName(head);
    drawThumbnail(button.firstChild, headShown(batch, head), { cell: state.cell, scale, size: 104, colours: palette });
  });
}

function drawScale(scale) {
  drawLegend($('legend'), scale, 224, 14);
  $('ticks').replaceChildren(
    ...scale.ticks.map(({ value }) => {
      const tick = document.createElement('span');
      tick.textContent = value === 0 ? '0' : String(Number(value.toPrecision(2)));
      return tick;
    }),
  );
}

function drawReading(batch) {
  const cell = readCell(result, { batch, head: state.head, cell: state.cell });
  const line = $('reading');
  if (!cell) {
    line.textContent = strings.reading.none;
    $('announce').textContent = '';
    return;
  }
  const token = (text, kind) => {
    const span = document.createElement('span');
    span.className = `token ${kind}`;
    span.textContent = text;
    return span;
  };
  const weight = document.createElement('strong');
  weight.textContent = formatWeight(cell.weight);
  weight.id = 'weight';
  weight.dataset.value = String(cell.weight);
  const more = document.createElement('small');
  more.textContent = cell.hidden ? strings.reading.hidden : strings.reading.more(cell.score.toFixed(3), cell.rank, cell.seen, cell.sum.toFixed(3));
  if (cell.seen === 0) more.textContent = strings.reading.blind;
  if (state.locked) more.textContent += ` · ${strings.unlock}`;
  line.replaceChildren(token(cell.query, 'q'), ` ${strings.reading.arrow} `, token(cell.key, 'k'), ' ', weight, more);
  const say = cell.hidden ? strings.reading.hiddenSentence(cell.query, cell.key) : strings.reading.sentence(cell.query, cell.key, formatWeight(cell.weight), cell.rank, cell.seen);
  if (document.activeElement === $('large')) $('announce').textContent = say;
}

function drawSteps(batch, palette) {
  const { query, key } = state.cell;
  if (query >= result.queries.length || key >= result.keys.length) return;
  pipeline({ ...explain(result, { batch, head: state.head, cell: state.cell }), index: key }, {
    strings: strings.pipeline,
    tokens: { query: result.queries[query], key: result.keys[key] },
    theme: theme(),
    colours: palette,
    width: $('frame').clientWidth,
  });
}

function cellOf(name, text, scope) {
  const cell = document.createElement(name);
  cell.append(text);
  if (scope) cell.scope = scope;
  return cell;
}

function rowElement(cells) {
  const row = document.createElement('tr');
  row.append(...cells);
  return row;
}

function fillTable(table, caption, heads, rows) {
  const [title, head, body] = [document.createElement('caption'), document.createElement('thead'), document.createElement('tbody')];
  title.textContent = caption;
  head.append(rowElement(heads));
  body.append(...rows.map(rowElement));
  table.replaceChildren(title, head, body);
}

function drawTable(batch) {
  fillTable($('table'), strings.table(headName(state.head)), [cellOf('td', ''), ...result.keys.map((key) => cellOf('th', key, 'col'))],
    result.queries.map((query, t) => [cellOf('th', query, 'row'), ...Array.from(rowOf(result, batch, state.head, t).weights, (w) => cellOf('td', formatWeight(w)))]));
}

function drawStatistics(batch) {
  const statistics = Array.from({ length: state.heads }, (_, head) => headStatistics(headOf(result, batch, head), result.queries, result.self));
  const heads = STATISTICS.map(({ key }) => {
    const { name, formula } = strings.statistics[key];
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name, title: formula });
    button.setAttribute('aria-description', formula);
    button.onclick = () => {
      order = { key, descending: order.key === key ? !order.descending : true };
      redraw();
    };
    const cell = cellOf('th', button, 'col');
    if (order.key === key) cell.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
    return cell;
  });
  const focused = [...$('statistics').querySelectorAll('button')].indexOf(document.activeElement);
  const sorted = order.key ? rankHeads(statistics, order.key, order.descending) : statistics.map((_, head) => head);
  fillTable($('statistics'), strings.ui.statistics, [cellOf('th', strings.statisticsHead, 'col'), ...heads], sorted.map((head) => [
    cellOf('th', headName(head), 'row'),
    ...STATISTICS.map(({ key }) => (statistics[head][key] === null ? Object.assign(cellOf('td', '·'), { title: strings.undefinedStatistic }) : cellOf('td', String(Number(statistics[head][key].toPrecision(3)))))),
  ]));
  if (focused >= 0) $('statistics').querySelectorAll('button')[focused].focus();
}

function drawControls() {
  const example = EXAMPLES[state.example];
  const keys = result?.keys.length ?? 1;
  const batches = result?.shape[0] ?? 1;
  fill($('example'), Object.entries(strings.examples), state.example);
  fill($('mask'), Object.entries(strings.masks), state.mask);
  fill($('scale'), Object.entries(strings.scales), state.scale);
  const { difference, ...views } = strings.views;
  fill($('view'), Object.entries(held ? { ...views, difference } : views), comparing ? 'difference' : state.view);
  $('about').textContent = strings.about[state.example] + (example.text && tokenize(state.text).length > TOKEN_LIMIT ? ` ${strings.tooLong(TOKEN_LIMIT)}` : '');
  $('text-row').hidden = !example.text;
  $('file-row').hidden = !example.file;
  if (document.activeElement !== $('text')) $('text').value = state.text;
  $('temperature').value = String(Math.log10(state.temperature));
  $('temperature-value').textContent = state.temperature.toFixed(2);
  $('keys-row').hidden = state.mask !== 'padding';
  $('keys').max = String(keys);
  $('keys').value = String(Math.min(state.keys, keys));
  $('keys-value').textContent = strings.keys(Math.min(state.keys, keys), keys);
  $('window-row').hidden = state.mask !== 'window';
  $('window').value = String(state.window);
  $('window-value').textContent = strings.window(state.window);
  fill($('heads'), example.heads.map((n) => [n, n]), state.heads);
  $('heads-row').hidden = example.heads.length === 1 || (example.file && hasHeads());
  fill($('batch'), Array.from({ length: batches }, (_, b) => [b, strings.batch(b, batches)]), Math.min(state.batch, batches - 1));
  $('batch-row').hidden = batches === 1;
  $('seed-row').hidden = !example.seeded;
  if (document.activeElement !== $('seed')) $('seed').value = String(state.seed);
  $('scaled').checked = state.scaled;
  $('softcap').value = String(state.softcap);
  $('softcap-value').textContent = strings.cap(state.softcap);
  $('paint').checked = painting;
  $('unpaint').hidden = state.painted.length === 0;
  $('off').textContent = strings.off(state.off.includes(state.head));
  $('off').hidden = example.heads.length === 1;
  $('held').textContent = held ? (result && !comparable() ? strings.holdMisfit : strings.held(held.name)) : '';
  $('frame').classList.toggle('painting', painting);
}

/** Options of a select, made anew only where they differ. */
function fill(select, options, value) {
  const wanted = options.map(([, text]) => text).join('\n');
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([key, text]) => new Option(String(text), String(key))));
  }
  select.value = String(value);
}

function speak() {
  strings = LANGUAGES[language];
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
  document.title = strings.ui.title;
  for (const element of document.querySelectorAll('[data-text]')) element.textContent = strings.ui[element.dataset.text];
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', strings.ui[element.dataset.label]);
  $('language').value = language;
  redraw();
}

// ---- what a visitor does ----

const number = (id) => Number($(id).value);
$('example').onchange = () => update({ example: $('example').value });
$('file').onchange = () => $('file').files[0] && takeFile($('file').files[0]);
$('text').oninput = () => update({ text: $('text').value });
$('temperature').oninput = () => update({ temperature: 10 ** number('temperature') });
$('mask').onchange = () => update({ mask: $('mask').value });
$('keys').oninput = () => update({ keys: number('keys') });
$('window').oninput = () => update({ window: number('window') });
$('heads').onchange = () => update({ heads: number('heads') });
$('batch').onchange = () => update({ batch: number('batch') });
$('seed').oninput = () => update({ seed: number('seed') });
$('scaled').onchange = () => update({ scaled: $('scaled').checked });
$('softcap').oninput = () => update({ softcap: number('softcap') });
$('scale').onchange = () => update({ scale: $('scale').value });
$('view').onchange = () => {
  comparing = $('view').value === 'difference';
  update(comparing ? {} : { view: $('view').value });
};
$('paint').onchange = () => {
  painting = $('paint').checked;
  redraw();
};
$('unpaint').onclick = () => update({ painted: [] });
$('off').onclick = () => update({ off: state.off.includes(state.head) ? state.off.filter((head) => head !== state.head) : [...state.off, state.head] });
$('hold').onclick = () => {
  if (!result) return;
  held = { result, name: `${strings.examples[state.example]}, ${strings.ui.temperature} ${state.temperature.toFixed(2)}, ${strings.ui.mask}: ${strings.masks[state.mask]}` };
  comparing = true;
  redraw();
};
$('reset').onclick = () => {
  held = null;
  comparing = painting = false;
  update(initialState);
};
document.querySelector('form').onsubmit = (event) => event.preventDefault();
$('theme').onclick = () => {
  document.documentElement.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
  redraw();
};
$('language').onchange = () => {
  language = $('language').value;
  remember('language', language);
  speak();
};
prefersDark.onchange = redraw;
$('table-box').ontoggle = redraw;
$('statistics-box').ontoggle = redraw;

const hasHeads = () => given?.query.shape.length === 4;

async function takeFile(file) {
  try {
    given = readTensors(new Uint8Array(await file.arrayBuffer()));
    fileProblem = null;
  } catch (problem) {
    fileProblem = problem;
  }
  update({ example: 'file', head: 0, batch: 0, cell: null, heads: hasHeads() ? given.query.shape[1] : 1 });
  if (!fileProblem) ask();
}

const carriesFiles = (event) => event.dataTransfer?.types.includes('Files');
addEventListener('dragover', (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', (event) => event.relatedTarget === null && document.body.classList.remove('dropping'));
addEventListener('drop', (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.remove('dropping');
  if (event.dataTransfer.files[0]) takeFile(event.dataTransfer.files[0]);
});

/** One head alone, or all of them again. */
function solo(head) {
  const others = Array.from({ length: state.heads }, (_, h) => h).filter((h) => h !== head);
  update({ head, off: String(state.off) === String(others) ? [] : others });
}

const large = $('large');

/** The cell, or in the lines the token with the key it weighs most, under the pointer. */
function pointed(event) {
  const box = large.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const [T, S] = [result.queries.length, result.keys.length];
  if ('cell' in places) return cellAt(places, x, y, T, S);
  const token = tokenAt(places, x, y, T, S);
  if (!token) return null;
  if (token.side === 'key') return state.cell && { query: state.cell.query, key: token.index };
  const { weights } = rowOf(result, batchShown(), state.head, token.index);
  return { query: token.index, key: weights.indexOf(Math.max(...weights)) };
}

const isPainted = ({ query, key }) => state.painted.includes(query * PAINT_STRIDE + key);

large.onpointermove = (event) => {
  if (!places || !result) return;
  const cell = pointed(event);
  if (!cell || (cell.query === state.cell?.query && cell.key === state.cell?.key)) return;
  if (brush !== null) update(paint({ ...state, cell }, cell, brush));
  else if (!state.locked) update({ cell });
};
large.onpointerdown = (event) => {
  if (!places || !result || event.button !== 0) return;
  const cell = pointed(event);
  if (!cell) return;
  if (painting && 'cell' in places) {
    brush = !isPainted(cell);
    large.setPointerCapture(event.pointerId);
    update(paint({ ...state, cell }, cell, brush));
  } else update({ cell, locked: !(state.locked && cell.query === state.cell.query && cell.key === state.cell.key) });
};
large.onpointerup = large.onpointercancel = () => (brush = null);
large.onkeydown = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !result) return;
  if (event.key === 'Escape') return update({ locked: false });
  if ((event.key === ' ' || event.key === 'Enter') && state.cell) {
    event.preventDefault();
    return update(painting ? paint(state, state.cell, !isPainted(state.cell)) : { locked: !state.locked });
  }
  const cell = step(state.cell, event.key, result.queries.length, result.keys.length);
  if (!cell) return;
  event.preventDefault();
  update({ cell });
};

// ---- keeping and sharing ----

const nameOf = (extension) => fileName(['headlight', strings.examples[state.example], headName(state.head)], extension);
const whole = { csv: ['text/csv', () => toCsv(result, { batch: batchShown(), head: state.head })], npy: ['application/octet-stream', () => toNpy(result)], safetensors: ['application/octet-stream', () => toSafetensors(result)] };
for (const [id, [type, make]] of Object.entries(whole)) $(id).onclick = () => result && download(nameOf(id), type, make());
$('png').onclick = async () => result && download(nameOf('png'), 'image/png', await pngOf(large));
$('svg').onclick = () => {
  if (!result) return;
  const head = headShown(batchShown(), state.head);
  const scale = comparing && comparable() ? makeSignedScale('light', head.weights.reduce((a, b) => Math.max(a, Math.abs(b)), 0)) : makeScale('light', result.weights.reduce((a, b) => Math.max(a, b), 0), state.scale);
  const palette = { text: '#3a352c', paper: '#fbfaf7', hatch: '#9a9384', query: '#1558c0', key: '#b3261e' };
  download(nameOf('svg'), 'image/svg+xml', toSvg({ head, queries: result.queries, keys: result.keys, scale, title: $('head-name').textContent, colours: palette }));
};

async function give(kind, text) {
  const copied = await copyText(text);
  $('shared').textContent = copied ? strings.copied[kind] : strings.cannotCopy;
  $('copy').hidden = copied;
  $('copy').value = text;
  if (!copied) $('copy').select();
}
$('link').onclick = () => give('link', `${location.href.split('#')[0]}#${writeState(state)}`);
$('code').onclick = () => {
  if (!result) return;
  const options = attentionOptions(state, EXAMPLES[state.example].problem(state, given));
  give('code', toProgram(result, options, { batch: batchShown(), head: state.head, title: `${strings.examples[state.example]}: ${headName(state.head)}` }));
};

addEventListener('hashchange', () => update({ ...readState(location.hash.slice(1)) }));
new ResizeObserver(redraw).observe($('frame'));
speak();
ask();
