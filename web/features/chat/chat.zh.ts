// 对话旁边的文字，中文。

export const chat = {
  open: '对话',
  title: '对话中的消息',
  about: '模型的模板把它们连成一段文字，每条消息前后有标记。',
  add: '添加消息',
  remove: '删除这条消息',
  role: (role: string) => `角色：${role}`,
  content: (role: string) => `消息：${role}`,
  refused: '模板不接受这些消息：',
  roles: {
    system: '系统',
    user: '用户',
    assistant: '助手',
    tool: '工具',
  } as Record<string, string>,
};
