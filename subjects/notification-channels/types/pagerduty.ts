import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createJsonRequest, defineChannelType, judgeByResponse, parseResponseFields } from '../definition.ts';
import type { ChannelMessage } from '../message.ts';
import { httpUrl, token } from '../settings-fields.ts';
import { truncate } from '../template.ts';

const severities = new Set(['critical', 'error', 'warning', 'info']);

type Action = 'trigger' | 'acknowledge' | 'resolve';

const chooseActions = ({ status, isAcknowledged, isOverAtFirst }: ChannelMessage): readonly Action[] => {
  if (isAcknowledged) return ['acknowledge'];
  if (status === 'firing') return ['trigger'];
  return isOverAtFirst ? ['trigger', 'resolve'] : ['resolve'];
};

const createEvent = (message: ChannelMessage, action: Action, routingKey: string): object => ({
  routing_key: routingKey,
  event_action: action,
  dedup_key: createHash('sha256').update(message.groupKey).digest('hex'),
  client: 'OIQ',
  ...(message.link !== '' && { client_url: message.link, links: [{ href: message.link, text: message.linkText }] }),
  payload: {
    summary: truncate(message.measured === '' ? message.title : `${message.title}: ${message.measured}`, 1024),
    source: message.service || message.payload.externalURL || 'OIQ',
    severity: severities.has(message.severity) ? message.severity : 'error',
    timestamp: new Date(message.atMs).toISOString(),
    class: message.name,
    ...(message.service !== '' && { component: message.service }),
    ...(message.groupText !== '' && { group: message.groupText }),
    custom_details: {
      text: truncate(message.text, 8000),
      labels: message.payload.commonLabels,
      group: message.groupKey,
      isTest: message.isTest,
      status: message.status,
    },
  },
});

export const pagerduty = defineChannelType({
  type: 'pagerduty',
  name: 'PagerDuty',
  summary: 'Events API v2: an incident for each group of alerts, resolved when the group resolves.',
  settings: z.strictObject({
    type: z.literal('pagerduty'),
    routingKey: token.describe('Integration key of the service'),
    url: httpUrl.default('https://events.pagerduty.com/v2/enqueue'),
  }),
  secrets: { routingKey: ['url'] },
  opens: 'incidents',
  requests: (message, { url, routingKey }) =>
    chooseActions(message).map((action) => createJsonRequest(url, createEvent(message, action, routingKey))),
  judge: judgeByResponse((response) => parseResponseFields(response)['status'] === 'success'),
});
