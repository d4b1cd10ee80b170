// Finds the messages in the text of a chat, by the marks that chat templates write around them.

export type Role = 'system' | 'user' | 'assistant' | 'tool';
/** isOpen: true if no mark ends the message */
export type Span = { role: Role; from: number; to: number; isOpen: boolean };

/** The marks before a message, each with its role; null if a group of the expression matches the name of the role. */
const BEGINNINGS: [RegExp, Role | null][] = [
  [/<\|im_start\|>(\w+)(?:\n|<\|im_sep\|>)/, null],
  [/<\|start_header_id\|>(\w+)<\|end_header_id\|>\n\n/, null],
  [/<\|start_of_role\|>(\w+)<\|end_of_role\|>/, null],
  [/<\|START_OF_TURN_TOKEN\|><\|(\w+)_TOKEN\|>/, null],
  [/<start_of_turn>(\w+)\n/, null],
  [/<[|｜](system|user|assistant|User|Assistant)[|｜]>\n?/, null],
  [/\[INST\] ?(?:<<SYS>>\n[^]*?\n<<\/SYS>>\n\n)?/, 'user'],
  [/\[\/INST\] ?/, 'assistant'],
];
/** The marks after a message. */
const ENDS = [
  '<\\|im_end\\|>',
  '<\\|eot_id\\|>',
  '<\\|end_of_text\\|>',
  '<\\|END_OF_TURN_TOKEN\\|>',
  '<end_of_turn>',
  '<\\|end\\|>',
  '<[|｜]end[_▁]of[_▁]sentence[|｜]>',
  '</s>',
];
const MARKS = new RegExp([...BEGINNINGS.map(([mark]) => mark.source), ...ENDS].join('|'), 'g');

/** Names of roles in chat templates, and the roles that they mean. */
const ROLES: Record<string, Role> = {
  model: 'assistant',
  chatbot: 'assistant',
  ai: 'assistant',
  human: 'user',
  ipython: 'tool',
};

/** Returns the role of a mark before a message; null for a mark after a message. */
function roleOf([text, ...groups]: RegExpExecArray): Role | null {
  const name = groups.find((group) => group !== undefined)?.toLowerCase();
  if (name) return ROLES[name] ?? (name as Role);
  return BEGINNINGS.find(([mark, role]) => role && new RegExp(`^${mark.source}$`).test(text))?.[1] ?? null;
}

/** Returns the messages of a text in order; none if it is not the text of a chat. */
export function messageSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (const mark of text.matchAll(MARKS)) {
    const last = spans.at(-1);
    if (last?.isOpen) Object.assign(last, { to: mark.index, isOpen: false });
    const role = roleOf(mark);
    const from = mark.index + mark[0].length;
    if (role) spans.push({ role, from, to: text.length, isOpen: true });
  }
  return spans;
}

/** Returns the role of the message at a character; null in a mark or outside all messages. */
export const roleAt = (spans: Span[], at: number) => spans.find(({ from, to }) => from <= at && at < to)?.role ?? null;

/** Returns the messages of a text, without one that the model has yet to end. Other text is one message of the user. */
export function messagesIn(text: string): { role: Role; content: string }[] {
  const spans = messageSpans(text);
  if (spans.length === 0) return [{ role: 'user', content: text }];
  return spans
    .filter(({ role, isOpen }) => !(isOpen && role === 'assistant'))
    .map(({ role, from, to }) => ({ role, content: text.slice(from, to).trim() }));
}
