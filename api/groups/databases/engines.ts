import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { Series } from '../../../queries/result.ts';
import { resolveStepMs, stepParameter } from '../../../queries/steps.ts';
import { MeasureResult, readEngineSeries, readMeasures } from '../../../subjects/databases/engine-measures.ts';
import { engines, findEngine } from '../../../subjects/databases/engines.ts';
import { DatabaseInstance, readDatabases } from '../../../subjects/databases/instances.ts';
import { getCurrentSystemName } from '../../../subjects/databases/systems.ts';
import { formatMinutes, toFullMinutes } from '../../../subjects/services/minutes.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const { from, to } = rangeParameters;
const rangeFields = { from, to, ...projectScopeParameters };
const params = z.strictObject({
  engine: z
    .string()
    .min(1)
    .max(128)
    .describe('Product, such as postgresql; former names of the semantic conventions are accepted too'),
});

interface RangeQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const toReaderAndMinutes = (caller: Caller, query: RangeQuery, ports: Ports) => {
  const reader = createQueryReader(caller, ports);
  const { nowMs } = reader;
  const minutes = toFullMinutes(parseRetainedRange(query, { caller, signal: 'traces', nowMs }), nowMs);
  return { minutes, reader };
};

export const getDatabaseEngines = defineOperation({
  method: 'GET',
  path: '/api/databases/engines',
  operationId: 'getDatabaseEngines',
  summary: 'List database engines: those that appear in a time range, and those with supported metrics',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject(rangeFields),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z.array(
      z.strictObject({
        engine: z.string(),
        databases: z.int().describe('Number of databases in this range'),
        calledDatabases: z.int().describe('Number of databases called by services'),
        watchedDatabases: z.int().describe('Number of databases with metrics'),
        figures: z.array(z.string()).describe('Figures that its metrics support'),
        senders: z.array(z.string()).describe('Receivers and exporters with supported metrics'),
      }),
    ),
    isTruncated: z.boolean().describe('Whether there are more than 5,000 databases; only the first are counted'),
  }),
  async handler({ caller, query }, ports) {
    const { minutes, reader } = toReaderAndMinutes(caller, query, ports);
    const { items, isTruncated } = await readDatabases(reader, query, minutes);
    const names = [...new Set([...engines.map(({ name }) => name), ...items.map(({ engine }) => engine)])].sort();
    return {
      ...formatMinutes(minutes),
      items: names.map((engine) => {
        const engineDatabases = items.filter((one) => one.engine === engine);
        const supportedEngine = engines.find(({ name }) => name === engine);
        return {
          engine,
          databases: engineDatabases.length,
          calledDatabases: engineDatabases.filter(({ seenBy }) => seenBy.includes('calls')).length,
          watchedDatabases: engineDatabases.filter(({ seenBy }) => seenBy.includes('metrics')).length,
          figures: supportedEngine?.measures.map(({ name }) => name) ?? [],
          senders: [...(supportedEngine?.senders ?? [])],
        };
      }),
      isTruncated,
    };
  },
});

const createUnknownEngineError = (engine: string): ApiError =>
  new ApiError('NOT_FOUND', `the engine ${engine} is not supported, and it has no database in this range`);

const maxDatabases = 1_000;

export const showDatabaseEngine = defineOperation({
  method: 'GET',
  path: '/api/databases/{engine}',
  operationId: 'showDatabaseEngine',
  summary: 'Get an engine: its databases in a time range, and its headline figures',
  role: 'viewer',
  cache: listCache,
  params,
  query: z.strictObject(rangeFields),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    engine: z.string(),
    databases: z.array(DatabaseInstance).describe('The first 1,000; GET /api/databases?engine= lists all'),
    databaseCount: z.int(),
    figures: z.array(MeasureResult).describe('Aggregated over all its databases, of the whole organization'),
  }),
  async handler({ caller, params: { engine }, query }, ports) {
    const { minutes, reader } = toReaderAndMinutes(caller, query, ports);
    const name = getCurrentSystemName(engine);
    const supportedEngine = findEngine(name);
    const [{ items }, figures] = await Promise.all([
      readDatabases(reader, { ...query, engine: name }, minutes),
      supportedEngine === undefined ? [] : readMeasures(reader, supportedEngine, minutes),
    ]);
    if (supportedEngine === undefined && items.length === 0) throw createUnknownEngineError(name);
    return {
      ...formatMinutes(minutes),
      engine: name,
      databases: items.slice(0, maxDatabases),
      databaseCount: items.length,
      figures,
    };
  },
});

const minuteMs = 60_000;

export const showDatabaseSeries = defineOperation({
  method: 'GET',
  path: '/api/databases/{engine}/timeseries',
  operationId: 'showDatabaseSeries',
  summary: 'Get a figure of an engine over time: of its calls, by database, or of its metrics',
  role: 'viewer',
  cache: listCache,
  params,
  query: z.strictObject({
    ...rangeFields,
    ...stepParameter,
    figure: z
      .string()
      .max(64)
      .default('requestRate')
      .describe(
        'requests, requestRate, errors, errorRate, p50, p95 or p99 of its calls, or one of the figures of GET /api/databases/engines',
      ),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    stepMs: z.int(),
    figure: z.string(),
    unit: z.string(),
    series: z.array(Series).describe('The 100 series with the most calls; steps without a call have no point'),
    reason: z.string().nullable().describe('Why there are no series; null if there are'),
  }),
  async handler({ caller, params: { engine }, query }, ports) {
    const { minutes, reader } = toReaderAndMinutes(caller, query, ports);
    const stepMs = resolveStepMs(query.step, minutes, { minMs: minuteMs });
    const name = getCurrentSystemName(engine);
    const engineSeries = await readEngineSeries(reader, { ...query, engine: name }, { minutes, stepMs });
    if (engineSeries.series.length === 0 && findEngine(name) === undefined) throw createUnknownEngineError(name);
    return { ...formatMinutes(minutes), stepMs, ...engineSeries };
  },
});
