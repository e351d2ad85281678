import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByStatus } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';
import { truncate } from '../template.ts';

/** Names of colors of Adaptive Cards, by severity. */
const colors: Readonly<Record<string, string>> = { warning: 'Warning', info: 'Accent' };

export const teams = defineChannelType({
  type: 'teams',
  name: 'Microsoft Teams',
  summary: 'An adaptive card through a workflow with the trigger “when a Teams webhook request is received”.',
  settings: z.strictObject({
    type: z.literal('teams'),
    webhookUrl: httpUrl.describe('URL of the workflow; a secret, because it allows anyone to post'),
  }),
  secrets: { webhookUrl: [] },
  requests: ({ markdown: { title, text }, status, severity, link, linkText }, { webhookUrl }) => [
    createJsonRequest(webhookUrl, {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              {
                type: 'TextBlock',
                text: truncate(title, 1000),
                weight: 'Bolder',
                size: 'Medium',
                wrap: true,
                color: status === 'resolved' ? 'Good' : (colors[severity] ?? 'Attention'),
              },
              { type: 'TextBlock', text: truncate(text, 8000).replaceAll('\n', '\n\n'), wrap: true },
            ],
            ...(link !== '' && { actions: [{ type: 'Action.OpenUrl', title: linkText, url: link }] }),
          },
        },
      ],
    }),
  ],
  // Teams reports some failures in the body of a 200 response.
  judge: (response) =>
    response.status < 300 && /webhook message delivery failed/i.test(response.body)
      ? { outcome: 'retry' }
      : judgeByStatus(response),
});
