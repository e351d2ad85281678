import { z } from 'zod';
import { byAnswer, defineChannelType, jsonRequest } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';
import { cut } from '../template.ts';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const slack = defineChannelType({
  type: 'slack',
  name: 'Slack',
  summary: 'A message through an incoming webhook.',
  settings: z.strictObject({
    type: z.literal('slack'),
    webhookUrl: httpUrl.describe('URL of the incoming webhook; a secret, because it allows anyone to post'),
  }),
  secrets: { webhookUrl: [] },
  requests: ({ title, text, status }, { webhookUrl }) => [
    jsonRequest(webhookUrl, {
      text: escaped(cut(title, 3000)),
      attachments: [
        {
          color: status === 'firing' ? '#d40e0d' : '#2eb67d',
          fallback: escaped(cut(title, 3000)),
          text: escaped(cut(text, 8000)),
        },
      ],
    }),
  ],
  judge: byAnswer(({ body }) => body.trim() === 'ok'),
});
