import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  nonEmptyTextPattern,
} from '../../../queries/cursor.ts';
import { parseRange } from '../../../queries/range.ts';
import { timeFormats, timeParameter } from '../../../queries/time-parameters.ts';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import { calendarPeriods } from '../../../schemas/slo-slices.ts';
import { runOutcomes } from '../../../schemas/synthetic-runs.ts';
import { findDowntimes, readWindows } from '../../../subjects/synthetics/downtimes.ts';
import { maxPeriods, splitPeriods } from '../../../subjects/synthetics/periods.ts';
import { type IdentifiedCheck, parseCheck } from '../../../subjects/synthetics/read-checks.ts';
import { readRuns, readStates } from '../../../subjects/synthetics/stored-results.ts';
import { computeUptime } from '../../../subjects/synthetics/uptime.ts';
import type { Caller } from '../../callers/caller.ts';
import { createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { RunView, toRunView } from './run-view.ts';

export const findCheck = async (id: string, caller: Caller, { documents }: Ports): Promise<IdentifiedCheck> => {
  const document = await documents.forTenant(caller.tenantId).collection(checkResource.collection).find(id);
  const check = document && parseCheck(document);
  if (check === undefined) throw createNotFoundError('synthetic check');
  return check;
};

const parseRangeMs = (query: { from: string; to: string }, nowMs: number) => {
  const { from, to } = parseRange(query, nowMs);
  return { fromMs: Number(from / 1_000_000n), toMs: Number(to / 1_000_000n) };
};

export const listRuns = defineOperation({
  method: 'GET',
  path: '/api/synthetics/checks/{id}/runs',
  operationId: 'listSyntheticRuns',
  summary: 'List runs of a check with the timings of each phase, the latest first',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    from: timeParameter.default('now-1d').describe(`Due time as ${timeFormats}`),
    to: timeParameter.default('now'),
    location: z.string().min(1).max(128).optional(),
    outcome: z.enum(runOutcomes).optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(RunView), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, ports) {
    const { id } = await findCheck(params.id, caller, ports);
    const range = parseRangeMs(query, ports.clock.now());
    const [dueMs = '', encodedLocation = ''] =
      query.cursor === undefined ? [] : decodeCursor('runs', query.cursor, [/^\d{1,15}$/, nonEmptyTextPattern]);
    const rows = await readRuns(createQueryReader(caller, ports), {
      checkId: id,
      location: query.location,
      outcome: query.outcome,
      ...range,
      limit: query.limit + 1,
      before: query.cursor === undefined ? undefined : { dueMs: Number(dueMs), location: decodeText(encodedLocation) },
    });
    const items = rows.slice(0, query.limit).map((row) =>
      toRunView({
        location: row.place,
        dueMs: Number(row.due_ms),
        startedAtMs: Number(row.started_ms),
        isManual: row.manual === 1,
        outcome: row.outcome,
        attempts: row.attempts,
        durationMs: row.duration,
        phases: JSON.parse(row.phases),
        steps: JSON.parse(row.steps),
        message: row.message,
        traceId: row.trace_id,
      }),
    );
    const last = rows.length > query.limit ? items.at(-1) : undefined;
    const nextCursor = last && encodeCursor('runs', [Date.parse(last.dueAt), encodeText(last.location)]);
    return { items, nextCursor: nextCursor ?? null };
  },
});

export const getUptime = defineOperation({
  method: 'GET',
  path: '/api/synthetics/checks/{id}/uptime',
  operationId: 'getSyntheticUptime',
  summary: 'Get the uptime of a check by period, overall and per location',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    from: timeParameter.default('now-30d'),
    to: timeParameter.default('now').describe('Exclusive; limited to now'),
    period: z
      .enum(calendarPeriods)
      .optional()
      .describe('Calendar period, cut at both ends of the range; by default a single period'),
    timeZone: TimeZone.default('UTC').describe('Time zone of the calendar'),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        from: z.iso.datetime(),
        to: z.iso.datetime(),
        location: z.string().nullable().describe('null: the check overall, by its consensus'),
        upMs: z.int(),
        downMs: z.int(),
        unknownMs: z.int(),
        excludedMs: z.int().describe('Planned downtime, which none of the other durations include'),
        uptime: z.number().nullable().describe('up / (up + down); null if both are 0'),
        uptimeWithoutExclusions: z.number().nullable(),
      }),
    ),
  }),
  async handler({ caller, params, query }, ports) {
    const check = await findCheck(params.id, caller, ports);
    const nowMs = ports.clock.now();
    const requestedRange = parseRangeMs(query, nowMs);
    const range = { fromMs: requestedRange.fromMs, toMs: Math.min(requestedRange.toMs, nowMs) };
    const periods = splitPeriods(range, query);
    if (periods === undefined)
      throw createFieldError('period', `results in more than ${maxPeriods} periods: use a longer period`);
    const [states, windows] = await Promise.all([
      readStates(createQueryReader(caller, ports), check.id, range),
      readWindows(ports.documents.forTenant(caller.tenantId)),
    ]);
    const downtimes = findDowntimes(check, windows, range);
    const locations = [null, ...check.locations];
    return {
      items: periods.flatMap((period) =>
        locations.map((location) => {
          const { fromMs, toMs, ...durations } = computeUptime(states.get(location ?? '') ?? [], downtimes, period);
          return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), location, ...durations };
        }),
      ),
    };
  },
});
