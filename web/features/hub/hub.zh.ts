// The texts about models of the Hugging Face Hub, in Chinese.

import type { texts as en } from './hub.en.ts';

const count = (n: number) => (n < 1e4 ? `${n}` : n < 1e8 ? `${(n / 1e4).toFixed(0)} 万` : `${(n / 1e8).toFixed(1)} 亿`);

const time = (seconds: number) =>
  seconds < 90
    ? `${Math.max(Math.round(seconds), 1)} 秒`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} 分钟`
      : `${(seconds / 3600).toFixed(1)} 小时`;

export const texts: typeof en = {
  title: '来自 Hugging Face Hub',
  local: '来自本机',
  field: '模型的名称或链接',
  placeholder: 'gpt2、Qwen/Qwen3-0.6B，或链接',
  open: '打开',
  about: '只有模型的名称会发送到 huggingface.co，您的文本留在本机。',
  stored: '已存在浏览器中',
  storedList: '已存在此浏览器中',
  recommended: '可以从这些开始',
  remove: (id) => `从此浏览器中删除 ${id}`,
  removeShort: '删除',
  removed: (id) => `已从此浏览器中删除 ${id}`,
  waiting: 'Hub 或网络繁忙：稍后自动重试。',
  describing: (name) => `正在查看 ${name}…`,
  notStored: '此浏览器不为本页存储文件，因此每次都要重新下载。',
  fromDisk: '本页是从磁盘打开的，此浏览器因此不能存储文件，每次都要重新下载；用服务器打开本页（npm start）即可存储。',
  isModel: (family, layers, heads, parameters) =>
    `${family}：${layers} 层 × ${heads} 个头，${count(parameters)}个参数。`,
  download: (left, size) =>
    left === size ? `需下载 ${size}。` : `还需下载 ${left}；其余（共 ${size}）已在此浏览器中。`,
  downloaded: (size) => `全部 ${size} 已在此浏览器中，无需下载。`,
  weights: '所需内存（按权重的形式）',
  forms: {
    float32: '32 位',
    stored: '16 位',
    blocks: '与文件相同',
    int8: '8 位',
  },
  formsAbout: {
    float32: '精确',
    stored: '除末位数字外相同',
    blocks: '数值略有差别',
    int8: '有舍入：数值略有差别',
  },
  fit: {
    fits: '',
    tight: '本机内存可能不够',
    no: '放不下',
  },
  room: (room, machine) => `网页在这里可用 ${room} 内存。${machine === null ? '' : `本机报告有 ${machine} GB 内存。`}`,
  noneFits: (needed, room) =>
    `放不下这个模型：需要 ${needed}，而网页可用 ${room}。请打开同一系列中较小的模型，或在 Node 中用本模块打开它的前几层。`,
  openNow: '打开',
  downloadNow: (left) => `下载 ${left}`,
  back: '返回',
  link: (head) => `链接指向这个模型的${head}。`,
  speed: (bytes) => `每秒 ${bytes}`,
  left: (seconds) => `还需 ${time(seconds)}`,
  resumes: '取消后，已读取的部分留在此浏览器中，再次打开时从那里继续。',
  token: '您账户的令牌，hf_…',
  tokenAbout: '令牌只在内存中，关闭本页即消失；既不存储，也不会出现在链接里。',
  tokenMake: '创建令牌',
  itsPage: '同意条款',
  again: '重试',
  problems: {
    hub_gated: () => '作者要求同意其条款。请在模型页面上同意，然后输入同一账户的令牌。',
    hub_notFound: () => 'Hub 上没有这个模型，或者它是私有的。请检查拼写：名称的形式是“所有者/名称”。私有模型需要令牌。',
    hub_revision: (known) =>
      `这个模型没有该版本。${known ? `现有：${known}。` : '去掉 @ 及其后的部分，即可打开主分支。'}`,
    hub_entry: (known) =>
      `此仓库缺少文件，因此不是可以打开的模型。${known ? `现有：${known}。` : '请打开含有 config.json 和 safetensors 的版本。'}`,
    hub_token: () => 'Hub 不接受这个令牌，它可能已过期：请新建一个，再在此输入。',
    hub_rateLimit: () => 'Hub 暂时不接受来自此网络的更多请求。请五分钟后再试，或输入令牌：账户的限额更高。',
    hub_offline: () => '没有网络连接，此浏览器中也没有存储这个模型。请连接网络后重试。',
    hub_network: () => '无法连接 Hub。请检查网络后重试：已读取的部分会保留。已存储的模型无需网络即可打开。',
    hub_server: (why) => `Hub 目前有问题（${why}）。请一分钟后重试。`,
    hub_changed: () => '下载时 Hub 上的文件被改动了。请重试：将从头读取新版本。',
    hub_name: (name) =>
      `${name} 不是模型的名称。名称形如 gpt2 或 Qwen/Qwen3-0.6B；链接以 https://huggingface.co/ 开头。`,
  },
  see: {
    gpt2: 'GPT-2：头 5.5 找到前面相同的词，并抄写其后的内容。读英文。',
    distilgpt2: '层数减半的 GPT-2：更快，文字依然通顺。读英文。',
    pythia: '只有 48 个头，可以逐个关闭：预测需要哪些？读英文。',
    bert: 'BERT：同时向两个方向看。遮盖一个词，看它填什么。读英文。',
    minilm: '句子编码器：两句话有多像，是哪些词使它们相像。读英文。',
    smollm: '30 层的 Llama：每三个头共用一组键。读英文。',
    qwen: '对话模型，28 × 16 个头，也读中文。多数头看向第一个词元。',
    t5: '编码器和解码器：三种注意力并列。读英文。',
    vit: '把图片分成小块来读：可以用您自己的照片。',
    whisper: '把说的话写成文字：录一段，看每个词看向声音的哪一段。',
    bertChinese: '中文 BERT：每个汉字是一个词元。',
  },
};
