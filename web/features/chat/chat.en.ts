// Texts about chats, in English.

export const chat = {
  open: 'messages',
  title: 'The messages of this chat',
  about: 'The model’s template makes one text of them, with marks around each message.',
  add: 'Add a message',
  remove: 'Remove this message',
  role: (role: string) => `Role: ${role}`,
  content: (role: string) => `Message: ${role}`,
  refused: 'The template refuses these messages:',
  roles: {
    system: 'system',
    user: 'user',
    assistant: 'assistant',
    tool: 'tool',
  } as Record<string, string>,
};
