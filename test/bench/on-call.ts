/**
 * CPU-ms to find the user on call, and to list a year of shifts, of a schedule with three layers. Prints one line of
 * JSON.
 */
import { OnCallScheduleFields, type OnCallVersion } from '../../schemas/resources/on-call-schedule.ts';
import { onCallAt } from '../../subjects/on-call/shifts.ts';
import { createShiftsResponse } from '../../subjects/on-call/shifts-response.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const dayMs = 86_400_000;
const people = Array.from({ length: 12 }, (_, at) => [`person ${at}`]);
const layer = (name: string, unit: string, more: object = {}) => ({
  name,
  startsAt: '2025-12-01T09:00',
  rotation: { every: 1, unit },
  participants: people,
  ...more,
});
const fields = OnCallScheduleFields.parse({
  name: 'busy',
  timeZone: 'Europe/Berlin',
  layers: [
    layer('weeks', 'weeks'),
    layer('days', 'days', { restrictions: [{ times: [{ startTime: '09:00', endTime: '17:00' }] }] }),
    layer('hours', 'hours', { rotation: { every: 6, unit: 'hours' }, restrictions: [{ weekdays: ['saturday'] }] }),
  ],
});
const overrides = Array.from({ length: 100 }, (_, at) => ({
  id: `o${at}`,
  userIds: ['somebody'],
  from: new Date(startMs + at * 3 * dayMs).toISOString(),
  to: new Date(startMs + at * 3 * dayMs + dayMs / 2).toISOString(),
}));
const versions: OnCallVersion[] = [{ ...fields, overrides, since: '2025-12-01T00:00:00Z' }];

/** CPU-ms per run, averaged over many runs. */
const each = (runs: number, run: (at: number) => void): number => {
  for (let at = 0; at < Math.min(runs, 20); at++) run(at);
  const before = process.cpuUsage();
  for (let at = 0; at < runs; at++) run(at);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / runs;
};

const onCallMs = each(2000, (at) => onCallAt(versions, new Map(), startMs + at * 3_600_000));
const yearMs = each(20, () =>
  createShiftsResponse(versions, new Map(), { fromMs: startMs, toMs: startMs + 365 * dayMs }),
);
process.stdout.write(`${JSON.stringify({ onCallMs, yearMs })}\n`);
