// The texts of the panel that opens models, in Chinese.

import type { texts as en } from './openPanel.en.ts';

export const texts: typeof en = {
  files: '文件…',
  folder: '文件夹…',
  drop: '也可以拖放到页面任意处，或粘贴。一切都留在本机。',
  which: '哪些文件？',
  kinds: [
    [
      '模型',
      '.gguf 文件；或文件夹：config.json、tokenizer.json，以及 safetensors 或 pytorch_model.bin；或 nanoGPT 的 ckpt.pt。',
    ],
    [
      '注意力权重',
      'npy、npz、safetensors 或 JSON，形状为（层，头，词元，词元）、（头，词元，词元）或（词元，词元）；可附词元的 JSON 列表。',
    ],
    [
      '查询、键和值',
      '含 query、key 和 value 的 safetensors、npz、npy 或 JSON；或一层的权重和它的输入（hidden_states）。',
    ],
  ],
  paste: '在此粘贴 JSON：权重或词元列表',
  show: '显示',
  reading: '正在读取',
  progress: (read, total) => `已读取 ${read}，共 ${total}`,
  isWeights: {
    rows: '别处算出的注意力权重：每行之和为 1。背后没有模型，因此没有预测，也不能改动。',
    columns: '别处算出的权重：每列之和为 1，每行则不是。是否转置了？',
    neither: '别处算出的权重：每行和每列之和都不是 1。',
  },
  weightsOf: ({ name, layers, heads, wholeT, wholeS, causal }, named) =>
    `${named ? `${name}：` : ''}${layers} 层 × ${heads} 个头，${wholeT === wholeS ? `${wholeT} 个词元` : `${wholeT} 个查询，${wholeS} 个键`}${causal ? '，不看后面' : ''}。`,
  cutTo: (all, shown) => `共 ${all} 个词元，显示前 ${shown} 个。`,
  batchOf: (n) => `依次为层、一批 ${n} 个、头：在图上方选择显示批中的哪一个。`,
  weightsNan: '部分权重为 NaN：以叉号显示。',
  unused: (names) => `未使用：${names}。`,
  isModel: (family, layers, heads, width) => `${family}：${layers} 层 × ${heads} 个头，每头宽 ${width}。`,
  size: (parameters, file, weights, memory) =>
    `${parameters < 1e6 ? parameters : `${(parameters / 1e6).toFixed(1)} 百万`} 个参数。文件：${file}。` +
    {
      int8: `内存：${memory}，较大，因此存为 int8：数值与 float32 略有差别。`,
      stored: '内存中与文件中的形式相同。',
      float32: `内存：${memory}，float32。`,
    }[weights],
  rounding: {
    compare: '与 float32 比较',
    reading: '正在以 float32 读取权重：',
    cancel: '取消',
    measured: (tokens, share, largest) =>
      `与 float32 比较前 ${tokens} 个词元：${share}% 的行中权重最大的键相同，注意力权重的变化不超过 ${largest}。`,
    tooLarge: '以 float32 存放时，内存容不下此模型。',
    failed: (message) => `比较失败：${message}`,
  },
  does: {
    next: '它给出下一个词元。',
    masked: '它给出被遮盖处应填的词。',
    classes: '它说出图中所见。',
    letters: '它给声音的每一帧一个字母。',
    frames: '它给声音的每一帧一个类别。',
    sounds: '它说出所听到的。',
    nothing: '它不作预测，因此只显示注意力。',
    unasked: '它填被遮盖的词，但它的分词器没有 [MASK]，因此只显示注意力。',
  },
  missing: {
    letters: '缺少 vocab.json：字母以编号代替。',
    tokenizer: '缺少 tokenizer.json：请输入词元编号代替文字。',
    preprocessor: '缺少 preprocessor_config.json：颜色的均值与幅度按 0.5 处理。',
  },
  modelNan: (n, name) => `${n} 个张量含 NaN（${name}）：其结果以叉号显示。请从未发散的训练重新保存模型。`,
};
