import { z } from 'zod';
import { MetricQuery, PromqlQuery } from '../../../queries/query.ts';
import { parseRetainedRange } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { type BatchQueries, runBatch } from '../../../queries/run-batch.ts';
import { resolveStepMs } from '../../../queries/steps.ts';
import { formatTime } from '../../../queries/time.ts';
import { timeFormats, timeParameter } from '../../../queries/time-parameters.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const QueryName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, 'must begin with a letter and contain only letters, digits and _');
const maxQueries = 20;

const Body = z.strictObject({
  from: timeParameter.optional().describe(`${timeFormats}; default: now-1h`),
  to: timeParameter.optional().describe('Same format as `from`, inclusive; default: now'),
  form: z.enum(['series', 'table']).default('series').describe('table: one value for the whole range'),
  step: z.string().max(32).optional().describe('Length of a step of series: 30s, 5m, 1h …; by default a round value'),
  queries: z
    .record(QueryName, z.discriminatedUnion('kind', [MetricQuery, PromqlQuery]))
    .describe(`Queries by name; at most ${maxQueries} including formulas`),
  formulas: z
    .record(QueryName, z.string().min(1).max(1024))
    .default({})
    .describe('Arithmetic on the queries by name: 100 * errors / requests'),
});

export const queryMetrics = defineOperation({
  method: 'POST',
  path: '/api/metrics/query',
  operationId: 'queryMetrics',
  summary: 'Run metric queries and formulas on them, all with the same range and step',
  role: 'viewer',
  auditExemption: 'read-only',
  maxBodyBytes: 256 * 1024,
  body: Body,
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    stepMs: z.int().nullable(),
    results: z.record(z.string(), Result).describe('One result per query and formula, by name'),
  }),
  async handler({ caller, body, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const range = parseRetainedRange(body, { caller, signal: 'metrics', nowMs });
    const stepMs = body.form === 'table' ? undefined : resolveStepMs(body.step, range);
    const results = await runBatch(validateQueries(body), reader, { range, stepMs, signal });
    return { from: formatTime(range.from), to: formatTime(range.to), stepMs: stepMs ?? null, results };
  },
});

type Body = z.output<typeof Body>;

/** Returns the queries and formulas; throws if there are none, too many, or duplicate names. */
const validateQueries = ({ queries, formulas }: Body): BatchQueries => {
  const count = Object.keys(queries).length + Object.keys(formulas).length;
  if (Object.keys(queries).length === 0) throw createFieldError('queries', 'must contain at least one query');
  if (count > maxQueries)
    throw createFieldError('queries', `at most ${maxQueries} queries and formulas are allowed in one request`);
  const duplicateName = Object.keys(formulas).find((formula) => Object.hasOwn(queries, formula));
  if (duplicateName !== undefined)
    throw createFieldError(`formulas.${duplicateName}`, 'is also the name of a query: use different names');
  return { queries, formulas };
};
