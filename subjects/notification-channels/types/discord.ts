import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse, parseResponseFields } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';
import { truncate } from '../template.ts';

/** Returns a URL with `wait`, so that Discord returns the created message. */
const addWaitParameter = (url: string): string => {
  const target = new URL(url);
  target.searchParams.set('wait', 'true');
  return target.href;
};

const judgeByMessageId = judgeByResponse((response) => typeof parseResponseFields(response)['id'] === 'string');

export const discord = defineChannelType({
  type: 'discord',
  name: 'Discord',
  summary: 'A message through the webhook of a channel.',
  settings: z.strictObject({
    type: z.literal('discord'),
    webhookUrl: httpUrl.describe('URL of the webhook; a secret, because it allows anyone to post'),
  }),
  secrets: { webhookUrl: [] },
  requests: ({ markdown: { title, text }, color, atMs }, { webhookUrl }) => [
    createJsonRequest(addWaitParameter(webhookUrl), {
      content: '',
      // Text of alerts must not mention anyone.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: truncate(title, 256),
          description: truncate(text, 4000),
          timestamp: new Date(atMs).toISOString(),
          color: Number.parseInt(color.slice(1), 16),
        },
      ],
    }),
  ],
  judge(response) {
    const verdict = judgeByMessageId(response);
    const seconds = parseResponseFields(response)['retry_after'];
    return verdict.outcome === 'retry' && typeof seconds === 'number'
      ? { ...verdict, retryAfterMs: seconds * 1000 }
      : verdict;
  },
});
