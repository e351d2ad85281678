/** Problems of the platform itself, such as stalled consumers, that may make results outdated */
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
      'Alerts for the organization: rules that are not evaluated, late records and detections, failing notification channels',
    ),
  groups: z
    .union([z.array(Item), Unknown])
    .describe('Consumer groups of the installation that are stalled, lag or have no member'),
});

const toIsoOrNull = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

/** Returns the problems of the platform; empty if there are none. */
export const toPlatformState = (
  alerts: readonly ActivePlatformAlert[],
  groups: readonly GroupStatus[],
): z.input<typeof PlatformState> => ({
  alerts: alerts.map((alert) => ({ name: alert.kind, reason: alert.reason, since: toIsoOrNull(alert.sinceMs) })),
  groups:
    groups.length === 0
      ? { value: null, reason: 'this process has not checked consumer groups yet' }
      : groups.flatMap(({ group, problem, sinceMs }) =>
          problem === undefined ? [] : { name: group, reason: problem, since: toIsoOrNull(sinceMs) },
        ),
});
