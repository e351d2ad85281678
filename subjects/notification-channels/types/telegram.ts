import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse, parseResponseFields } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';
import { truncate } from '../template.ts';

const judgeByOk = judgeByResponse((response) => parseResponseFields(response)['ok'] === true);

export const telegram = defineChannelType({
  type: 'telegram',
  name: 'Telegram',
  summary: 'A message from a bot to a chat.',
  settings: z.strictObject({
    type: z.literal('telegram'),
    botToken: z.string().regex(/^\d{3,20}:[\w-]{10,100}$/, 'must be a bot token, such as 123456:ABC-DEF'),
    chatId: z.string().regex(/^(?:-?\d{1,20}|@\w{1,64})$/, 'must be a chat id, or @ and the name of a channel'),
    url: httpUrl.default('https://api.telegram.org'),
  }),
  secrets: { botToken: ['url'] },
  requests: ({ title, text }, { url, botToken, chatId }) => [
    createJsonRequest(`${url.replace(/\/$/, '')}/bot${botToken}/sendMessage`, {
      chat_id: chatId,
      text: truncate(`${title}\n\n${text}`, 4096),
      link_preview_options: { is_disabled: true },
    }),
  ],
  judge(response) {
    const verdict = judgeByOk(response);
    const parameters = parseResponseFields(response)['parameters'] as { readonly retry_after?: unknown } | undefined;
    const seconds = parameters?.retry_after;
    return verdict.outcome === 'retry' && typeof seconds === 'number'
      ? { ...verdict, retryAfterMs: seconds * 1000 }
      : verdict;
  },
});
