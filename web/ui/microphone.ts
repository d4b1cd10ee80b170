// Records sound by the microphone, in the format of the browser.

/** Seconds after which a recording stops by itself. */
export const MAX_SECONDS = 30;
const TICK_MS = 200;

/** Records from the microphone; returns a function that stops it. Rejects without a microphone or access. */
export async function record({
  signal,
  seconds,
  end,
}: {
  /** stops the recording and drops the sound */
  signal: AbortSignal;
  /** called during the recording, with whole seconds */
  seconds: (seconds: number) => void;
  /** called with the sound after the recording */
  end: (sound: Blob) => void;
}): Promise<() => void> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const release = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  if (signal.aborted) {
    release();
    return () => {};
  }
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  const start = performance.now();
  const stop = () => {
    if (recorder.state !== 'inactive') recorder.stop();
  };
  const timer = setInterval(() => {
    const passed = Math.floor((performance.now() - start) / 1000);
    if (passed >= MAX_SECONDS) stop();
    else seconds(passed);
  }, TICK_MS);
  recorder.ondataavailable = ({ data }) => void parts.push(data);
  recorder.onstop = () => {
    clearInterval(timer);
    release();
    if (!signal.aborted) end(new Blob(parts, { type: recorder.mimeType }));
  };
  signal.addEventListener('abort', stop);
  recorder.start();
  seconds(0);
  return stop;
}
