// The message after the worker has crashed, in English.

export const texts = {
  ended: 'The browser stopped the computation, perhaps for lack of memory. It has restarted with your settings.',
  training: 'The model in training was restored from its last save.',
  lost: (names: string) => `These models were lost: ${names}. Open them again.`,
};
