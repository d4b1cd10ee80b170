// The button that switches the language.

import { useSession } from '../../store/context.ts';

/** Switches the language during the first visit. Later the menu More has this button. */
export function OtherLanguage() {
  const session = useSession();
  const next = session.language.value === 'en' ? 'zh' : 'en';
  const { other } = session.words.value;
  return (
    <button
      type="button"
      class="word language"
      lang={next === 'zh' ? 'zh-Hans' : 'en'}
      aria-label={other}
      onClick={() => session.setLanguage(next)}
    >
      {next === 'zh' ? <Zhongwen /> : other}
    </button>
  );
}

/** The word 中文 as a drawing, because many computers with an English system have no font for it. */
export function Zhongwen() {
  return (
    <svg class="zhongwen" viewBox="0 0 32 16" aria-hidden="true">
      <path d="M2.5 4.5h11v5.5h-11zM8 1.5v13.5" />
      <path d="M24 1.5v2.5M17.5 4.5h13M28 5c-1.3 4.8-5 8.3-10.5 9.7M20 5c1.3 4.8 5 8.3 10.5 9.7" />
    </svg>
  );
}
