import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';
import { truncate } from '../template.ts';

const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const slack = defineChannelType({
  type: 'slack',
  name: 'Slack',
  summary: 'A message through an incoming webhook.',
  settings: z.strictObject({
    type: z.literal('slack'),
    webhookUrl: httpUrl.describe('URL of the incoming webhook; a secret, because it allows anyone to post'),
  }),
  secrets: { webhookUrl: [] },
  requests: ({ title, text, color }, { webhookUrl }) => [
    createJsonRequest(webhookUrl, {
      text: escapeMarkup(truncate(title, 3000)),
      attachments: [
        {
          color,
          fallback: escapeMarkup(truncate(title, 3000)),
          text: escapeMarkup(truncate(text, 8000)),
        },
      ],
    }),
  ],
  judge: judgeByResponse(({ body }) => body.trim() === 'ok'),
});
