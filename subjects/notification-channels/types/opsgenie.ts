import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse, parseResponseFields } from '../definition.ts';
import { httpUrl, token } from '../settings-fields.ts';
import { truncate } from '../template.ts';

const priorities: Readonly<Record<string, string>> = { critical: 'P1', error: 'P2', warning: 'P3', info: 'P5' };

export const opsgenie = defineChannelType({
  type: 'opsgenie',
  name: 'Opsgenie',
  summary: 'An alert for each group of alerts, closed when the group resolves.',
  settings: z.strictObject({
    type: z.literal('opsgenie'),
    apiKey: token.describe('Key of an API integration'),
    url: httpUrl.default('https://api.opsgenie.com').describe('Base URL; `https://api.eu.opsgenie.com` in the EU'),
  }),
  secrets: { apiKey: ['url'] },
  opens: 'incidents',
  requests(message, { url, apiKey }) {
    const alias = createHash('sha256').update(message.groupKey).digest('hex');
    const base = `${url.replace(/\/$/, '')}/v2/alerts`;
    const headers = { authorization: `GenieKey ${apiKey}` };
    const create = createJsonRequest(
      base,
      {
        alias,
        message: truncate(message.title, 130),
        description: truncate(message.text, 15_000),
        source: 'OIQ',
        priority: priorities[message.severity] ?? 'P2',
        ...(message.service !== '' && { entity: truncate(message.service, 512) }),
        tags: message.isTest ? ['test'] : [message.severity],
        details: { ...message.payload.commonLabels, isTest: String(message.isTest) },
      },
      headers,
    );
    const note = { source: 'OIQ', note: truncate(`${message.title}\n${message.text}`, 20_000) };
    const toActionRequest = (action: 'close' | 'acknowledge') =>
      createJsonRequest(`${base}/${alias}/${action}?identifierType=alias`, note, headers);
    if (message.isAcknowledged) return [toActionRequest('acknowledge')];
    if (message.status === 'firing') return [create];
    return message.isOverAtFirst ? [create, toActionRequest('close')] : [toActionRequest('close')];
  },
  judge: judgeByResponse((response) => typeof parseResponseFields(response)['requestId'] === 'string'),
});
