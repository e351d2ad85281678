import { z } from 'zod';
import { defineCheckType } from './definition.ts';
import { assertions, createTarget, findProblems, host } from './socket-settings.ts';

export const icmp = defineCheckType({
  type: 'icmp',
  name: 'Ping',
  summary: 'Whether a host answers echo requests (ICMP), how fast, and how many.',
  settings: z.strictObject({
    host,
    packets: z.int().min(1).max(10).default(3).describe('Number of packets, sent at intervals of 0.2 seconds'),
    assertions: assertions.describe(
      'Assertions; `loss` is the percentage of unanswered requests; without one on `loss`, one answer is sufficient. The phase `wait` is the average round trip',
    ),
  }),
  phases: ['lookup', 'wait'],
  problems: ({ assertions: icmpAssertions }) => findProblems(icmpAssertions, ['loss', 'duration', 'phase']),
  targets: (settings) => createTarget(settings, 'host', settings.host),
});
