import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { findHeaderProblems, headers } from './sent-headers.ts';
import { assertions, createTarget, findProblems, host, port } from './socket-settings.ts';

/** Returns whether gRPC itself sends a header. Values of `-bin` headers are bytes and cannot be text. */
const isGrpcHeader = (name: string): boolean =>
  name.startsWith('grpc-') || name.endsWith('-bin') || ['content-type', 'host', 'user-agent'].includes(name);

export const grpc = defineCheckType({
  type: 'grpc',
  name: 'gRPC',
  summary: 'Health of a gRPC server, by grpc.health.v1.',
  settings: z.strictObject({
    host,
    port: port.default(443),
    service: z.string().max(256).default('').describe('Service whose health is queried; empty for the entire server'),
    tls: z.boolean().default(true),
    serverName: host.nullable().default(null).describe('Server name for TLS, instead of the host'),
    verifyCertificate: z.boolean().default(true),
    metadata: headers,
    assertions: assertions.describe(
      'Assertions; `code` is SERVING, NOT_SERVING, SERVICE_UNKNOWN or UNKNOWN, or the status of a failed call, such as UNIMPLEMENTED. Without one on `code`, SERVING is expected',
    ),
  }),
  phases: ['lookup', 'connect', 'tls', 'wait'],
  problems: ({ tls, serverName, metadata, assertions: grpcAssertions }) => [
    ...(serverName === null || tls ? [] : [{ path: 'serverName', message: 'must not be set without TLS' }]),
    ...findHeaderProblems(metadata, 'metadata', isGrpcHeader),
    ...findProblems(grpcAssertions, ['code', 'certificate', 'duration', 'phase']),
  ],
  targets: (settings) => createTarget(settings, 'host', settings.host),
});
