// Opens and closes sources: a user's files, or the input of the program that embeds the page.

import type { Handler } from '../types.ts';

export const open: Handler<'open'> = {
  async answer({ name, title, files, transposed }, reply, worker) {
    const reading = new AbortController();
    const hl = await worker.core();
    // The code is loaded here because most visitors open no files.
    const { openFiles } = await import('../sources/userFiles.ts');
    const { source, summary } = await openFiles(hl, name, files, {
      title,
      transposed,
      signal: reading.signal,
      onProgress(read, total) {
        if (reply.isCancelled()) reading.abort();
        else reply.send('opening', { read, total });
      },
    });
    if (reply.isCancelled()) return source.dispose?.();
    worker.sources.set(name, Promise.resolve(source));
    reply.send('opened', { about: source.about, summary });
  },
};

export const openInput: Handler<'openInput'> = {
  answersEvery: true,
  async answer({ name, input }, reply, worker) {
    const opened = worker.core().then(async (hl) => {
      const { openProgramInput } = await import('../sources/programSource.ts');
      return openProgramInput(hl, name, input, (read, total) => reply.send('progress', { read, total }));
    });
    worker.sources.replace(
      name,
      opened.then(({ source }) => source),
    );
    const { source, summary } = await opened;
    reply.send('inputOpened', { about: source.about, summary });
  },
};

export const close: Handler<'close'> = {
  answer: ({ name }, _reply, worker) => worker.sources.close(name),
};
