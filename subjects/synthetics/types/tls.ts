import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, host, port, problemsOf, targetOf } from './socket-settings.ts';

export const tls = defineCheckType({
  type: 'tls',
  name: 'TLS',
  summary: 'The certificate of a server: whether it is trusted, whom it names, and how long it is valid.',
  settings: z.strictObject({
    host,
    port: port.default(443),
    serverName: host.nullable().default(null).describe('Asked of the server in place of the host'),
    verifyCertificate: z.boolean().default(true).describe('Whether it must be trusted and name the host'),
    assertions,
  }),
  phases: ['lookup', 'connect', 'tls'],
  problems: ({ assertions: given }) => problemsOf(given, ['protocol', 'certificate', 'duration', 'phase']),
  targets: (settings) => targetOf(settings, 'host', settings.host),
});
