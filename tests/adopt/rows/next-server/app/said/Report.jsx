'use client';

import { useEffect } from 'react';

/** Reports what the server has computed, and what the page and the route handler of the recipe return. */
export function Report({ said }) {
  useEffect(() => {
    const report = async () => {
      const html = await (await fetch('/')).text();
      const [, page] = html.match(/<p>(.*?)<\/p>/) ?? [];
      const text = 'In port the first mate cried to his men. At sea the first';
      const words = await (await fetch(`/words?text=${text}`)).json();
      document.body.dataset.said = JSON.stringify({ ...said, page, words: words.map(({ text }) => text) });
    };
    void report();
  }, [said]);
}
