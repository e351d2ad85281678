import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, createTarget, findProblems, host, port } from './socket-settings.ts';

export const tcp = defineCheckType({
  type: 'tcp',
  name: 'TCP',
  summary: 'A connection, the data sent over it, and the response.',
  settings: z.strictObject({
    host,
    port,
    send: z.string().max(65_536).nullable().default(null).describe('Data sent when the connection is open'),
    assertions: assertions.describe('Assertions; with one on `body` or `size`, up to 64 kB are read until they hold'),
  }),
  phases: ['lookup', 'connect', 'send', 'wait', 'receive'],
  problems: ({ assertions: tcpAssertions }) => findProblems(tcpAssertions, ['body', 'size', 'duration', 'phase']),
  targets: (settings) => createTarget(settings, 'host', settings.host),
});
