import { compute } from '../../compute.js';

/** Runs in the page: adds what the page and the route handler of the recipe return. */
const report = async (said) => {
  const html = await (await fetch('/')).text();
  const [, page] = html.match(/<p>(.*?)<\/p>/) ?? [];
  const text = 'In port the first mate cried to his men. At sea the first';
  const words = await (await fetch(`/words?text=${text}`)).json();
  document.body.dataset.said = JSON.stringify({ ...said, page, words: words.map(({ text }) => text) });
};

export default async function Page() {
  const program = `(${report})(${JSON.stringify(await compute())})`;
  return <script dangerouslySetInnerHTML={{ __html: program }} />;
}
