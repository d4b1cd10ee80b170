// The Train view: a small transformer learns while one looks on.

import { formatWeight, makeScale } from '../model/scale.js';
import { step } from '../model/state.js';
import { OPTIMIZERS, TASK_NAMES, usualSettings } from '../model/tasks.js';
import { startWorker } from '../worker/ask.js';
import { drawCurves } from './charts.js';
import { fill } from './controls.js';
import { download } from './download.js';
import { cellAt, drawHead, drawThumbnail } from './heatmap.js';

const CHOICES = {
  layers: [1, 2, 3, 4],
  heads: [1, 2, 4, 8],
  width: [16, 32, 64, 128],
  dropout: [0, 0.1, 0.2, 0.4],
};
const SPEEDS = ['slow', 'medium', 'fast'];
const CURVE_HEIGHT = 150;
/** The live sentence is renewed not more often than this, in milliseconds. */
const SAY_EVERY = 5000;

export function createTraining(page) {
  const { $ } = page;
  let teacher = null;
  let settings = usualSettings(page.state.task, page.strings.trainSample);
  /** What the worker last said, and the curves so far. */
  let now = null;
  let curves = null;
  let [head, playing, message, saidAt] = [{ layer: 0, head: 0 }, false, '', 0];
  /** How often the worker was told something, and which of these it has answered last. */
  let [asked, answered] = [0, 0];
  let places = null;
  let cell = null;
  /** Whose answers stand on the page. */
  let written = null;

  const freshCurves = () => ({ loss: [], accuracy: [], validLoss: [], validAccuracy: [], scores: [] });

  function send(verb, more = {}, transfer = []) {
    teacher ??= startTeacher();
    teacher.worker.postMessage({ verb, order: ++asked, ...more }, transfer);
    page.redraw();
  }

  function startTeacher() {
    const started = startWorker('teach');
    started.worker.onmessage = ({ data }) => hear(data);
    started.worker.onerror = (event) => hear({ error: event.message ?? 'the worker did not start' });
    page.signal.addEventListener('abort', () => started.stop());
    return started;
  }

  function hear({ error, verb, saved, layer, points = [], started, order = asked, ...more }) {
    const { strings } = page;
    answered = order;
    if (error) {
      message = verb === 'load' ? strings.train.badModel : strings.failed(error);
      return page.redraw();
    }
    if (saved) return download(`headlight-${settings.task}.safetensors`, 'application/octet-stream', saved);
    if (layer) return page.exploreTensors({ name: 'layer.safetensors', bytes: layer.bytes }, layer.heads, head.head);
    if (started) {
      settings = started.settings;
      now = { ...started, info: more.info };
      curves = freshCurves();
      head = { layer: settings.layers - 1, head: 0 };
      [cell, message] = [null, ''];
      page.update({ task: settings.task });
    }
    now = { ...now, at: undefined, ...more };
    if (more.seen) now.cells = cellsOf(more.seen, now.probe.labels.length, now.settings.heads);
    if (order === asked) playing = more.playing ?? playing;
    if (more.broken) {
      message = strings.train.broken;
      playing = false;
    }
    for (const [step, loss, accuracy, validLoss, validAccuracy] of points) {
      curves.loss.push([step, loss]);
      curves.accuracy.push([step, accuracy]);
      if (validLoss === undefined) continue;
      curves.validLoss.push([step, validLoss]);
      curves.validAccuracy.push([step, validAccuracy]);
    }
    if (more.seen && more.at === undefined) {
      const last = curves.scores.at(-1);
      if (last?.step === more.steps) curves.scores.pop();
      curves.scores.push({ step: more.steps, scores: more.seen.scores });
    }
    page.redraw();
  }

  function begin(change = {}) {
    settings = { ...settings, ...change };
    playing = false;
    send('start', { settings });
  }

  // ---- what a visitor does ----

  const number = (id) => Number($(id).value);
  const startsOver = (id, read) => ($(id).onchange = () => begin(read()));
  $('task').onchange = () => begin(usualSettings($('task').value, $('train-text').value || page.strings.trainSample));
  startsOver('train-text', () => usualSettings('text', $('train-text').value));
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
    settings = { ...settings, rate: 10 ** number('rate') };
    send('set', { rate: settings.rate });
    page.redraw();
  };
  $('play').onclick = () => {
    playing = !playing;
    message = '';
    send(playing ? 'play' : 'pause');
    page.redraw();
  };
  $('one-step').onclick = () => {
    playing = false;
    send('step');
  };
  $('train-reset').onclick = () => begin(usualSettings(settings.task, settings.text));
  $('speed').onchange = () => send('set', { speed: $('speed').value });
  $('snapshot').oninput = () => {
    playing = false;
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
  $('explore-head').onclick = () => send('layer', { at: head.layer });
  page.root.querySelector('#train form').onsubmit = (event) => event.preventDefault();
  $('train-large').onpointermove = (event) => {
    if (!places) return;
    const box = $('train-large').getBoundingClientRect();
    cell = cellAt(places, event.clientX - box.left, event.clientY - box.top) ?? cell;
    page.redraw();
  };

  $('train-large').onkeydown = (event) => {
    if (!now?.seen || event.ctrlKey || event.metaKey || event.altKey) return;
    const T = now.probe.labels.length;
    const walked = step(cell, event.key, T, T);
    if (!walked) return;
    event.preventDefault();
    cell = walked;
    page.redraw();
  };

  // ---- drawing ----

  function drawControls() {
    const { strings } = page;
    const named = (names, texts) => names.map((name) => [name, texts[name]]);
    const plain = (values) => values.map((value) => [value, value]);
    fill($('task'), named(TASK_NAMES, strings.train.tasks), settings.task);
    $('train-text-row').hidden = settings.task !== 'text';
    if (page.root.activeElement !== $('train-text')) $('train-text').value = settings.text;
    $('rate').value = String(Math.log10(settings.rate));
    $('rate-value').textContent = String(Number(settings.rate.toPrecision(2)));
    fill($('layers'), plain(CHOICES.layers), settings.layers);
    fill($('train-heads'), plain(CHOICES.heads), settings.heads);
    fill($('width'), plain(CHOICES.width), settings.width);
    fill(
      $('optimizer'),
      plain(OPTIMIZERS).map(([name]) => [name, strings.train.optimizers[name]]),
      settings.optimizer,
    );
    fill($('dropout'), plain(CHOICES.dropout), settings.dropout);
    if (page.root.activeElement !== $('train-seed')) $('train-seed').value = String(settings.seed);
    $('mlp').checked = settings.mlp;
    fill($('speed'), named(SPEEDS, strings.train.speeds), $('speed').value || 'fast');
    $('task-name').textContent = strings.train.tasks[settings.task];
    $('task-about').textContent = strings.train.about[settings.task];
    $('play').textContent = playing ? strings.train.pause : strings.train.play;
    $('train-message').textContent = message;
  }

  function drawCharts(colours) {
    const { strings } = page;
    const { loss, accuracy, validLoss, validAccuracy, scores } = curves;
    const width = Math.max(Math.min(page.trainRoom, 720), 240);
    const mark = now.at === undefined ? undefined : now.snapshots[now.at];
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
    const kind = now.settings.task === 'previous' ? 'previous' : 'induction';
    const heads = Array.from({ length: now.settings.layers * now.settings.heads }, (_, i) => [
      Math.floor(i / now.settings.heads),
      i % now.settings.heads,
    ]);
    const chosen = ([l, h]) => l === head.layer && h === head.head;
    drawCurves($('score-curve'), {
      ...common,
      to: 1,
      series: ['previous', 'induction'].flatMap((score) =>
        heads
          .toSorted((a, b) => chosen(a) - chosen(b))
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
    $('score-curve').setAttribute(
      'aria-label',
      `${strings.train.scoreCurve}: ${heads.map(([l, h]) => `${strings.train.head(l, h)} ${text(scores.at(-1)?.scores[l][h][kind])}`).join(', ')}`,
    );
  }

  /** The weights of every head of every layer; what the causal mask hides is NaN, so that it is drawn as hidden. */
  function cellsOf({ weights }, T, heads) {
    return weights.map((layer) =>
      Array.from({ length: heads }, (_, h) => {
        const values = layer.slice(h * T * T, (h + 1) * T * T);
        for (let t = 0; t < T; t++) values.fill(NaN, t * T + t + 1, (t + 1) * T);
        return { rows: T, columns: T, values };
      }),
    );
  }

  function drawHeads(scale, colours) {
    const { strings } = page;
    const T = now.probe.labels.length;
    const grid = $('train-grid');
    const count = now.settings.layers * now.settings.heads;
    grid.style.gridTemplateColumns = `repeat(${Math.min(now.settings.heads, 2)}, minmax(0, 1fr))`;
    while (grid.children.length > count) grid.lastChild.remove();
    while (grid.children.length < count) {
      const button = Object.assign(document.createElement('button'), { type: 'button' });
      button.append(document.createElement('canvas'), document.createElement('span'));
      button.firstChild.setAttribute('aria-hidden', 'true');
      const at = grid.children.length;
      button.onclick = () => {
        head = { layer: Math.floor(at / now.settings.heads), head: at % now.settings.heads };
        page.redraw();
      };
      grid.append(button);
    }
    [...grid.children].forEach((button, i) => {
      const one = { layer: Math.floor(i / now.settings.heads), head: i % now.settings.heads };
      button.setAttribute('aria-pressed', String(one.layer === head.layer && one.head === head.head));
      const { previous, induction } = now.seen.scores[one.layer][one.head];
      const kind =
        Math.max(previous, induction) < 0.4
          ? ''
          : previous >= induction
            ? strings.train.kinds.previous
            : strings.train.kinds.induction;
      button.lastChild.textContent = `${strings.train.head(one.layer, one.head)}${kind && `: ${kind}`}`;
      drawThumbnail(button.firstChild, now.cells[one.layer][one.head], {
        marked: [],
        T,
        S: T,
        scale,
        size: 104,
        colours,
      });
    });
    const names = now.probe.labels.map((label) => now.tokens[label]);
    const region = { queries: { from: 0, to: T }, keys: { from: 0, to: T } };
    const shown = now.cells[head.layer][head.head];
    places = drawHead(
      $('train-large'),
      { ...shown, region },
      { queries: names, keys: names, cell, also: [], scale, width: page.trainRoom, height: 460, colours },
    );
    const { previous, induction } = now.seen.scores[head.layer][head.head];
    $('train-head-name').textContent = strings.train.head(head.layer, head.head);
    $('train-head-about').textContent = strings.train.scores(formatWeight(previous), formatWeight(induction));
    $('train-large').setAttribute('aria-label', strings.picture(strings.train.head(head.layer, head.head), T, T));
    const inside = cell && cell.query < T && cell.key < T;
    $('train-reading').textContent = inside
      ? `${names[cell.query]} → ${names[cell.key]}: ${formatWeight(shown.values[cell.query * T + cell.key] || 0)}`
      : strings.train.pointAt;
    if (inside && page.root.activeElement === $('train-large'))
      $('announce').textContent = $('train-reading').textContent;
  }

  /** A few sequences, with what the model writes beneath what was to be written. */
  function drawWritten() {
    if (written === now.seen) return;
    written = now.seen;
    const sign = (text, kind) =>
      Object.assign(document.createElement('span'), { textContent: text, className: `sign ${kind}` });
    $('written').replaceChildren(
      ...now.seen.examples.map(({ labels, targets, written }) => {
        const lines = [
          labels.map((label) => sign(now.tokens[label], '')),
          targets.map((target, t) =>
            target < 0 ? sign(' ', '') : sign(now.tokens[written[t]], written[t] === target ? 'right' : 'wrong'),
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

  function drawStatus() {
    const { strings } = page;
    const { loss, validAccuracy } = curves;
    const accuracy = validAccuracy.at(-1)?.[1];
    const text =
      now.at === undefined
        ? strings.train.status(
            now.steps ?? 0,
            loss.at(-1)?.[1],
            accuracy,
            playing ? now.perSecond : undefined,
            now.info,
          )
        : strings.train.lookedBack(now.snapshots[now.at]);
    $('train-status').textContent = text;
    $('train-status').setAttribute('aria-busy', String(playing || answered !== asked));
    if (performance.now() - saidAt > SAY_EVERY) {
      $('announce').textContent = text;
      saidAt = performance.now();
    }
    $('snapshot').max = String(Math.max((now.snapshots?.length ?? 1) - 1, 0));
    $('snapshot').value = String(now.at ?? (now.snapshots?.length ?? 1) - 1);
    $('snapshot-value').textContent = strings.train.step(now.snapshots?.[now.at ?? now.snapshots.length - 1] ?? 0);
  }

  return {
    /** The first time the view is opened there is something to start. */
    open() {
      if (!teacher) begin(usualSettings(page.state.task, page.strings.trainSample));
    },
    close() {
      if (playing) $('play').click();
    },
    draw(colours) {
      drawControls();
      if (!now?.seen) return;
      const most = now.seen.weights.reduce((a, layer) => layer.reduce((b, w) => Math.max(b, w), a), 0);
      drawHeads(makeScale(page.theme(), most), colours);
      drawCharts(colours);
      drawWritten();
      drawStatus();
    },
  };
}
