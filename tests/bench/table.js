// The results as Markdown: a table for each engine and number of threads, a row a shape.

const microseconds = (ms) => (ms < 1 ? `${(ms * 1000).toFixed(ms < 0.01 ? 1 : 0)} µs` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`);
const isInt8 = ({ contender }) => contender.endsWith('int8');
const isOurs = ({ contender }) => contender.startsWith('Headlight');
/** The native runtime stands beside the others, not among them; so does plain JavaScript. */
const isPeer = ({ contender }) => /^(onnxruntime-web|tfjs|ruvector)/.test(contender);
export const fastest = (results) => results.reduce((best, r) => (best && best.median <= r.median ? best : r), undefined);

const least = (results) => Math.min(...results.map(({ least }) => least));

/** Results of one engine and thread count, by shape and weights: { shape, weights, ours, peer, least, native, int8: { ours, peer } }. */
export function byShape(results) {
  const groups = new Map();
  for (const result of results.filter(({ contender, failure }) => contender && !failure)) {
    const key = `${result.shape}|${result.weights}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(result);
  }
  return [...groups.values()].map((every) => {
    const [all, int8] = [every.filter((result) => !isInt8(result)), every.filter(isInt8)];
    return {
      shape: every[0].shape, weights: every[0].weights,
      ours: fastest(all.filter(isOurs)), peer: fastest(all.filter(isPeer)), least: least(all.filter(isPeer)) / least(all.filter(isOurs)), native: all.find(({ contender }) => contender.startsWith('onnxruntime-node')),
      int8: { ours: fastest(int8.filter(isOurs)), peer: fastest(int8.filter(isPeer)) },
    };
  });
}

/** Sets of results with the same engine and thread count, in order. */
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
  const parts = [`Measured on ${machine}. A call goes from Float32Arrays to a Float32Array. Medians of rounds in which all contenders take turns; and the ratio of the least times, which other tenants of the machine disturb less.\n`];
  for (const { engine, threads, results: own } of groupRuns(results)) {
    const peaks = own.filter(({ peak }) => peak).map(({ peak, simd }) => `${peak.toFixed(1)} GFLOP/s ${simd === 'relaxed' ? 'with' : 'without'} relaxed SIMD`);
    parts.push(`\n### ${engine}, ${threads} thread${threads > 1 ? 's' : ''}\n`, `The peak of a core: ${peaks.join(', ')}.\n`);
    parts.push('| shape | weights | Headlight | GFLOP/s | fastest of the others | | ratio | of the least | native | off by |', '| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |');
    for (const { shape, weights, ours, peer, least, native } of byShape(own)) {
      parts.push(`| ${[shape, weights ? 'yes' : '', microseconds(ours.median), ours.rate.toFixed(1), peer?.contender ?? '', peer ? microseconds(peer.median) : '',
        peer ? `**${(peer.median / ours.median).toFixed(2)}**` : '', peer ? least.toFixed(2) : '', native ? microseconds(native.median) : '', ours.error.toExponential(1)].join(' | ')} |`);
    }
    parts.push('\n| int8 weights | Headlight | × its float32 | onnxruntime-web | ratio | off by |', '| --- | ---: | ---: | ---: | ---: | ---: |');
    for (const { shape, ours, int8 } of byShape(own)) {
      if (!int8.ours) continue;
      parts.push(`| ${[shape, microseconds(int8.ours.median), (ours.median / int8.ours.median).toFixed(2), int8.peer ? microseconds(int8.peer.median) : '',
        int8.peer ? `**${(int8.peer.median / int8.ours.median).toFixed(2)}**` : '', int8.ours.error.toExponential(1)].join(' | ')} |`);
    }
  }
  return `${parts.join('\n')}\n`;
}
