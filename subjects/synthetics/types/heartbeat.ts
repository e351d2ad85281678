import { z } from 'zod';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import { durationSchema, formatDuration, parseDurationMs } from '../../alerts/durations.ts';
import { findCronProblem, shortestGapMs } from '../cron.ts';
import { defineCheckType } from './definition.ts';

const settings = z.strictObject({
  every: durationSchema('10s', '366d')
    .nullable()
    .default(null)
    .describe('Expected interval; `null` for `every` of the check'),
  cron: z
    .string()
    .min(1)
    .max(128)
    .nullable()
    .default(null)
    .describe(
      'Cron expression of the expected times, instead of an interval: minute, hour, day, month, day of the week',
    ),
  timeZone: TimeZone.default('UTC').describe('Time zone of the cron expression'),
  grace: durationSchema('1s', '31d')
    .nullable()
    .default(null)
    .describe('Maximum delay; `null` for a tenth of the interval, between ten seconds and one hour'),
  maxRunDuration: durationSchema('1s', '1d')
    .default('1h')
    .describe('Maximum time between a ping to `/start` and the end of the run'),
});
type HeartbeatSettings = z.output<typeof settings>;

/** Schedule settings of a heartbeat check */
export interface HeartbeatSchedule {
  readonly every: string;
  readonly heartbeat: HeartbeatSettings;
}

/** Returns the shortest time between two due times. */
export const intervalMs = ({ every, heartbeat: { cron, timeZone, every: own } }: HeartbeatSchedule): number =>
  cron === null ? parseDurationMs(own ?? every) : shortestGapMs({ cron, timeZone });

const findGraceProblem = (expected: HeartbeatSchedule): string | undefined => {
  const { grace } = expected.heartbeat;
  const maxGraceMs = intervalMs(expected);
  return grace !== null && parseDurationMs(grace) > maxGraceMs
    ? `must be at most ${formatDuration(maxGraceMs)}, the time between two due times`
    : undefined;
};

export const heartbeat = defineCheckType({
  type: 'heartbeat',
  name: 'Heartbeat',
  summary: 'A job that reports each of its runs, and is late if it does not.',
  isPassive: true,
  settings,
  phases: [],
  problems: (its, { every }) => {
    const { cron, timeZone } = its;
    if (cron !== null && its.every !== null) return [{ path: 'every', message: 'must not be set together with cron' }];
    const unreadable = cron === null ? undefined : findCronProblem({ cron, timeZone });
    if (unreadable !== undefined) return [{ path: 'cron', message: unreadable }];
    const late = findGraceProblem({ every, heartbeat: its });
    return late === undefined ? [] : [{ path: 'grace', message: late }];
  },
  targets: () => [],
});
