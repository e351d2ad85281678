import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, host, port, problemsOf, targetOf } from './socket-settings.ts';

export const tcp = defineCheckType({
  type: 'tcp',
  name: 'TCP',
  summary: 'A connection, what is sent over it, and what comes back.',
  settings: z.strictObject({
    host,
    port,
    send: z.string().max(65_536).nullable().default(null).describe('Sent as soon as the connection is there'),
    assertions: assertions.describe('With one of body or size, up to 64 kB are read until they hold'),
  }),
  phases: ['lookup', 'connect', 'send', 'wait', 'receive'],
  problems: ({ assertions: given }) => problemsOf(given, ['body', 'size', 'duration', 'phase']),
  targets: (settings) => targetOf(settings, 'host', settings.host),
});
