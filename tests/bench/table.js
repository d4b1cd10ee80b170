// Formats the results as Markdown tables, one for each engine and number of threads, with a row for each shape.

import { median } from './measure.js';

const microseconds = (ms) =>
  ms < 1 ? `${(ms * 1000).toFixed(ms < 0.01 ? 1 : 0)} µs` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
const isInt8 = ({ contender }) => contender.endsWith('int8');
const isOurs = ({ contender }) => contender.startsWith('Headlight');
/**
 * The native runtime and plain JavaScript have columns, but are not used for the ratio to the fastest other package.
 */
const isPeer = ({ contender }) => /^(onnxruntime-web|tfjs|ruvector)/.test(contender);
export const fastest = (results) =>
  results.reduce((best, r) => (best && best.median <= r.median ? best : r), undefined);

/**
 * Returns the median over the rounds of the other contender's time divided by Headlight's. Times of the same round are
 * divided, because a disturbance in a round affects both alike. For a contender that was timed only once, the medians
 * of the times are divided.
 */
const ratioOf = (other, ours) =>
  other.times.length === ours.times.length
    ? median(other.times.map((time, round) => time / ours.times[round]))
    : other.median / ours.median;
const least = (results) => Math.min(...results.map(({ least }) => least));

/**
 * Groups the results of one engine and number of threads, by shape and weights:
 * { shape, weights, ours, peer, ratio, least, native, int8: { ours, peer, gain, ratio } }.
 */
export function byShape(results) {
  const groups = new Map();
  for (const result of results.filter(({ contender, failure }) => contender && !failure)) {
    const key = `${result.shape}|${result.weights}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(result);
  }
  return [...groups.values()].map((every) => {
    const [all, int8] = [every.filter((result) => !isInt8(result)), every.filter(isInt8)];
    const [ours, peer, oursInt8, peerInt8] = [
      all.filter(isOurs),
      all.filter(isPeer),
      int8.filter(isOurs),
      int8.filter(isPeer),
    ].map(fastest);
    return {
      shape: every[0].shape,
      weights: every[0].weights,
      ours,
      peer,
      ratio: peer && ratioOf(peer, ours),
      least: least(all.filter(isPeer)) / least(all.filter(isOurs)),
      native: all.find(({ contender }) => contender.startsWith('onnxruntime-node')),
      int8: {
        ours: oursInt8,
        peer: peerInt8,
        gain: oursInt8 && ratioOf(ours, oursInt8),
        ratio: peerInt8 && ratioOf(peerInt8, oursInt8),
      },
    };
  });
}

/** Groups results with the same engine and number of threads, in order. */
export function groupRuns(results) {
  const runs = new Map();
  for (const result of results) {
    const key = `${result.engine}|${result.threads}`;
    if (!runs.has(key)) runs.set(key, { engine: result.engine, threads: result.threads, results: [] });
    runs.get(key).results.push(result);
  }
  return [...runs.values()];
}

export function writeTables(results, machine) {
  const parts = [
    [
      `Measured on ${machine}. A call goes from Float32Arrays to a Float32Array. Medians of rounds in which all `,
      'contenders take turns; the ratio is the median of those of the rounds, and beside it stands that of the least ',
      'times: other tenants of the machine disturb both less than they do the times.\n',
    ].join(''),
  ];
  for (const { engine, threads, results: own } of groupRuns(results)) {
    const peaks = own
      .filter(({ peak }) => peak)
      .map(({ peak, simd }) => `${peak.toFixed(1)} GFLOP/s ${simd === 'relaxed' ? 'with' : 'without'} relaxed SIMD`);
    parts.push(
      `\n### ${engine}, ${threads} thread${threads > 1 ? 's' : ''}\n`,
      `The peak of a core: ${peaks.join(', ')}.\n`,
    );
    parts.push(
      '| shape | weights | Headlight | GFLOP/s | fastest of the others | | ratio | of the least | native | off by |',
      '| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |',
    );
    for (const { shape, weights, ours, peer, ratio, least, native } of byShape(own)) {
      parts.push(
        `| ${[
          shape,
          weights ? 'yes' : '',
          microseconds(ours.median),
          ours.rate.toFixed(1),
          peer?.contender ?? '',
          peer ? microseconds(peer.median) : '',
          peer ? `**${ratio.toFixed(2)}**` : '',
          peer ? least.toFixed(2) : '',
          native ? microseconds(native.median) : '',
          ours.error.toExponential(1),
        ].join(' | ')} |`,
      );
    }
    parts.push(
      '\n| int8 weights | Headlight | × its float32 | onnxruntime-web | ratio | off by |',
      '| --- | ---: | ---: | ---: | ---: | ---: |',
    );
    for (const { shape, int8 } of byShape(own)) {
      if (!int8.ours) continue;
      parts.push(
        `| ${[
          shape,
          microseconds(int8.ours.median),
          int8.gain.toFixed(2),
          int8.peer ? microseconds(int8.peer.median) : '',
          int8.peer ? `**${int8.ratio.toFixed(2)}**` : '',
          int8.ours.error.toExponential(1),
        ].join(' | ')} |`,
      );
    }
  }
  return `${parts.join('\n')}\n`;
}
