// Trains a transformer on the tokens of a text, logs its loss at intervals, and saves its state, so that an interrupted
// training can continue.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cosineSchedule } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import type { Hl } from '../../../web/model/types.ts';
import { uniformSource } from '../../js/ops/random.ts';
import { makeLouder, makeSharper, makeVague } from './changeHeads.ts';
import { cutRandomParts, type LesionOptions } from './lesions.ts';
import { type Texts, windows } from './windows.ts';

export type Settings = {
  /** options of the transformer */
  model: Record<string, unknown>;
  steps: number;
  /** windows per step */
  batch: number;
  /** tokens per window */
  window: number;
  /** the largest learning rate */
  rate: number;
  /** steps until the largest rate is reached; then the rate falls along half a cosine wave */
  warmUp: number;
  weightDecay: number;
  /** see WindowOptions */
  repeats: number;
  drills?: number;
  echoes?: number;
  stutters?: number;
  noise: number;
  /** see makeVague */
  vague?: { heads: number[][]; scale: number };
  /** see makeLouder */
  louder?: { heads: number[][]; scale: number };
  /** see makeSharper */
  sharper?: { heads: number[][]; scale: number };
  refrains?: number;
  /** steps in which parts of the model are off */
  lesions?: LesionOptions;
  /** decay of the running mean of the weights per step */
  average: number;
  seed: number;
};
export type Surroundings = {
  /** the folder in which the state is stored */
  folder: string;
  /** returns true if the training must stop before this step, to be continued later */
  isEnough: (step: number) => boolean;
  say: (text: string) => void;
};
export type State = Record<string, { data: Float32Array; shape: number[] }>;
/** The initial state of a training. optimizer: null for a new optimizer; seconds: the training time so far. */
export type Before = { model: State; optimizer: State | null; seconds: number };

const STATE = 'state.safetensors';
const MAX_GRADIENT_NORM = 1;
const BETAS = [0.9, 0.98] as const;
const JUDGE_EVERY = 100;
const SAVE_EVERY = 180;
/** A target that the loss ignores. */
const NONE = -100;

/**
 * Returns the mean loss over held-out tokens, in nats, and the number of these tokens. Each token is predicted at most
 * once and, except in the first window, from half a window of tokens or more.
 * @param options start: a token that is never predicted; share: fraction of the tokens that are predicted
 */
export function judge(
  model: any,
  tokens: Int32Array,
  { window, start, share = 1 }: { window: number; start: number; share?: number },
) {
  let [sum, counted] = [0, 0];
  const half = window / 2;
  const stride = Math.round(half / share);
  for (let at = 0; at + 1 < tokens.length; at += stride) {
    const length = Math.min(window, tokens.length - 1 - at);
    const targets = Int32Array.from(tokens.subarray(at + 1, at + 1 + length), (token, t) =>
      token === start || (at > 0 && t < window - half) ? NONE : token,
    );
    if (targets.every((target) => target === NONE)) continue;
    const ids = tokens.slice(at, at + length);
    const result = model.judge({ data: ids, shape: [1, length] }, { data: targets, shape: [1, length] });
    sum += result.loss * result.counted;
    counted += result.counted;
  }
  return { loss: sum / counted, tokens: counted };
}

/** The running mean of the weights over the steps, which has a lower loss than the last weights. */
class Average {
  declare model: any;
  declare keep: number;
  declare state: State;

  constructor(model: any, keep: number, state: State | null) {
    this.model = model;
    this.keep = keep;
    this.state = state ?? model.stateDict();
  }

  add(step: number) {
    // In the first steps the mean has a shorter memory.
    const keep = Math.min(this.keep, (1 + step) / (10 + step));
    for (const [name, tensor] of Object.entries(this.model.parameters)) {
      const { data } = this.state[name];
      const now = (tensor as any).data;
      for (let i = 0; i < data.length; i++) data[i] = keep * data[i] + (1 - keep) * now[i];
    }
  }

  /**
   * Replaces the weights of the model by their running mean, calls a function, and restores the weights. Returns the
   * result of the function.
   */
  with<T>(ask: () => T): T {
    const now = this.model.stateDict();
    this.model.loadStateDict(this.state);
    try {
      return ask();
    } finally {
      this.model.loadStateDict(now);
    }
  }
}

function save(file: string, parts: Record<string, State>, metadata: Record<string, string>) {
  const tensors = Object.fromEntries(
    Object.entries(parts).flatMap(([part, state]) =>
      Object.entries(state).map(([name, { data, shape }]) => [
        `${part}/${name}`,
        { dtype: 'F32' as const, data, shape },
      ]),
    ),
  );
  // Writes to a temporary name first, so that an interrupted write leaves the previous file.
  writeFileSync(`${file}.part`, writeSafetensors(tensors, metadata));
  renameSync(`${file}.part`, file);
}

/** Returns the state in a folder, or null if no training with the same settings has saved it. */
export function readSaved(folder: string, settings: Settings) {
  const file = join(folder, STATE);
  if (!existsSync(file)) return null;
  const { tensors, metadata } = readSafetensors(readFileSync(file));
  if (metadata.settings !== JSON.stringify(settings)) return null;
  const part = (name: string) =>
    Object.fromEntries(
      Object.entries(tensors).flatMap(([path, tensor]) =>
        path.startsWith(`${name}/`) ? [[path.slice(name.length + 1), tensor]] : [],
      ),
    ) as State;
  return {
    model: part('model'),
    optimizer: part('optimizer'),
    average: part('average'),
    step: Number(metadata.step),
    seconds: Number(metadata.seconds),
  };
}

/** @returns the model with the mean of its weights, the state from which a training can continue, and the last step */
export function train(
  hl: Hl,
  texts: Texts,
  settings: Settings,
  { folder, isEnough, say }: Surroundings,
  before: Before | null = null,
): { model: any; after: Before; step: number } {
  const { steps, batch, window, rate, warmUp, weightDecay, average: keep, seed } = settings;
  const file = join(folder, STATE);
  const saved = readSaved(folder, settings);
  const model = hl.transformer({ ...settings.model, seed } as any) as any;
  const optimizer = hl.adamW([model], { lr: rate, betas: BETAS, weightDecay });
  const begin = saved ?? before;
  if (begin) {
    model.loadStateDict(begin.model);
    if (begin.optimizer) optimizer.loadStateDict(begin.optimizer);
  }
  if (settings.louder && !saved) makeLouder(model, settings.louder.heads, settings.louder.scale);
  if (settings.sharper && !saved) makeSharper(model, settings.sharper.heads, settings.sharper.scale);
  const restore = makeVague(model, settings.vague?.heads ?? [], saved ? 1 : (settings.vague?.scale ?? 1));
  const average = new Average(model, keep, saved?.average ?? null);
  const rateAt = cosineSchedule({ lr: rate, steps, warmup: warmUp, floor: rate / 20 });
  const heldOut = (share: number) =>
    average.with(() => judge(model, texts.heldOut, { window, start: texts.start, share })).loss;

  let step = saved?.step ?? 0;
  const [begun, first] = [performance.now(), step];
  let savedAt = begun;
  const passed = () => (begin?.seconds ?? 0) + (performance.now() - begun) / 1000;
  let [sum, since] = [0, 0];
  const store = () =>
    save(
      file,
      {
        model: model.stateDict(),
        optimizer: optimizer.stateDict(),
        average: average.state,
      },
      { step: String(step), seconds: String(passed()), settings: JSON.stringify(settings) },
    );
  if (step > 0) say(`continues after step ${step}`);
  while (step < steps && !isEnough(step)) {
    // The random numbers depend on the step only, so that a continued training equals an uninterrupted one.
    const random = uniformSource(seed * 2 ** 20 + step);
    const { lesions } = settings;
    const isLesion = lesions !== undefined && random() < lesions.share;
    const { labels, targets } = windows(texts, { ...settings, ...(isLesion && lesions.windows) }, random);
    const restoreParts = lesions && cutRandomParts(model, lesions, isLesion, random);
    optimizer.lr = rateAt(step);
    model.zeroGrad();
    const { loss } = model.learn({ data: labels, shape: [batch, window] }, { data: targets, shape: [batch, window] });
    restoreParts?.();
    if (!Number.isFinite(loss)) throw new Error(`the loss is ${loss} at step ${step}`);
    hl.clipGradients([model], MAX_GRADIENT_NORM);
    optimizer.step();
    restore();
    average.add(step);
    step++;
    sum += loss;
    since++;
    if (step % JUDGE_EVERY === 0) {
      const speed = ((step - first) * batch * window * 1000) / (performance.now() - begun);
      say(
        `step ${step}: ${(sum / since).toFixed(4)}, held out ${heldOut(0.2).toFixed(4)}, ${speed.toFixed(0)} tokens/s`,
      );
      [sum, since] = [0, 0];
    }
    if (performance.now() - savedAt > 1000 * SAVE_EVERY) {
      store();
      savedAt = performance.now();
    }
  }
  store();
  model.loadStateDict(average.state);
  const after = { model: average.state, optimizer: optimizer.stateDict(), seconds: passed() };
  optimizer.dispose();
  return { model, after, step };
}
