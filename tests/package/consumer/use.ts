// A project that uses the package with all strict options of TypeScript. It is compiled and never run.

import {
  type Activation,
  type ActivationOptions,
  type Adam,
  type AdamOptions,
  type AdamW,
  type AdditiveAttention,
  type AttentionGradients,
  type AttentionOptions,
  type AttentionResult,
  type BackwardOptions,
  type Cache,
  type CacheOptions,
  type CosineOptions,
  cosineSchedule,
  type DecodeOptions,
  type DropoutOptions,
  type Edit,
  type Embedding,
  type EmbeddingForwardOptions,
  type EmbeddingOptions,
  type Encoding,
  type ErrorCode,
  type Flavour,
  type ForwardOptions,
  type FoundLayer,
  type GatedActivation,
  type Gelu,
  type GeluOptions,
  type Generated,
  type GeneratedToken,
  type GenerateOptions,
  type Given,
  type Headlight,
  HeadlightError,
  type Info,
  type LayerGradients,
  type Layout,
  type LearnOptions,
  type Linear,
  type LinearOptions,
  type LoadOptions,
  type LossOptions,
  type LossResult,
  load,
  type Message,
  type ModelFiles,
  type ModelInput,
  type MultiHeadAttention,
  type MultiHeadGradients,
  type MultiHeadOptions,
  type MultiHeadParameters,
  type NestedArray,
  type NestedNumbers,
  type Norm,
  type NormalOptions,
  type NormOptions,
  type NumberArray,
  type OpenedModel,
  type OpenOptions,
  type Optimizer,
  type Out,
  type ParameterName,
  type PlainInput,
  type PromptInput,
  type ResolvedTransformerOptions,
  type Role,
  type RotaryOptions,
  type RotaryScaling,
  type SavedTransformer,
  type SaveFolderOptions,
  type SaveGgufOptions,
  type Sgd,
  type SgdOptions,
  type ShapedArray,
  type StateEntry,
  type StepResult,
  type Tensor,
  type TensorLike,
  type TensorPart,
  type Tokenizer,
  type TokenizerLike,
  type Trainable,
  type TrainableLayer,
  type Transformer,
  type TransformerBiasOptions,
  type TransformerForwardOptions,
  type TransformerOptions,
  type TransformerResult,
  type TransformerRotaryOptions,
  type UniformOptions,
  type ValueName,
  type VisibilityOptions,
  type WarmupOptions,
  type WeightsChoice,
} from 'headlight-attention';
import {
  type AttentionPart,
  type Attribution,
  ablateHeads,
  attribution,
  composition,
  type EdgeGraph,
  edgeGraph,
  fitJacobianLens,
  type Grid,
  type HeadAblation,
  type HeadScores,
  headScores,
  type IntegratedSalience,
  type JacobianLens,
  jacobianLens,
  type LensLayer,
  logitDifference,
  logitLens,
  mergeJacobianLenses,
  type Numbers,
  type PatchResult,
  patch,
  patchGrid,
  readJacobianLens,
  rollout,
  salience,
  valueWeighted,
  writeJacobianLens,
} from 'headlight-attention/analysis';
import {
  readNpy,
  readNpz,
  readSafetensors,
  readTorch,
  type StoredTensor,
  writeNpy,
  writeSafetensors,
} from 'headlight-attention/formats';
import * as hub from 'headlight-attention/hub';
import { type Headlight as InlineHeadlight, load as loadInline } from 'headlight-attention/inline';
import { type OnnxFiles, toOnnx } from 'headlight-attention/onnx';
import { mount, type View, type ViewOptions, type ViewState } from 'headlight-attention/view';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
const yes = <_T extends true>(): void => {};
const no = <_T extends false>(): void => {};

const options: LoadOptions = { simd: 'auto', maxMemory: 1e9, threads: 'auto' };
export const hl: Headlight = await load(options);
export const inline: InlineHeadlight = await loadInline();
export const info: Info = hl.info;
export const flavour: Flavour = info.simd;

// Readonly shapes and arrays are accepted, and results have types.
const shape: readonly number[] = [1, 2, 4];
const fixed = [1, 2, 4] as const;
export const x: Tensor = hl.zeros(shape);
hl.randn(fixed, { seed: 1 } satisfies NormalOptions);
hl.uniform(fixed, { low: 0 } satisfies UniformOptions);
hl.tensor(new Float32Array(8), fixed);
hl.tensor([
  [1, 2],
  [3, 4],
] as const);
hl.tensor([[true, false]]);
hl.tensor({ data: [1, 2], shape: [2] as const } satisfies ShapedArray);
const numbers = x.toArray();
no<IsAny<typeof numbers>>();
yes<Same<typeof numbers, NestedNumbers>>();
for (const row of numbers) export_(row);
export const rows: number[][] = x.toArray();
export const sum: number = rows.flat().reduce((a, b) => a + b) + (x.toArray()[0]?.[0]?.[0] ?? 0);
export const last: Float32Array = x.at(0, 2, -1);
export const likeliest: number = last.indexOf(Math.max(...x.at(0, 2, -1))) + x.at(0, 0, 0);
// @ts-expect-error: an index is a number
x.at('0');
function export_(_value: number | readonly number[]): void {}

// Tensors of other libraries.
declare const ort: { readonly dims: readonly number[]; readonly type: 'float32'; readonly data: Float32Array };
declare const anyOrt: {
  readonly dims: readonly number[];
  readonly type: string;
  readonly data: Float32Array | string[];
};
declare const tf: { shape: number[]; dtype: 'float32'; dataSync(): Float32Array; data(): Promise<Float32Array> };
hl.attention(ort, anyOrt, tf);
hl.attention({ data: new Uint16Array(8), shape: fixed, dtype: 'F16' }, x, x);
// @ts-expect-error: text is no array
hl.attention('query', x, x);
// @ts-expect-error: an object is no array
hl.attention({}, x, x);
// @ts-expect-error: nothing is no array
hl.attention(x, null, x);

// A requested result has a type without `undefined`; others are absent.
const weighed = hl.attention(x, x, x, { weights: true, causal: true });
yes<Same<typeof weighed.weights, Tensor>>();
yes<Same<typeof weighed.scores, undefined>>();
yes<Same<typeof weighed.presentKey, undefined>>();
const mean = hl.attention(x, x, x, { weights: 'mean', scores: 'capped' });
yes<Same<typeof mean.weights, Tensor>>();
yes<Same<typeof mean.scores, Tensor>>();
const cached = hl.attention(x, x, x, { pastKey: x, pastValue: x });
yes<Same<typeof cached.presentKey, Tensor>>();
yes<Same<typeof cached.presentValue, Tensor>>();
const plain = hl.attention(x, x, x);
yes<Same<typeof plain.weights, undefined>>();
const without = hl.attention(x, x, x, { weights: false });
yes<Same<typeof without.weights, undefined>>();
declare const perhaps: boolean;
const unsure = hl.attention(x, x, x, { weights: perhaps });
yes<Same<typeof unsure.weights, Tensor | undefined>>();
declare const some: AttentionOptions;
const any = hl.attention(x, x, x, some);
yes<Same<typeof any.weights, Tensor | undefined>>();
export const results: AttentionResult[] = [weighed, mean, cached, plain, unsure, any];
// @ts-expect-error: no such option
hl.attention(x, x, x, { casual: true });
// @ts-expect-error: no such option, next to an existing one
hl.attention(x, x, x, { weights: true, casual: true });
// @ts-expect-error: no such step
hl.attention(x, x, x, { scores: 'soft' });

const layer: MultiHeadAttention = hl.multiHeadAttention({
  embedDim: 8,
  numHeads: 2,
  kvHeads: 1,
} satisfies MultiHeadOptions);
yes<Same<ReturnType<typeof one>, Tensor>>();
function one() {
  return layer.forward(x, { weights: true }).weights;
}
const two = layer.forward(x, x, { weights: 'mean', scores: 'raw' });
yes<Same<typeof two.weights, Tensor>>();
yes<Same<typeof two.scores, Tensor>>();
const three = layer.forward(x, x, x, { pastKey: x, pastValue: x });
yes<Same<typeof three.presentKey, Tensor>>();
yes<Same<typeof three.weights, undefined>>();
yes<Same<ReturnType<typeof layer.stateDict>, Record<string, StateEntry>>>();
layer.forward(x, undefined, x, { validLens: [3, 2] as const, mask: [[true, false]] });
layer.forward([[1, 2]], { offset: [0] as const });
// @ts-expect-error: no such option
layer.forward(x, { heads: 2 });
// @ts-expect-error: no such option, next to an existing one
layer.forward(x, x, { weights: true, heads: 2 });
layer.loadStateDict(readSafetensors(new Uint8Array()).tensors, 'torch').train().eval().forward(x).dispose();
export const parameters: Readonly<MultiHeadParameters> = layer.parameters;
export const gradients: MultiHeadGradients = layer.gradients;
export const first: ParameterName = 'wq';
// @ts-expect-error: parameters stay
layer.parameters.wq = x;

// Training.
const trained = hl.attention(x, x, x, { train: true, bias: x });
const backward = trained.backward(x, { dWeights: x });
yes<Same<typeof backward.dBias, Tensor>>();
yes<Same<typeof backward.dKey, Tensor>>();
const unbiased = hl.attention(x, x, x, { train: true }).backward(x);
yes<Same<typeof unbiased.dBias, undefined>>();
const declined = trained.backward(x, { dBias: false });
yes<Same<typeof declined.dBias, undefined>>();
export const all: AttentionGradients[] = [backward, unbiased, declined];
export const layered: LayerGradients = layer.zeroGrad().backward(x);
const adam: Adam = hl.adamW([layer, hl.linear({ in: 4, out: 4 })], { betas: [0.9, 0.99] as const });
export const kinds: [Optimizer, AdamW] = [hl.sgd([layer]), adam];
adam.lr = cosineSchedule({ lr: 1, steps: 10 })(3);
adam.step();
hl.sgd({ w: x }).step({ w: [1, 2] });
hl.clipGradients([layer], 1).toFixed();
const loss: LossResult = hl.crossEntropy(x, [[0, 1]], { ignore: -1 });
export const counts: number = loss.correct + loss.counted;

const metric = logitDifference(1, 2);
const model: Transformer = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 9, context: 8 });
const seen = model.forward([1, 2, 3], { capture: ['blocks.*.weights'] });
yes<Same<typeof seen.captured, Record<string, Tensor>>>();
yes<Same<typeof seen.logits, Tensor>>();
const changes: Edit[] = [
  { at: 'blocks.0.heads', head: [0, 1], set: 'zero' },
  { at: 'blocks.*.scores', temperature: 2 },
];
model.forward('text', { edit: changes, last: true }).logits.copy();
export const edited: Edit = { at: 'blocks.0.in', set: seen.logits, token: -1 };
// @ts-expect-error: an edit requires `at`
model.forward([1], { edit: [{ set: 'zero' }] });

// Names of values: misspelt ones do not compile.
declare const l: number;
declare const computed: string;
const valueNames: ValueName[] = ['embed', 'blocks.*.weights', 'encoder.blocks.3.cross.weights', 'text.blocks.0.out'];
model.forward([1], { capture: [...valueNames, 'vision.blocks.11.weights', `blocks.${l}.weights`, 'blocks.0.*'] });
model.forward([1], { capture: ['blocks.0.query.in', 'vision.pool.weights', `encoder.blocks.${l}.mlp`, 'logits'] });
model.forward([1], { edit: [{ at: `blocks.${l}.scores`, temperature: 2 }], capture: [computed as ValueName] });
// @ts-expect-error: there is no such value
model.forward([1], { capture: ['blocks.0.weigths'] });
// @ts-expect-error: there is no such value
model.forward([1], { capture: [`blocks.${l}.weigths`] });
// @ts-expect-error: values of a block have a number or *
model.forward([1], { capture: ['blocks.x.weights'] });
// @ts-expect-error: cross-attention has no norm1
model.forward([1], { capture: ['blocks.0.cross.norm1'] });
// @ts-expect-error: there is no such value
model.differentiate([1], { of: metric, at: ['embedding'] });

// Roles of messages.
const role: Role = 'user';
const messages: Message[] = [
  { role: 'system', content: 'Answer in one word.' },
  { role, content: 'Who?', name: 'Ishmael' },
];
export const conversation: string = model.chat(messages) + model.chat([{ role: 'assistant' }]);
// @ts-expect-error: there is no such role
model.chat([{ role: 'usr', content: 'Who?' }]);

// Each generated token comes with its captured values.
for await (const { id, token, text, logProb, captured } of model.generate([1], { capture: ['blocks.*.weights'] })) {
  const weights: Tensor | undefined = captured['blocks.0.weights'];
  export_(id + logProb + token.length + text.length + (weights?.size ?? 0));
}
// @ts-expect-error: there is no such value
model.generate([1], { capture: ['blocks.0.weight'], onToken: () => {} });
model.tokenizer = { encode: () => ({ ids: [], tokens: [], offsets: [], typeIds: [] }), decode: () => '' };
const openOptions: OpenOptions = { weights: 'stored', onProgress: ({ read, total }) => export_(read / total) };
const opened: OpenedModel = await hl.openModel('gpt2' satisfies ModelFiles, openOptions);
const tokenizer: Tokenizer = opened.tokenizer;
export const word: string | undefined = tokenizer.tokenOf(tokenizer.encode('text').ids[0] ?? 0);
yes<IsAny<typeof opened.config.image_size>>();
const cache: Cache = opened.cache({ length: 8 } satisfies CacheOptions);
const input: ModelInput = { ids: [[1, 2]], keep: [[1, 0]] };
const generation: GenerateOptions = { max: 4, cache, edit: changes, onToken: ({ text }: GeneratedToken) => void text };
export const written: Generated = await opened.generate(input, generation);
export const several: Generated[] = await opened.generate(['a', [1, 2], { ids: [3] }], {
  onToken: (token: GeneratedToken, index: number) => console.log(index, token.text),
});
export const searched = (await opened.generate([1, 2], { beams: 4, lengthPenalty: 0.6, earlyStopping: 'never' })).score;
for await (const { text } of opened.generate('a')) console.log(text);
const prompts: readonly PromptInput[] = [Int32Array.of(1, 2)];
export const lengths = (await opened.generate(prompts)).map(({ ids }) => ids.length);
// @ts-expect-error: a list has no iterator.
for await (const token of opened.generate(['a', 'b'])) console.log(token);
export const ended: 'max' | 'stop' | 'context' | 'signal' = written.ended;
export const found: FoundLayer[] = hl.layersIn({}, opened.config);
export const saved: Record<string, Uint8Array<ArrayBuffer>> = await opened.saveFolder({} satisfies SaveFolderOptions);
export const gguf: Uint8Array<ArrayBuffer> = await opened.saveGguf({ type: 'Q8_0' } satisfies SaveGgufOptions);
export const step: StepResult = model.learn([[1, 2]], [[2, 3]]);

// `using` disposes of the object.
{
  using instance = await load();
  using tensor = instance.zeros([1]);
  using result = instance.attention(tensor, tensor, tensor);
  using mine = instance.multiHeadAttention({ embedDim: 4, numHeads: 1 });
  using norm = instance.layerNorm({ width: 4 });
  using optimizer = instance.adam([mine]);
  using other = instance.transformer({ layers: 0, dModel: 8, numHeads: 2, vocab: 9, context: 8 });
  export_(result.output.size + norm.options.width + optimizer.lr + other.options.layers);
}

// Errors.
try {
  hl.zeros([-1]);
} catch (error) {
  if (error instanceof HeadlightError) {
    const code: ErrorCode = error.code;
    // @ts-expect-error: no such code
    const wrong: ErrorCode = 'NONE';
    export_((code + wrong).length);
  }
}

// Files.
const { tensors, metadata } = readSafetensors(writeSafetensors({ w: x }, { format: 'pt' }));
hl.tensor(readNpy(writeNpy(x)));
export const stored: StoredTensor | undefined = (await readNpz(new Uint8Array(), { maxSize: 1e9 })).tensors.x;
export const pickled: StoredTensor | undefined = readTorch(new Uint8Array()).x;
export const names: string[] = [...Object.keys(tensors), ...Object.values(metadata)];

// Analysis.
export const shares: { q: number; k: number; v: number } = composition(
  model,
  { layer: 0, head: 1 },
  { layer: 1, head: 0 },
);
const run = model.forward([1, 2, 3], { capture: ['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'] });
export const parts: Attribution = attribution(model, run, { label: 1 });
export const lens: LensLayer[] = logitLens(model, run, { token: [0, -1], labels: [2] });
export const patched: PatchResult = await patch(model, [1, 2], [1, 3], metric, { at: 'blocks.*.heads' });
export const off: HeadAblation = await ablateHeads(model, [1, 2], metric);
export const ofDecoder: number = off.parts['decoder' satisfies AttentionPart].data[0] ?? off.value;
export const connections: EdgeGraph = edgeGraph(model);
const grids = await patchGrid(model, [1, 2], [1, 3], metric, { parts: ['stream', 'head'] });
export const stream: Grid = grids.grids.stream;
// @ts-expect-error: this grid was not requested
export const none: Grid = grids.grids.mlp;
export const dependence: Numbers = (await salience(model, [1, 2], metric)).tokens;
export const integrated: IntegratedSalience = await salience(model, [1, 2], metric, { method: 'integrated' });
const fitted: JacobianLens = await fitJacobianLens(model, [[1, 2, 3]], { skip: 0 });
const merged = mergeJacobianLenses([fitted, readJacobianLens(writeJacobianLens(fitted))]);
export const early: LensLayer[] = jacobianLens(model, run, merged);
export const scores: HeadScores = headScores([hl.zeros([1, 2, 4, 4])], { ids: [1, 2, 1, 2] });
export const flows: Numbers[] = rollout([hl.zeros([2, 4, 4])]);
export const moved: Numbers = valueWeighted(hl.zeros([1, 2, 4, 4]), hl.zeros([1, 1, 4, 2]));

// A caller can name every type.
export type Named = [
  DecodeOptions,
  Encoding,
  PlainInput,
  SavedTransformer,
  TokenizerLike,
  ResolvedTransformerOptions,
  TransformerRotaryOptions,
  TransformerBiasOptions,
  RotaryOptions,
  RotaryScaling,
  Activation,
  AdditiveAttention,
  Embedding,
  Gelu,
  Linear,
  Norm,
  Sgd,
  ActivationOptions,
  GatedActivation,
  Given<true>,
  WeightsChoice,
  AdamOptions,
  BackwardOptions,
  CosineOptions,
  DropoutOptions,
  EmbeddingForwardOptions,
  EmbeddingOptions,
  ForwardOptions,
  GeluOptions,
  Layout,
  LearnOptions,
  LinearOptions,
  LossOptions,
  NestedArray,
  NormOptions,
  NumberArray,
  Out,
  SgdOptions,
  TensorLike,
  TensorPart,
  Trainable,
  TrainableLayer,
  TransformerForwardOptions,
  TransformerOptions,
  TransformerResult,
  VisibilityOptions,
  WarmupOptions,
];

// The view accepts any kind of tensors, and its results have types.
export async function look(element: HTMLElement): Promise<string> {
  const options: ViewOptions = { attentions: [x, ort, tf], tokens: ['a', 'b'], view: 'heads', layer: 1 };
  const view: View = mount(element, options);
  await view.ready;
  view.update({
    attentions: [
      [1, 0],
      [0.5, 0.5],
    ],
    cell: { t: 1, s: 0 },
  });
  mount(element, { q: x, k: x, v: { data: new Float32Array(4), dims: [2, 2] }, causal: true });
  mount(element, { model: new URL('https://example.org/gpt2/'), onState: ({ layer }: ViewState) => layer.toFixed() });
  mount(element, { attentions: { encoder: [x], cross: x }, tokens: { source: ['a'] }, part: 'cross' });
  // @ts-expect-error: `part` has no such value
  mount(element, { attentions: { encoder: x }, part: 'middle' });
  // @ts-expect-error: `view` has no such value
  mount(element, { view: 'matrix' });
  return view.address();
}

// ONNX export of layers, models and options.
export async function leave(): Promise<OnnxFiles[]> {
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 5, context: 4 });
  const alone = toOnnx({ numHeads: 2, headDim: 4, causal: true, mask: 'float', sinks: true }, { opset: 23 });
  // @ts-expect-error: there are two sets of operators
  const wrong = () => toOnnx(layer, { opset: 22 });
  // @ts-expect-error: `mask` declares an input of the file and is not a tensor
  const given = () => layer.toOnnx({ mask: x });
  void [wrong, given];
  const own = await layer.toOnnx({ causal: true, weights: 'mean', cache: true });
  return [alone, own, toOnnx(model, { last: true, weights: [0] }), await model.toOnnx({ cache: true })];
}

const hubOptions: hub.HubOptions = { token: 'hf_x', onWait: ({ seconds, reason }) => [seconds, reason] };
export const listed: { revision: string; files: hub.HubFileInfo[] } = await hub.files('owner/name', hubOptions);
export const inCache: hub.CachedModel[] = await hub.cached();
await hub.forget('owner/name');
const named = await hl.openModel('hf://owner/name', { hub: hubOptions });
export const origin: [string | undefined, boolean | undefined] = [named.source.id, named.source.cached];
