import { z } from 'zod';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import { durationSchema, formatDuration, parseDurationMs } from '../../alerts/durations.ts';
import { computeShortestGapMs, findCronProblem } from '../cron.ts';
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
export const getIntervalMs = ({
  every,
  heartbeat: { cron, timeZone, every: heartbeatInterval },
}: HeartbeatSchedule): number =>
  cron === null ? parseDurationMs(heartbeatInterval ?? every) : computeShortestGapMs({ cron, timeZone });

const findGraceProblem = (schedule: HeartbeatSchedule): string | undefined => {
  const { grace } = schedule.heartbeat;
  const maxGraceMs = getIntervalMs(schedule);
  return grace !== null && parseDurationMs(grace) > maxGraceMs
    ? `must be at most ${formatDuration(maxGraceMs)}, the time between two due times`
    : undefined;
};

export const heartbeat = defineCheckType({
  type: 'heartbeat',
  name: 'Heartbeat',
  summary: 'A job that reports each of its runs. If a report is missing, the job is late.',
  isPassive: true,
  settings,
  phases: [],
  problems: (heartbeatSettings, { every }) => {
    const { cron, timeZone } = heartbeatSettings;
    if (cron !== null && heartbeatSettings.every !== null)
      return [{ path: 'every', message: 'must not be set together with cron' }];
    const cronProblem = cron === null ? undefined : findCronProblem({ cron, timeZone });
    if (cronProblem !== undefined) return [{ path: 'cron', message: cronProblem }];
    const graceProblem = findGraceProblem({ every, heartbeat: heartbeatSettings });
    return graceProblem === undefined ? [] : [{ path: 'grace', message: graceProblem }];
  },
  targets: () => [],
});
