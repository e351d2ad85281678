import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters } from '../../../queries/range.ts';
import { Series } from '../../../queries/result.ts';
import { stepOf, stepParameter } from '../../../queries/steps.ts';
import { engineOf, engines } from '../../../subjects/databases/engines.ts';
import { FigureAnswer, readEngineSeries, readFigures } from '../../../subjects/databases/figures.ts';
import { DatabaseInstance, readDatabases } from '../../../subjects/databases/instances.ts';
import { systemOf } from '../../../subjects/databases/systems.ts';
import { minutesAnswer, minutesOf } from '../../../subjects/services/minutes.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { readingOf } from '../../kernel/reading.ts';
import { listCache } from '../../kernel/result-cache.ts';

const { from, to } = rangeParameters;
const range = { from, to, ...projectScopeParameters };
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

const parseQuery = (caller: Caller, query: RangeQuery, ports: Ports) => {
  const reading = readingOf(caller, ports);
  const { nowMs } = reading;
  const minutes = minutesOf(rangeOf(query, { caller, signal: 'traces', nowMs }), nowMs);
  return { minutes, reading };
};

export const getDatabaseEngines = defineOperation({
  method: 'GET',
  path: '/api/databases/engines',
  operationId: 'getDatabaseEngines',
  summary: 'List database engines: those that appear in a time range, and those with supported metrics',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject(range),
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
    isCut: z.boolean().describe('Whether there are more than 5,000 databases; only the first are counted'),
  }),
  async handler({ caller, query }, ports) {
    const { minutes, reading } = parseQuery(caller, query, ports);
    const { items, isCut } = await readDatabases(reading, query, minutes);
    const names = [...new Set([...engines.map(({ name }) => name), ...items.map(({ engine }) => engine)])].sort();
    return {
      ...minutesAnswer(minutes),
      items: names.map((engine) => {
        const its = items.filter((one) => one.engine === engine);
        const known = engines.find(({ name }) => name === engine);
        return {
          engine,
          databases: its.length,
          calledDatabases: its.filter(({ seenBy }) => seenBy.includes('calls')).length,
          watchedDatabases: its.filter(({ seenBy }) => seenBy.includes('metrics')).length,
          figures: known?.figures.map(({ name }) => name) ?? [],
          senders: [...(known?.senders ?? [])],
        };
      }),
      isCut,
    };
  },
});

const unseen = (engine: string): ApiError =>
  new ApiError('NOT_FOUND', `the engine ${engine} is unknown, and none of its databases was seen in this range`);

const maxShown = 1_000;

export const showDatabaseEngine = defineOperation({
  method: 'GET',
  path: '/api/databases/{engine}',
  operationId: 'showDatabaseEngine',
  summary: 'Get an engine: its databases in a time range, and its headline figures',
  role: 'viewer',
  cache: listCache,
  params,
  query: z.strictObject(range),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    engine: z.string(),
    databases: z.array(DatabaseInstance).describe('The first 1,000; GET /api/databases?engine= lists all'),
    databaseCount: z.int(),
    figures: z.array(FigureAnswer).describe('Aggregated over all its databases, of the whole organization'),
  }),
  async handler({ caller, params: { engine }, query }, ports) {
    const { minutes, reading } = parseQuery(caller, query, ports);
    const name = systemOf(engine);
    const known = engineOf(name);
    const [{ items }, figures] = await Promise.all([
      readDatabases(reading, { ...query, engine: name }, minutes),
      known === undefined ? [] : readFigures(reading, known, minutes),
    ]);
    if (known === undefined && items.length === 0) throw unseen(name);
    return {
      ...minutesAnswer(minutes),
      engine: name,
      databases: items.slice(0, maxShown),
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
    ...range,
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
    const { minutes, reading } = parseQuery(caller, query, ports);
    const stepMs = stepOf(query.step, minutes, { minMs: minuteMs });
    const name = systemOf(engine);
    const found = await readEngineSeries(reading, { ...query, engine: name }, { minutes, stepMs });
    if (found.series.length === 0 && engineOf(name) === undefined) throw unseen(name);
    return { ...minutesAnswer(minutes), stepMs, ...found };
  },
});
