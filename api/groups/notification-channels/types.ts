import { z } from 'zod';
import { channelTypes } from '../../../subjects/notification-channels/registry.ts';
import { defineOperation } from '../../kernel/operation.ts';

const types = channelTypes.map(({ type, name, summary, settings, secrets }) => ({
  type,
  name,
  summary,
  settings: z.toJSONSchema(settings, { io: 'input' }) as Record<string, unknown>,
  secrets: Object.keys(secrets),
}));

export const listChannelTypes = defineOperation({
  method: 'GET',
  path: '/api/notification-channels/types',
  operationId: 'listNotificationChannelTypes',
  summary: 'List types of notification channels, and the required settings of each',
  role: 'viewer',
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        type: z.string(),
        name: z.string(),
        summary: z.string(),
        settings: z.record(z.string(), z.unknown()).describe('JSON schema of `settings`'),
        secrets: z.array(z.string()).describe('Settings that are stored encrypted and shown as a mask'),
      }),
    ),
  }),
  handler: () => ({ items: types }),
});
