// The Train view: a small transformer learns while one watches.

import { formatWeight, makeScale } from '../model/scale.js';
import { largest } from '../model/shrink.js';
import { step } from '../model/state.js';
import { createStore } from '../model/store.js';
import { CHOICES, isLongEnough, LEAST_CHARACTERS, usualSettings } from '../model/tasks.js';
import { hear, settingsFor, startTraining } from '../model/training.js';
import { drawCurves } from './charts.js';
import { fill } from './controls.js';
import { download } from './download.js';
import { cellAt, drawHead, drawThumbnail } from './heatmap.js';

/** @import { Begun, Message, Report, Training } from '../model/types.js' */
/** @typedef {Report & Required<Pick<Report, 'seen' | 'snapshots'>> & { cells: any[][] }} FullReport */
/** @typedef {Training & { begun: Begun, report: FullReport }} Drawn */

const BINARY = 'application/octet-stream';
const SPEEDS = ['slow', 'medium', 'fast'];
const CURVE_HEIGHT = 150;
/** The live sentence is renewed not more often than this, in milliseconds. */
const SAY_EVERY = 5000;

export function createTraining({ $, root, store, strings, update, redraw, signal, startWorker, explore }) {
  const training = createStore(startTraining(settingsFor(store.get().state.task, '', strings().trainSample)));
  training.subscribe(redraw);
  /** What is drawn once a report with pictures of the heads has come. */
  const drawn = () => /** @type {Drawn} */ (training.get());
  let worker = null;
  /** Where everything lies in the large picture. */
  let places = null;
  /** Whose answers stand on the page. */
  let written = null;
  let saidAt = 0;

  function start() {
    const started = startWorker();
    started.worker.onmessage = ({ data }) => receive(data);
    started.worker.onerror = (event) => receive({ error: event.message ?? 'the worker did not start' });
    signal.addEventListener('abort', () => started.stop());
    return started.worker;
  }

  function send(verb, more = {}, transfer = []) {
    worker ??= start();
    const order = training.get().asked + 1;
    training.set({ asked: order });
    worker.postMessage({ verb, order, ...more }, transfer);
  }

  /** @param {Message} message */
  function receive(message) {
    training.set(hear(training.get(), message));
    const { settings, head } = training.get();
    if ('saved' in message) download(`headlight-${settings.task}.safetensors`, BINARY, message.saved);
    if ('layer' in message)
      explore({ name: 'layer.safetensors', bytes: message.layer.bytes }, message.layer.heads, head.head);
    if ('started' in message) update({ task: settings.task });
  }

  function begin(change = {}) {
    const settings = { ...training.get().settings, ...change };
    const short = settings.task === 'text' && !isLongEnough(settings.text);
    const { playing } = training.get();
    training.set({ settings, playing: false, message: short ? 'shortText' : null });
    if (!short) send('start', { settings });
    else if (playing) send('pause');
  }

  // ---- what a visitor does ----

  const number = (id) => Number($(id).value);
  const startsOver = (id, read) => ($(id).onchange = () => begin(read()));
  startsOver('task', () => settingsFor($('task').value, $('train-text').value, strings().trainSample));
  startsOver('train-text', () => ({ text: $('train-text').value }));
  startsOver('layers', () => ({ layers: number('layers') }));
  startsOver('train-heads', () => ({ heads: number('train-heads') }));
  startsOver('width', () => ({ width: number('width') }));
  startsOver('optimizer', () => ({
    optimizer: $('optimizer').value,
    rate: $('optimizer').value === 'sgd' ? 0.1 : 0.003,
  }));
  startsOver('dropout', () => ({ dropout: number('dropout') }));
  startsOver('train-seed', () => ({ seed: Math.max(Math.floor(number('train-seed')) || 0, 0) }));
  startsOver('mlp', () => ({ mlp: $('mlp').checked }));
  $('rate').oninput = () => {
    const settings = { ...training.get().settings, rate: 10 ** number('rate') };
    training.set({ settings });
    send('set', { rate: settings.rate });
  };
  $('play').onclick = () => {
    const playing = !training.get().playing;
    training.set({ playing, message: null });
    send(playing ? 'play' : 'pause');
  };
  $('one-step').onclick = () => {
    training.set({ playing: false });
    send('step');
  };
  $('train-reset').onclick = () => {
    const { task, text } = training.get().settings;
    begin(task === 'text' && !isLongEnough(text) ? { text } : usualSettings(task, text));
  };
  $('speed').onchange = () => send('set', { speed: $('speed').value });
  $('snapshot').oninput = () => {
    training.set({ playing: false });
    send('back', { at: number('snapshot') });
  };
  $('train-save').onclick = () => send('save');
  $('train-load').onchange = async () => {
    const [file] = $('train-load').files;
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    $('train-load').value = '';
    send('load', { bytes }, [bytes.buffer]);
  };
  $('explore-head').onclick = () => send('layer', { at: training.get().head.layer });
  root.querySelector('#train form').onsubmit = (event) => event.preventDefault();
  $('train-large').onpointermove = (event) => {
    if (!places) return;
    const box = $('train-large').getBoundingClientRect();
    const cell = cellAt(places, event.clientX - box.left, event.clientY - box.top);
    if (cell) training.set({ cell });
  };
  $('train-large').onkeydown = (event) => {
    const { begun, report, cell } = training.get();
    if (!begun || !report?.seen || event.ctrlKey || event.metaKey || event.altKey) return;
    const T = begun.probe.labels.length;
    const walked = step(cell, event.key, T, T);
    if (!walked) return;
    event.preventDefault();
    training.set({ cell: walked });
  };

  // ---- drawing ----

  const textOf = (/** @type {Training['message']} */ message, strings) => {
    if (message === null) return '';
    return typeof message === 'string'
      ? strings.train.messages[message](LEAST_CHARACTERS)
      : strings.failed(message.failed);
  };

  function drawControls({ strings }) {
    const { settings, playing, message } = training.get();
    const named = (names, texts) => names.map((name) => [name, texts[name]]);
    const plain = (values) => values.map((value) => [value, value]);
    fill($('task'), named(CHOICES.task, strings.train.tasks), settings.task);
    $('train-text-row').hidden = settings.task !== 'text';
    if (root.activeElement !== $('train-text')) $('train-text').value = settings.text;
    $('rate').value = String(Math.log10(settings.rate));
    $('rate-value').textContent = String(Number(settings.rate.toPrecision(2)));
    fill($('layers'), plain(CHOICES.layers), settings.layers);
    fill($('train-heads'), plain(CHOICES.heads), settings.heads);
    fill($('width'), plain(CHOICES.width), settings.width);
    fill(
      $('optimizer'),
      plain(CHOICES.optimizer).map(([name]) => [name, strings.train.optimizers[name]]),
      settings.optimizer,
    );
    fill($('dropout'), plain(CHOICES.dropout), settings.dropout);
    if (root.activeElement !== $('train-seed')) $('train-seed').value = String(settings.seed);
    $('mlp').checked = settings.mlp;
    fill($('speed'), named(SPEEDS, strings.train.speeds), $('speed').value || 'fast');
    $('task-name').textContent = strings.train.tasks[settings.task];
    $('task-about').textContent = strings.train.about[settings.task];
    $('play').textContent = playing ? strings.train.pause : strings.train.play;
    $('train-message').textContent = textOf(message, strings);
  }

  function drawCharts({ strings, colours, room }) {
    const { begun, report, head, curves } = drawn();
    const { layers, heads: each, task } = begun.settings;
    const { loss, accuracy, validLoss, validAccuracy, scores } = curves;
    const width = Math.max(Math.min(room, 720), 240);
    const mark = report.at === undefined ? undefined : report.snapshots[report.at];
    const common = { width, height: CURVE_HEIGHT, colours, mark };
    drawCurves($('loss-curve'), {
      ...common,
      log: true,
      series: [
        { points: loss, colour: colours.text, width: 1 },
        { points: validLoss, colour: colours.query, width: 2 },
      ],
    });
    drawCurves($('accuracy-curve'), {
      ...common,
      to: 1,
      series: [
        { points: accuracy, colour: colours.text, width: 1 },
        { points: validAccuracy, colour: colours.query, width: 2 },
      ],
    });
    const kind = task === 'previous' ? 'previous' : 'induction';
    const heads = Array.from({ length: layers * each }, (_, i) => [Math.floor(i / each), i % each]);
    const chosen = (/** @type {number[]} */ [l, h]) => l === head.layer && h === head.head;
    drawCurves($('score-curve'), {
      ...common,
      to: 1,
      series: ['previous', 'induction'].flatMap((score) =>
        heads
          .toSorted((a, b) => Number(chosen(a)) - Number(chosen(b)))
          .map(([l, h]) => ({
            points: scores.map(({ step, scores: all }) => [step, all[l][h][score]]),
            colour: chosen([l, h]) ? (score === 'induction' ? colours.key : colours.query) : colours.line,
            width: chosen([l, h]) ? 2.5 : 1,
            dashed: score === 'previous',
          })),
      ),
    });
    $('score-name').textContent = strings.train.scoreCurve;
    const last = (points) => points.at(-1)?.[1];
    const text = (value) => (value === undefined ? '–' : formatWeight(value));
    $('loss-curve').setAttribute(
      'aria-label',
      `${strings.ui.lossCurve}: ${text(last(loss))}, ${text(last(validLoss))}`,
    );
    $('accuracy-curve').setAttribute(
      'aria-label',
      `${strings.ui.accuracyCurve}: ${text(last(accuracy))}, ${text(last(validAccuracy))}`,
    );
    const scoreOf = ([l, h]) => text(scores.at(-1)?.scores[l][h][kind]);
    const said = heads.map(([l, h]) => `${strings.train.head(l, h)} ${scoreOf([l, h])}`);
    $('score-curve').setAttribute('aria-label', `${strings.train.scoreCurve}: ${said.join(', ')}`);
  }

  /** What a head does, where it clearly does it. */
  function kindOf({ previous, induction }, strings) {
    if (Math.max(previous, induction) < 0.4) return '';
    return strings.train.kinds[previous >= induction ? 'previous' : 'induction'];
  }

  function drawGrid({ strings, colours }, scale) {
    const { begun, report, head } = drawn();
    const { layers, heads } = begun.settings;
    const T = begun.probe.labels.length;
    const grid = $('train-grid');
    grid.style.gridTemplateColumns = `repeat(${Math.min(heads, 2)}, minmax(0, 1fr))`;
    while (grid.children.length > layers * heads) grid.lastChild.remove();
    while (grid.children.length < layers * heads) {
      const button = Object.assign(document.createElement('button'), { type: 'button' });
      const canvas = document.createElement('canvas');
      canvas.setAttribute('aria-hidden', 'true');
      button.append(canvas, document.createElement('span'));
      const at = grid.children.length;
      button.onclick = () => {
        const each = drawn().begun.settings.heads;
        training.set({ head: { layer: Math.floor(at / each), head: at % each } });
      };
      grid.append(button);
    }
    [...grid.children].forEach((button, i) => {
      const [l, h] = [Math.floor(i / heads), i % heads];
      button.setAttribute('aria-pressed', String(l === head.layer && h === head.head));
      const kind = kindOf(report.seen.scores[l][h], strings);
      button.lastChild.textContent = `${strings.train.head(l, h)}${kind && `: ${kind}`}`;
      const size = { T, S: T, scale, size: 104, colours };
      drawThumbnail(button.firstChild, report.cells[l][h], { marked: [], ...size });
    });
  }

  function drawLarge({ strings, colours, room }, scale) {
    const { begun, report, head, cell } = drawn();
    const T = begun.probe.labels.length;
    const names = begun.probe.labels.map((label) => begun.tokens[label]);
    const name = strings.train.head(head.layer, head.head);
    const region = { queries: { from: 0, to: T }, keys: { from: 0, to: T } };
    const shown = report.cells[head.layer][head.head];
    places = drawHead(
      $('train-large'),
      { ...shown, region },
      { queries: names, keys: names, cell, also: [], scale, width: room, height: 460, colours },
    );
    const { previous, induction } = report.seen.scores[head.layer][head.head];
    $('train-head-name').textContent = name;
    $('train-head-about').textContent = strings.train.scores(formatWeight(previous), formatWeight(induction));
    $('train-large').setAttribute('aria-label', strings.picture(name, T, T));
    const inside = cell && cell.query < T && cell.key < T;
    $('train-reading').textContent = inside
      ? `${names[cell.query]} → ${names[cell.key]}: ${formatWeight(shown.values[cell.query * T + cell.key] || 0)}`
      : strings.train.pointAt;
    if (inside && root.activeElement === $('train-large')) $('announce').textContent = $('train-reading').textContent;
  }

  /** A few sequences, with what the model writes beneath what was to be written. */
  function drawWritten() {
    const { begun, report } = drawn();
    if (written === report.seen) return;
    written = report.seen;
    const sign = (text, kind) =>
      Object.assign(document.createElement('span'), { textContent: text, className: `sign ${kind}` });
    $('written').replaceChildren(
      ...report.seen.examples.map(({ labels, targets, written }) => {
        const lines = [
          labels.map((label) => sign(begun.tokens[label], '')),
          targets.map((target, t) =>
            target < 0 ? sign(' ', '') : sign(begun.tokens[written[t]], written[t] === target ? 'right' : 'wrong'),
          ),
        ];
        const block = Object.assign(document.createElement('div'), { className: 'signs' });
        block.append(
          ...lines.map((line) => {
            const row = document.createElement('div');
            row.append(...line);
            return row;
          }),
        );
        return block;
      }),
    );
  }

  function drawStatus({ strings }) {
    const { begun, report, curves, playing, asked, answered } = drawn();
    const { snapshots } = report;
    const text =
      report.at === undefined
        ? strings.train.status(
            report.steps,
            curves.loss.at(-1)?.[1],
            curves.validAccuracy.at(-1)?.[1],
            playing ? report.perSecond : undefined,
            begun.info,
          )
        : strings.train.lookedBack(snapshots[report.at]);
    $('train-status').textContent = text;
    $('train-status').setAttribute('aria-busy', String(playing || answered !== asked));
    if (performance.now() - saidAt > SAY_EVERY) {
      $('announce').textContent = text;
      saidAt = performance.now();
    }
    const at = report.at ?? snapshots.length - 1;
    $('snapshot').max = String(snapshots.length - 1);
    $('snapshot').value = String(at);
    $('snapshot-value').textContent = strings.train.step(snapshots[at]);
  }

  return {
    /** The first time the view is opened there is something to start. */
    open() {
      if (!worker) begin(settingsFor(store.get().state.task, '', strings().trainSample));
    },
    close() {
      if (training.get().playing) $('play').click();
    },
    draw(scene) {
      drawControls(scene);
      const { report } = training.get();
      if (!report?.seen) return;
      const most = Math.max(...report.seen.weights.map(largest));
      const scale = makeScale(scene.theme, most);
      const full = { ...scene, room: $('task-about').parentElement.clientWidth };
      drawGrid(full, scale);
      drawLarge(full, scale);
      drawCharts(full);
      drawWritten();
      drawStatus(full);
    },
  };
}
