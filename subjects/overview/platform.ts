/** What of the platform itself stands still or is late: then answers may be older than they look. */
import { z } from 'zod';
import { Unknown } from '../../queries/result.ts';
import type { GroupStanding } from '../../schemas/ports/standing.ts';
import type { PlatformAlert } from '../../schemas/resources/platform-alert.ts';

const Item = z.strictObject({
  name: z.string(),
  why: z.string(),
  since: z.string().nullable(),
});

export const PlatformState = z.strictObject({
  alerts: z
    .array(Item)
    .describe('What the organization is told: rules that are not evaluated, records and detections that are late'),
  groups: z
    .union([z.array(Item), Unknown])
    .describe('Consumer groups of the whole installation that stand still, fall behind or have no member'),
});

/** Empty where all is well. */
export const platformState = (
  alerts: readonly (PlatformAlert & { readonly id: string })[],
  groups: readonly GroupStanding[],
): z.input<typeof PlatformState> => ({
  alerts: alerts.map(({ id, reason, since }) => ({ name: id, why: reason, since })),
  groups:
    groups.length === 0
      ? { value: null, reason: 'this process has not looked at consumer groups yet' }
      : groups.flatMap(({ group, problem, sinceMs }) =>
          problem === undefined
            ? []
            : { name: group, why: problem, since: sinceMs === undefined ? null : new Date(sinceMs).toISOString() },
        ),
});
