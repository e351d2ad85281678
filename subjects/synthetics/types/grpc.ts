import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { headerProblems, headers } from './sent-headers.ts';
import { assertions, host, port, problemsOf, targetOf } from './socket-settings.ts';

/** What gRPC itself sends; values of `-bin` are bytes, which no text is. */
const isOfGrpc = (name: string): boolean =>
  name.startsWith('grpc-') || name.endsWith('-bin') || name === 'content-type';

export const grpc = defineCheckType({
  type: 'grpc',
  name: 'gRPC',
  summary: 'The health of a gRPC server, as grpc.health.v1 tells it.',
  settings: z.strictObject({
    host,
    port: port.default(443),
    service: z.string().max(256).default('').describe('Whose health is asked; empty: that of the whole server'),
    tls: z.boolean().default(true),
    serverName: host.nullable().default(null).describe('Asked of the server in place of the host'),
    verifyCertificate: z.boolean().default(true),
    metadata: headers,
    assertions: assertions.describe(
      '`code` is SERVING, NOT_SERVING, SERVICE_UNKNOWN or UNKNOWN, or the status of the call where it failed, such as UNIMPLEMENTED. Without one of it, SERVING is expected',
    ),
  }),
  phases: ['lookup', 'connect', 'tls', 'wait'],
  problems: ({ tls, serverName, metadata, assertions: given }) => [
    ...(serverName === null || tls ? [] : [{ path: 'serverName', message: 'must be left out without TLS' }]),
    ...headerProblems(metadata, 'metadata', isOfGrpc),
    ...problemsOf(given, ['code', 'certificate', 'duration', 'phase']),
  ],
  targets: (settings) => targetOf(settings, 'host', settings.host),
});
