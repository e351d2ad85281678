/** What of the platform itself stands still or is late: then answers may be older than they look. */
import { z } from 'zod';
import { Unknown } from '../../queries/result.ts';
import type { GroupStatus } from '../../schemas/ports/group-status.ts';
import type { ActivePlatformAlert } from '../alerts/platform-alerts.ts';

const Item = z.strictObject({
  name: z.string(),
  reason: z.string(),
  since: z.string().nullable(),
});

export const PlatformState = z.strictObject({
  alerts: z
    .array(Item)
    .describe(
      'What the organization is told: rules that are not evaluated, records and detections that are late, notification channels that fail',
    ),
  groups: z
    .union([z.array(Item), Unknown])
    .describe('Consumer groups of the whole installation that stand still, fall behind or have no member'),
});

const isoOf = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

/** Empty where all is well. */
export const platformState = (
  alerts: readonly ActivePlatformAlert[],
  groups: readonly GroupStatus[],
): z.input<typeof PlatformState> => ({
  alerts: alerts.map((alert) => ({ name: alert.kind, reason: alert.reason, since: isoOf(alert.sinceMs) })),
  groups:
    groups.length === 0
      ? { value: null, reason: 'this process has not looked at consumer groups yet' }
      : groups.flatMap(({ group, problem, sinceMs }) =>
          problem === undefined ? [] : { name: group, reason: problem, since: isoOf(sinceMs) },
        ),
});
