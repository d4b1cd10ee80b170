// Wires the page: what a visitor does changes the state, the state asks the core, the answer is drawn.

import { createCompute } from './compute.js';
import { EXAMPLES, TOKEN_LIMIT, tokenize } from './examples.js';
import { cellAt, drawHead, drawLegend, drawThumbnail } from './heatmap.js';
import { formatWeight, makeScale } from './scale.js';
import { asksAnew, change, headOf, initialState, readCell, rowOf, step } from './state.js';
import { strings } from './strings.js';

/** The large picture fits a laptop's screen together with what is said of it. */
const MOST_HEIGHT = 600;

const $ = (id) => document.getElementById(id);
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

let state = initialState;
/** @type {ReturnType<typeof import('./worker.js')> | any} the newest answer of the core */
let result = null;
let error = '';
let places = null;
let frame = 0;

const compute = createCompute((answer) => {
  error = answer.error ?? '';
  if (!error) result = answer.result;
  redraw();
});

function update(patch) {
  const before = state;
  state = change(state, patch);
  if (asksAnew(before, state)) compute.ask(state);
  redraw();
}

// ---- drawing ----

const theme = () => document.documentElement.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light');

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  return { text: get('soft'), ink: get('ink'), query: get('query'), key: get('key'), grid: get('grid'), hatch: get('hatch') };
}

const headName = (head) => (EXAMPLES[state.example].named ? strings.heads[head] : strings.head(head));

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(draw);
}

function draw() {
  drawControls();
  const shown = result && result.shape[1] === state.heads ? result : null;
  $('message').textContent = error ? strings.failed(error) : result === null && tokenless() ? strings.empty : shown ? '' : strings.loading;
  $('large').hidden = !shown;
  if (!shown) {
    $('grid').replaceChildren();
    return;
  }
  const batch = Math.min(state.batch, result.shape[0] - 1);
  const most = result.weights.reduce((a, b) => Math.max(a, b), 0);
  const scale = makeScale(theme(), most);
  const palette = colours();
  places = drawHead($('large'), headOf(result, batch, state.head), {
    queries: result.queries,
    keys: result.keys,
    cell: state.cell,
    scale,
    width: $('frame').clientWidth,
    height: MOST_HEIGHT,
    colours: palette,
  });
  const name = headName(state.head);
  $('large').setAttribute('aria-label', strings.picture(name, result.queries.length, result.keys.length));
  $('head-name').textContent = name;
  $('head-about').textContent = EXAMPLES[state.example].named ? strings.headAbout[state.head] : '';
  drawGrid(batch, scale, palette);
  drawScale(scale);
  drawReading(batch);
  if ($('table-box').open) drawTable(batch);
  $('facts').textContent = strings.facts(result.info, result.milliseconds, result.queries.length, result.keys.length, result.shape[0] * result.shape[1]);
}

const tokenless = () => EXAMPLES[state.example].text && tokenize(state.text).length === 0;

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
    grid.append(button);
  }
  [...grid.children].forEach((button, head) => {
    button.setAttribute('aria-pressed', String(head === state.head));
    button.lastChild.textContent = headName(head);
    drawThumbnail(button.firstChild, headOf(result, batch, head), { cell: state.cell, scale, size: 104, colours: palette });
  });
}

function drawScale(scale) {
  drawLegend($('legend'), scale, 224, 14);
  $('ticks').replaceChildren(
    ...scale.ticks.map(({ value }) => {
      const tick = document.createElement('span');
      tick.textContent = value === 0 ? '0' : value.toPrecision(2);
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
  more.textContent = cell.hidden
    ? strings.reading.hidden
    : `score ${cell.score.toFixed(3)} · rank ${cell.rank} of ${cell.seen} · the row sums to ${cell.sum.toFixed(3)}`;
  if (cell.seen === 0) more.textContent = strings.reading.blind;
  line.replaceChildren(token(cell.query, 'q'), ` ${strings.reading.arrow} `, token(cell.key, 'k'), ' ', weight, more);
  const say = cell.hidden ? strings.reading.hiddenSentence(cell.query, cell.key) : strings.reading.sentence(cell.query, cell.key, formatWeight(cell.weight), cell.rank, cell.seen);
  if (document.activeElement === $('large')) $('announce').textContent = say;
}

function drawTable(batch) {
  const row = (cells) => {
    const tr = document.createElement('tr');
    tr.append(...cells);
    return tr;
  };
  const th = (text, scope) => {
    const cell = document.createElement('th');
    cell.textContent = text;
    cell.scope = scope;
    return cell;
  };
  const td = (text) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    return cell;
  };
  const caption = document.createElement('caption');
  caption.textContent = strings.table(headName(state.head));
  const [head, body] = [document.createElement('thead'), document.createElement('tbody')];
  head.append(row([td(''), ...result.keys.map((key) => th(key, 'col'))]));
  result.queries.forEach((query, t) => {
    const { weights } = rowOf(result, batch, state.head, t);
    body.append(row([th(query, 'row'), ...Array.from(weights, (w) => td(formatWeight(w)))]));
  });
  $('table').replaceChildren(caption, head, body);
}

function drawControls() {
  const example = EXAMPLES[state.example];
  const keys = result?.keys.length ?? 1;
  const batches = result?.shape[0] ?? 1;
  $('example').value = state.example;
  $('about').textContent = strings.about[state.example] + (example.text && tokenize(state.text).length > TOKEN_LIMIT ? ` ${strings.tooLong(TOKEN_LIMIT)}` : '');
  $('text-row').hidden = !example.text;
  if (document.activeElement !== $('text')) $('text').value = state.text;
  $('temperature').value = String(Math.log10(state.temperature));
  $('temperature-value').textContent = state.temperature.toFixed(2);
  $('mask').value = state.mask;
  $('keys-row').hidden = state.mask !== 'padding';
  $('keys').max = String(keys);
  $('keys').value = String(Math.min(state.keys, keys));
  $('keys-value').textContent = strings.keys(Math.min(state.keys, keys), keys);
  fill($('heads'), example.heads.map((n) => [n, n]), state.heads);
  $('heads-row').hidden = example.heads.length === 1;
  fill($('batch'), Array.from({ length: batches }, (_, b) => [b, strings.batch(b, batches)]), Math.min(state.batch, batches - 1));
  $('batch-row').hidden = batches === 1;
  $('seed-row').hidden = !example.seeded;
  if (document.activeElement !== $('seed')) $('seed').value = String(state.seed);
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

// ---- what a visitor does ----

fill($('example'), Object.entries(strings.examples), state.example);
fill($('mask'), Object.entries(strings.masks), state.mask);

const number = (id) => Number($(id).value);
$('example').onchange = () => update({ example: $('example').value });
$('text').oninput = () => update({ text: $('text').value });
$('temperature').oninput = () => update({ temperature: 10 ** number('temperature') });
$('mask').onchange = () => update({ mask: $('mask').value });
$('keys').oninput = () => update({ keys: number('keys') });
$('heads').onchange = () => update({ heads: number('heads') });
$('batch').onchange = () => update({ batch: number('batch') });
$('seed').oninput = () => update({ seed: number('seed') });
$('reset').onclick = () => update(initialState);
document.querySelector('form').onsubmit = (event) => event.preventDefault();
$('theme').onclick = () => {
  document.documentElement.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
  redraw();
};
prefersDark.onchange = redraw;
$('table-box').ontoggle = redraw;

const large = $('large');
const point = (event) => {
  if (!places || !result) return;
  const box = large.getBoundingClientRect();
  const cell = cellAt(places, event.clientX - box.left, event.clientY - box.top, result.queries.length, result.keys.length);
  if (cell && (cell.query !== state.cell?.query || cell.key !== state.cell?.key)) update({ cell });
};
large.onpointermove = point;
large.onpointerdown = point;
large.onkeydown = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !result) return;
  const cell = step(state.cell, event.key, result.queries.length, result.keys.length);
  if (!cell) return;
  event.preventDefault();
  update({ cell });
};
new ResizeObserver(redraw).observe($('frame'));

compute.ask(state);
