// Activation patching: finds the values that cause the difference between the results of two inputs.

import { checkOptions } from '../../check/arguments.ts';
import { argumentError, shapeError } from '../../check/errors.ts';
import { formatShape } from '../../check/shape.ts';
import type { ValueName } from '../../models/valueName.ts';
import { type Numbers, type Result, readCaptured } from '../arrays.ts';
import { readSteps } from '../steps.ts';
import { checkMetric, type Metric, measured, type PatchedModel, readMetric, runEdited } from './pairs.ts';

export type PatchOptions = {
  /**
   * a value of every block, 'blocks.*.heads', 'blocks.*.out' …; or 'embed'; in an encoder 'encoder.blocks.*.heads' …
   */
  at: ValueName;
  /** what one run patches; default 'head' for values with heads, otherwise 'token' */
  each?: 'head' | 'token' | undefined;
  /** a promise is awaited; if it rejects, patch rejects */
  onProgress?: ((progress: PatchProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/** value: the metric of the last run; layer: 0 at 'embed'; place: the index of the patched head or token. */
export type PatchProgress = { done: number; total: number; layer: number; place: number; value: number };
export type PatchResult = {
  /** the metric of the clean run */
  clean: number;
  /** the metric of the corrupted run */
  corrupted: number;
  /**
   * the metrics of the corrupted runs with one patched value: (L,H) or (L,T); at keys and values (L,G); at 'embed' (T)
   */
  values: Numbers;
  /** (value − corrupted) / (clean − corrupted): 0 if nothing is recovered, 1 if all of it is */
  recovered: Numbers;
};

const HEADS = /^(encoder\.)?blocks\.\*\.(cross\.)?(query|key|value|scores|weights|heads)$/;
const ROWS = /^(encoder\.)?(embed|blocks\.\*\.(cross\.)?(in|norm1|norm|norm2|attention|mid|hidden|mlp|out))$/;

/**
 * Runs the corrupted input once for each layer and each head, or each token, with the value of that head or token
 * replaced by its value in the clean run (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal
 * Mediation Analysis"; Meng et al. 2022, "Locating and Editing Factual Associations in GPT"). Both inputs have the same
 * number of tokens.
 */
export async function patch(
  model: PatchedModel,
  clean: any,
  corrupted: any,
  metric: Metric,
  options: PatchOptions,
): Promise<PatchResult> {
  const caller = 'patch';
  checkOptions(caller, options, ['at', 'each', 'onProgress', 'signal']);
  const { at } = options;
  const steps = readSteps(caller, options);
  const hasHeads = typeof at === 'string' && HEADS.test(at);
  if (!hasHeads && !(typeof at === 'string' && ROWS.test(at)))
    throw argumentError(
      caller,
      'at',
      at,
      "the name of a value in every block: 'blocks.*.heads', 'blocks.*.out' …, or 'embed'",
    );
  const { each = hasHeads ? 'head' : 'token' } = options;
  if (each !== 'token' && !(each === 'head' && hasHeads))
    throw argumentError(caller, 'each', each, hasHeads ? "'head' or 'token'" : "'token'");
  checkMetric(caller, metric);
  steps.check();

  const single = at.endsWith('embed');
  const stack = (at.startsWith('encoder.') && model.options.encoder) || model.options;
  const layers = single ? 1 : stack.layers;
  const { from, clean: best } = measureClean(model, clean, metric, at, layers);
  const worst = measured(model.forward(corrupted, { capture: [at] }), (result) => {
    const { shape } = captured(result, at, 0);
    if (layers > 0 && String(shape) !== String(from[0].shape))
      throw shapeError(caller, 'corrupted', shape, `the shape of the clean run, ${formatShape(from[0].shape)}`);
    return readMetric(caller, metric, result);
  });
  const axis = each === 'head' ? 1 : from[0].shape.length - 2;
  const count = from[0].shape[axis];
  const values = new Float32Array(layers * count);
  for (let done = 0; done < values.length; done++) {
    const [layer, place] = [Math.floor(done / count), done % count];
    const edit = { at: at.replace('*', String(layer)), [each]: place, set: from[layer] };
    const value = await steps.run(() => runEdited(caller, model, corrupted, metric, [edit]));
    values[done] = value;
    await steps.report({ done: done + 1, total: values.length, layer, place, value });
  }
  const shape = single ? [count] : [layers, count];
  const recovered = values.map((value) => (value - worst) / (best - worst));
  return { clean: best, corrupted: worst, values: { data: values, shape }, recovered: { data: recovered, shape } };
}

function measureClean(model: PatchedModel, clean: any, metric: Metric, at: string, layers: number) {
  let from: Numbers[] = [];
  const best = measured(model.forward(clean, { capture: [at] }), (result) => {
    from = Array.from({ length: layers }, (_, l) => captured(result, at, l));
    return readMetric('patch', metric, result);
  });
  return { from, clean: best };
}

function captured(result: Result, at: string, layer: number): Numbers {
  const name = at.replace('*', String(layer));
  const { floats, shape } = readCaptured('patch', result, name, HEADS.test(at) ? 'BHTD' : 'BTC', [at]);
  return { data: floats.slice(), shape: [...shape] };
}
