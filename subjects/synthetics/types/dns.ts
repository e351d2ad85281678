import { isIP } from 'node:net';
import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, createTarget, findProblems, host, parseLiteralHost, port } from './socket-settings.ts';

export const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;

export const dns = defineCheckType({
  type: 'dns',
  name: 'DNS',
  summary: 'Records of a name, as answered by a name server.',
  settings: z.strictObject({
    name: z.string().min(1).max(253).describe('Name to resolve'),
    record: z.enum(recordTypes).default('A'),
    server: host.nullable().default(null).describe('Address of the name server; `null` for those of the location'),
    port: port.default(53),
    assertions: assertions.describe('Assertions; without any, at least one record is expected'),
  }),
  phases: ['lookup'],
  problems: ({ server, assertions: dnsAssertions }) => [
    ...(server === null || server.includes('{{') || isIP(parseLiteralHost(server) ?? '') !== 0
      ? []
      : [{ path: 'server', message: 'must be an IP address: a name would be resolved by another server' }]),
    ...findProblems(dnsAssertions, ['record', 'code', 'duration', 'phase']),
  ],
  targets: (settings) => createTarget(settings, 'server', settings.server ?? '{{location}}'),
});
