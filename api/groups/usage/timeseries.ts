import { z } from 'zod';
import { parseMilliseconds } from '../../../queries/range.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { addSumRow, emptyVolume, type HourRange } from '../../../subjects/usage/ledger.ts';
import { type PointRow, readGroups, readPoints } from '../../../subjects/usage/over-time.ts';
import { toIsoTime } from '../../../subjects/usage/period.ts';
import { Amount, Landed } from '../../../subjects/usage/volume.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { SignalName, usageCache } from './views.ts';

const hourMs = 3_600_000;
const stepMs = { hour: hourMs, day: 24 * hourMs } as const;
const defaultSteps = { hour: 24, day: 30 } as const;
const maxSteps = 1_000;

const idSchema = z.string().min(1).max(128).optional();
const Query = z.strictObject({
  from: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('ISO 8601, now-7d or epoch milliseconds; default: 24 hours ago for hours, 30 days ago for days'),
  to: z.string().min(1).max(64).optional().describe('Default: now'),
  step: z.enum(['hour', 'day']).default('day').describe('Steps start at full hours, or at 00:00 UTC'),
  by: z.enum(['none', 'signal', 'project', 'key', 'service']).default('none'),
  signal: SignalName.optional(),
  projectId: idSchema,
  keyId: idSchema,
  service: z.string().max(512).optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('Maximum number of groups, those with the most accepted bytes'),
});
type Query = z.output<typeof Query>;

const Point = z.strictObject({
  at: z.string().describe('Start of the step'),
  landed: Landed,
  accepted: Amount.nullable().describe(
    'null if grouped or filtered by service, like the fields below: only stored records have a service',
  ),
  deadLettered: Amount.nullable(),
  refused: Amount.nullable(),
  rejected: Amount.nullable(),
});

const TimeSeries = z.strictObject({
  asOf: z.string(),
  from: z.string(),
  to: z.string(),
  step: z.enum(['hour', 'day']),
  by: z.enum(['none', 'signal', 'project', 'key', 'service']),
  series: z
    .array(
      z.strictObject({
        id: z.string().describe('Id of the project or key, or name of the signal or service; empty for none'),
        name: z.string().nullable().describe('null if it was deleted'),
        points: z.array(Point),
      }),
    )
    .describe('Groups with the most accepted bytes first; empty steps are omitted'),
  excluded: z.int().describe('Number of groups beyond `limit`'),
});

const parseRange = ({ from, to, step }: Query, nowMs: number): HourRange => {
  const stepSizeMs = stepMs[step];
  const endMs = parseMilliseconds('to', to, nowMs) ?? nowMs;
  const startMs = parseMilliseconds('from', from, nowMs) ?? endMs - (defaultSteps[step] - 1) * stepSizeMs;
  if (startMs > endMs) throw createFieldError('from', 'is after to');
  if (startMs < 0) throw createFieldError('from', 'is before 1970');
  const fromMs = startMs - (startMs % stepSizeMs);
  const toMs = Math.max(fromMs + stepSizeMs, Math.ceil(endMs / stepSizeMs) * stepSizeMs);
  if (toMs > 4_000_000_000_000) throw createFieldError('to', 'is too far in the future');
  if ((toMs - fromMs) / stepSizeMs > maxSteps)
    throw createFieldError(
      'from',
      `results in more than ${maxSteps} steps of one ${step}: use a shorter range or longer steps`,
    );
  return { fromMs, toMs };
};

/** Points of one group, from its rows in order of time. */
const toPoints = (rows: readonly PointRow[], isByService: boolean): z.output<typeof Point>[] => {
  const volumes = new Map<string, ReturnType<typeof emptyVolume>>();
  for (const row of rows) {
    const volume = volumes.get(row.at) ?? emptyVolume();
    addSumRow(volume, row);
    volumes.set(row.at, volume);
  }
  return [...volumes].map(([at, { landed, accepted, deadLettered, refused, rejected }]) => ({
    at: toIsoTime(Number(at) * 1000),
    landed,
    ...(isByService
      ? { accepted: null, deadLettered: null, refused: null, rejected: null }
      : { accepted, deadLettered, refused, rejected }),
  }));
};

export const getUsageTimeSeries = defineOperation({
  method: 'GET',
  path: '/api/usage/timeseries',
  operationId: 'getUsageTimeSeries',
  summary: 'Get volume over time by project, key, signal or service, in steps of hours or days',
  role: 'viewer',
  cache: usageCache,
  query: Query,
  response: TimeSeries,
  async handler({ caller, query }, { columns, documents, clock }) {
    const nowMs = clock.now();
    const hours = parseRange(query, nowMs);
    const reader = columns.forTenant(caller.tenantId);
    const groups = await readGroups(reader, query, hours);
    const pageGroups = groups.slice(0, query.limit);
    const rows = Map.groupBy(await readPoints(reader, query, hours, pageGroups), ({ grouped }) => grouped);
    const names = await readGroupNames(documents.forTenant(caller.tenantId), query.by, pageGroups);
    const isByService = query.by === 'service' || query.service !== undefined;
    return {
      asOf: toIsoTime(nowMs),
      from: toIsoTime(hours.fromMs),
      to: toIsoTime(hours.toMs),
      step: query.step,
      by: query.by,
      series: pageGroups.map((group) => ({
        id: group,
        name: names.get(group) ?? null,
        points: toPoints(rows.get(group) ?? [], isByService),
      })),
      excluded: groups.length - pageGroups.length,
    };
  },
});

const collectionsByGroup = { project: projects, key: licenseKeys } as const;

/** Returns the names of groups by id. Deleted projects and keys have none; for signals and services, the id is the name. */
const readGroupNames = async (
  documents: TenantDocuments,
  by: 'none' | 'signal' | 'project' | 'key' | 'service',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (by !== 'project' && by !== 'key') return new Map(ids.map((id) => [id, id]));
  const { items } = await documents
    .collection<{ name: string }>(collectionsByGroup[by])
    .list({ filter: { id: { $in: ids } }, limit: ids.length + 1 });
  return new Map(items.map(({ id, name }) => [id, name]));
};
