// Decodes the samples of a sound file, in any format that the browser can decode.

/** Samples per second. */
export const RATE = 16000;

/** Returns one channel, which is the mean of all channels of the file. */
export async function decodeSound(file: Blob): Promise<Float32Array> {
  // The browser converts the sample rate to the rate of the context.
  const context = new OfflineAudioContext(1, 1, RATE);
  const buffer = await context.decodeAudioData(await file.arrayBuffer());
  const samples = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel++) {
    const own = buffer.getChannelData(channel);
    for (let i = 0; i < samples.length; i++) samples[i] += own[i] / buffer.numberOfChannels;
  }
  return samples;
}
