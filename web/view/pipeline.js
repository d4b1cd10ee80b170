// The steps behind one cell, each a small picture with its numbers: q·k, scale, mask, softmax, values, heads joined.

import { makeSignedScale } from '../model/scale.js';
import { largest } from '../model/shrink.js';
import { prepare } from './heatmap.js';

const STRIP = { height: 18, most: 14, bars: 56 };

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Numbers side by side as colours; those outside `part` are pale. */
function drawStrip(canvas, numbers, scale, room, part) {
  const cell = Math.min(room / numbers.length, STRIP.most);
  const context = prepare(canvas, cell * numbers.length, STRIP.height);
  numbers.forEach((x, i) => {
    context.globalAlpha = part && (i < part[0] || i >= part[1]) ? 0.3 : 1;
    context.fillStyle = `rgb(${scale.colour(x).join(' ')})`;
    context.fillRect(i * cell, 0, Math.ceil(cell), STRIP.height);
  });
  return cell;
}

/** Signed bars about a line; one of them may be marked. */
function drawBars(canvas, numbers, room, { colour, marked = -1, ink }) {
  const cell = Math.min(room / numbers.length, 28);
  const context = prepare(canvas, cell * numbers.length, STRIP.bars);
  const finite = numbers.filter(Number.isFinite);
  const [top, bottom] = [Math.max, Math.min].map((choose) => finite.reduce((a, b) => choose(a, b), 0));
  const unit = (STRIP.bars - 2) / (top - bottom || 1);
  const zero = 1 + top * unit;
  numbers.forEach((x, i) => {
    context.fillStyle = i === marked ? ink : colour;
    const height = Math.max(Math.abs(x) * unit, x === 0 ? 0 : 0.5);
    context.fillRect(i * cell + 0.5, x > 0 ? zero - height : zero, Math.max(cell - 1, 0.5), height);
  });
  context.fillStyle = ink;
  context.fillRect(0, zero, cell * numbers.length, 1);
  return cell;
}

const MOST_TERMS = 4;
/** The text alternative of a figure reads out so many numbers. */
const MOST_READ = 32;

/** Beside the largest this is nothing. */
const NOTHING = 1e-6;

/** q · k as the sum of its first terms that count. */
function dotText({ products, raw }, format) {
  const least = NOTHING * largest(products);
  const terms = products.filter((x) => Math.abs(x) > least);
  if (terms.length < 2) return `q · k = ${format(raw)}`;
  const [first, ...others] = terms.slice(0, MOST_TERMS);
  const sum = [
    format(first),
    ...others.map((x) => (x < 0 ? `− ${format(-x)}` : `+ ${format(x)}`)),
    ...(terms.length > MOST_TERMS ? ['+ …'] : []),
  ];
  return `q · k = ${sum.join(' ')} = ${format(raw)}`;
}

/** exp(score − largest) / Σ, with its numbers. */
function shareText({ hidden, masked, most, exponent, sum, weight }, format) {
  if (hidden) return `0 / ${format(sum)} = 0`;
  const total = format(sum);
  return `exp(${format(masked)} − ${format(most)}) / ${total} = ${format(exponent)} / ${total} = ${format(weight)}`;
}

/**
 * Builds the figures once; the function it returns fills them.
 * @param {HTMLElement} root
 * @param {{ format: (x: number) => string }} tools
 */
export function createPipeline(root, { format }) {
  /** A picture with a name, whose numbers the pointer and the text alternative read. */
  function figure(kind) {
    const [canvas, name, note] = [
      element('canvas'),
      element('span', { className: `name ${kind}` }),
      element('span', { className: 'note' }),
    ];
    canvas.setAttribute('role', 'img');
    const made = element('div', { className: 'strip' }, name, canvas, note);
    let [numbers, cell] = [[], 1];
    canvas.onpointermove = (event) => {
      const i = Math.floor((event.clientX - canvas.getBoundingClientRect().left) / cell);
      if (i >= 0 && i < numbers.length) note.textContent = `[${i}] ${format(numbers[i])}`;
    };
    canvas.onpointerleave = () => (note.textContent = '');
    return {
      made,
      canvas,
      set(label, values, drawn) {
        [numbers, cell] = [values, drawn];
        name.textContent = label;
        note.textContent = '';
        const more = values.length > MOST_READ ? ', …' : '';
        canvas.setAttribute(
          'aria-label',
          `${label}: ${Array.from(values.slice(0, MOST_READ), format).join(', ')}${more}`,
        );
      },
    };
  }
  function step(...figures) {
    const [title, text, sum] = [element('h3'), element('p', { className: 'what' }), element('p', { className: 'sum' })];
    root.append(element('section', { className: 'step' }, title, text, ...figures.map(({ made }) => made), sum));
    return { title, text, sum };
  }
  const f = {
    q: figure('q'),
    k: figure('k'),
    products: figure(''),
    row: figure(''),
    v: figure('v'),
    part: figure('v'),
    heads: figure('v'),
    concat: figure(''),
    output: figure(''),
  };
  const steps = {
    dot: step(f.q, f.k, f.products),
    scale: step(),
    softmax: step(f.row),
    values: step(f.v, f.part, f.heads),
    join: step(f.concat, f.output),
  };

  return function update(e, { strings, tokens: { query, key }, theme, colours, width }) {
    const room = Math.max(Math.min(width - 32, 520), 120);
    const write = (name, ...sums) => {
      const [title, text] = strings.steps[name](query, key, e);
      steps[name].title.textContent = title;
      steps[name].text.textContent = text;
      steps[name].sum.replaceChildren(...sums.flatMap((line, i) => (i > 0 ? [element('br'), line] : [line])));
    };
    const own = (row) => makeSignedScale(theme, largest(row));
    f.q.set(strings.vector('q', query), e.q, drawStrip(f.q.canvas, e.q, own(e.q), room));
    f.k.set(strings.vector('k', key), e.k, drawStrip(f.k.canvas, e.k, own(e.k), room));
    f.products.set(
      strings.products,
      e.products,
      drawBars(f.products.canvas, e.products, room, { colour: colours.text, ink: colours.ink }),
    );
    write('dot', dotText(e, format));
    write('scale', ...strings.sums.scale(e, format));
    f.row.set(
      strings.row(query),
      e.weights,
      drawBars(f.row.canvas, Array.from(e.weights), room, { colour: colours.text, ink: colours.key, marked: e.index }),
    );
    write('softmax', e.sum === 0 ? strings.sums.blind : strings.sums.weight(shareText(e, format)));
    const values = makeSignedScale(theme, Math.max(largest(e.v), largest(e.heads)));
    f.v.set(strings.vector('v', key), e.v, drawStrip(f.v.canvas, e.v, values, room));
    f.part.set(
      strings.contribution(format(e.weight)),
      e.contribution,
      drawStrip(f.part.canvas, e.contribution, values, room),
    );
    f.heads.set(strings.headOutput, e.heads, drawStrip(f.heads.canvas, e.heads, values, room));
    write('values', strings.sums.values(key, format(e.weight)));
    f.concat.set(strings.concat, e.concat, drawStrip(f.concat.canvas, e.concat, own(e.concat), room, e.part));
    f.output.made.hidden = !e.projected;
    if (e.projected)
      f.output.set(strings.output(query), e.output, drawStrip(f.output.canvas, e.output, own(e.output), room));
    write('join', strings.sums.join(e));
  };
}
