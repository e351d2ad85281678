import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse, parseResponseFields } from '../definition.ts';
import { httpUrl, token } from '../settings-fields.ts';
import { truncate } from '../template.ts';

const priorities: Readonly<Record<string, number>> = { critical: 5, error: 4, warning: 3, info: 2 };

/**
 * Maximum number of characters. ntfy converts a message of more than 4,096 bytes to a file; a character has at most
 * three bytes.
 */
const maxMessageCharacters = 1300;

export const ntfy = defineChannelType({
  type: 'ntfy',
  name: 'ntfy',
  summary: 'A notification on phones that subscribe to a topic; a page has a button that acknowledges it.',
  settings: z.strictObject({
    type: z.literal('ntfy'),
    topic: z.string().regex(/^[\w-]{1,64}$/, 'must consist of at most 64 letters, digits, _ and -'),
    token: token.optional().describe('Access token, if the topic is protected'),
    url: httpUrl.default('https://ntfy.sh').describe('URL of the server'),
  }),
  secrets: { token: ['url'] },
  requests: ({ title, text, status, severity, link, acknowledge }, { url, topic, token: secret }) => [
    createJsonRequest(
      `${url.replace(/\/$/, '')}/`,
      {
        topic,
        title: truncate(title, 250),
        message: truncate(text, maxMessageCharacters),
        priority: status === 'firing' ? (priorities[severity] ?? 4) : 3,
        tags: [status === 'firing' ? 'rotating_light' : 'white_check_mark'],
        ...(link !== '' && { click: link }),
        ...(acknowledge !== undefined && {
          actions: [
            {
              action: 'http',
              label: 'Acknowledge',
              method: 'POST',
              url: acknowledge.postUrl,
              clear: true,
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ token: acknowledge.token }),
            },
          ],
        }),
      },
      secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    ),
  ],
  judge: judgeByResponse((response) => typeof parseResponseFields(response)['id'] === 'string'),
});
