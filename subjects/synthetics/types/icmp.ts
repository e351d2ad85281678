import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, host, problemsOf, targetOf } from './socket-settings.ts';

export const icmp = defineCheckType({
  type: 'icmp',
  name: 'Ping',
  summary: 'Whether a host answers echo requests (ICMP), how fast, and how many of them.',
  settings: z.strictObject({
    host,
    packets: z.int().min(1).max(10).default(3).describe('Sent a fifth of a second apart'),
    assertions: assertions.describe(
      '`loss` is the percentage that was not answered; without one of it, one answer is enough. The phase wait is the average round trip',
    ),
  }),
  phases: ['lookup', 'wait'],
  problems: ({ assertions: given }) => problemsOf(given, ['loss', 'duration', 'phase']),
  targets: (settings) => targetOf(settings, 'host', settings.host),
});
