// 声音模型，中文。

import type { sound as en } from './sound.en.ts';

export const sound: typeof en = {
  title: (seconds, cut) => `${cut ? '前' : ''} ${seconds} 秒的声音`.trim(),
  unseen: (seconds, share) => `其后还有 ${seconds} 秒静音，没有画出：占这一行的 ${share}。`,
  file: '您自己的声音…',
  record: '录音',
  stop: (seconds) => `停止（${seconds} 秒）`,
  cancel: '取消',
  asking: '浏览器正在询问本页能否使用麦克风。',
  recording: '30 秒后自动停止。',
  refused: '本页不能使用麦克风。请在浏览器设置中允许，或选择声音文件。',
  missing: '没有找到麦克风。请选择声音文件。',
  local: '什么都不上传。',
  transcribe: '转写',
  stopWriting: '停止',
  spectrogram: (seconds) => `键的声谱图：从左到右 ${seconds} 秒，低音在下`,
  letters: '这一帧的字母',
  classes: '这一帧的类别',
  blank: '无',
  space: '空格',
  text: '文字',
  noText: '没有听出字母',
};
