// The samples of a sound file, in any format that the browser knows.

/** Samples in a second. */
export const RATE = 16000;

/** One channel, the mean of those of the file. @param {Blob} file @returns {Promise<Float32Array>} */
export async function decodeSound(file) {
  // The browser converts the rate to that of the context.
  const context = new OfflineAudioContext(1, 1, RATE);
  const buffer = await context.decodeAudioData(await file.arrayBuffer());
  const samples = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel++) {
    const own = buffer.getChannelData(channel);
    for (let i = 0; i < samples.length; i++) samples[i] += own[i] / buffer.numberOfChannels;
  }
  return samples;
}
