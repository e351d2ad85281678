import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { MetricQuery, PromqlQuery } from '../../../queries/query.ts';
import { rangeOf } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { type AskedQuery, run } from '../../../queries/run.ts';
import { stepOf } from '../../../queries/steps.ts';
import { formatTime, timeParameter } from '../../../queries/time.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

const name = z.string().regex(/^[A-Za-z_]\w{0,63}$/, 'must begin with a letter and have letters, digits and _ only');
const mostQueries = 20;

const Body = z.strictObject({
  from: timeParameter.optional().describe('ISO-8601, now-15m or epoch milliseconds; default: now-1h'),
  to: timeParameter.optional().describe('As `from`, inclusive; default: now'),
  form: z.enum(['series', 'table']).default('series').describe('table: one value for the whole range'),
  step: z.string().max(32).optional().describe('Length of a step of series: 30s, 5m, 1h …; without it, a round one'),
  queries: z
    .record(name, z.discriminatedUnion('kind', [MetricQuery, PromqlQuery]))
    .describe(`By name, at most ${mostQueries} together with formulas`),
  formulas: z
    .record(name, z.string().min(1).max(1024))
    .default({})
    .describe('Arithmetic over the queries by name: 100 * errors / requests'),
});

export const queryMetrics = defineOperation({
  method: 'POST',
  path: '/api/metrics/query',
  operationId: 'queryMetrics',
  summary: 'Answer metric queries and formulas over them, all over one range and step',
  role: 'viewer',
  unaudited: 'It reads telemetry and changes nothing.',
  maxBodyBytes: 256 * 1024,
  body: Body,
  response: z.strictObject({
    ...{ from: z.string(), to: z.string(), stepMs: z.int().nullable() },
    results: z.record(z.string(), Result).describe('One for each query and formula, by its name'),
  }),
  async handler({ caller, body, signal }, { columns, clock }) {
    const nowMs = clock.now();
    const range = rangeOf(body, { caller, signal: 'metrics', nowMs });
    const stepMs = body.form === 'table' ? undefined : stepOf(body.step, range);
    const reading = { columns: columns.of(caller.tenantId), plan: caller.plan, nowMs };
    const results: Record<string, Result> = {};
    for (const [id, { path, query }] of Object.entries(questionsOf(body))) {
      try {
        results[id] = await run(query, reading, { range, stepMs, signal });
      } catch (error) {
        throw named(error, path);
      }
    }
    return { from: formatTime(range.from), to: formatTime(range.to), stepMs: stepMs ?? null, results };
  },
});

type Body = z.output<typeof Body>;

/** Everything that is asked, by name. */
const questionsOf = ({ queries, formulas }: Body): Record<string, { path: string; query: AskedQuery }> => {
  const count = Object.keys(queries).length + Object.keys(formulas).length;
  if (count === 0) throw invalid('queries', 'must hold at least one query');
  if (count > mostQueries) throw invalid('queries', `at most ${mostQueries} queries and formulas are answered at once`);
  const twice = Object.keys(formulas).find((formula) => Object.hasOwn(queries, formula));
  if (twice !== undefined) throw invalid(`formulas.${twice}`, 'is the name of a query: name them apart');
  return {
    ...Object.fromEntries(Object.entries(queries).map(([id, query]) => [id, { path: `queries.${id}`, query }])),
    ...Object.fromEntries(
      Object.entries(formulas).map(([id, expression]) => [
        id,
        { path: `formulas.${id}`, query: { kind: 'formula' as const, expression, queries } },
      ]),
    ),
  };
};

/** What is wrong with one query names it. */
const named = (error: unknown, path: string): unknown =>
  error instanceof QueryError && !['from', 'to', 'step'].includes(error.path ?? '')
    ? new QueryError(error.code, `${path}: ${error.message}`, error.path === undefined ? path : `${path}.${error.path}`)
    : error;
