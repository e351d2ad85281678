import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, createTarget, findProblems, host, port } from './socket-settings.ts';

export const tls = defineCheckType({
  type: 'tls',
  name: 'TLS',
  summary: 'Certificate of a server: trust, names, and validity.',
  settings: z.strictObject({
    host,
    port: port.default(443),
    serverName: host.nullable().default(null).describe('Server name for TLS, instead of the host'),
    verifyCertificate: z.boolean().default(true).describe('Whether the certificate must be trusted and match the host'),
    assertions,
  }),
  phases: ['lookup', 'connect', 'tls'],
  problems: ({ assertions: tlsAssertions }) =>
    findProblems(tlsAssertions, ['protocol', 'certificate', 'duration', 'phase']),
  targets: (settings) => createTarget(settings, 'host', settings.host),
});
