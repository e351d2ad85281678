import { z } from 'zod';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { durationSchema, formatDuration, parseDurationMs } from '../../../subjects/alerts/durations.ts';
import { chooseStep, maxPoints, readBurnRates, readForecast } from '../../../subjects/slos/over-time.ts';
import { createFieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findSlo } from './find-slo.ts';
import { parseSliceRange } from './range.ts';

export const getSloBurnRate = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/burn-rate',
  operationId: 'getSloBurnRate',
  summary: 'Get burn rates of an SLO over time',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    window: durationSchema('1m', '30d').default('1h').describe('Window of each burn rate, in whole slices'),
    from: timeParameter.default('now-1d'),
    to: timeParameter.default('now'),
  }),
  response: z.strictObject({
    window: z.string(),
    step: z.string(),
    items: z.array(
      z.strictObject({
        at: z.iso.datetime().describe('End of the window'),
        rate: z.number().nullable().describe('null if unknown'),
        good: z.number(),
        total: z.number(),
      }),
    ),
  }),
  async handler({ caller, params, query }, ports) {
    const slo = await findSlo(params.id, caller, ports);
    const requestedRange = parseSliceRange(query, ports.clock.now());
    const sliceMs = parseDurationMs(slo.slo.query.slice);
    const windowMs = parseDurationMs(query.window);
    if (windowMs % sliceMs !== 0)
      throw createFieldError('window', `must be a multiple of the time slice, ${slo.slo.query.slice}`);
    const stepMs = chooseStep(windowMs, sliceMs, requestedRange);
    if (stepMs === undefined)
      throw createFieldError(
        'from',
        `results in more than ${maxPoints} points of ${query.window}: use a later start, or a longer window`,
      );
    const alignToStep = (ms: number): number => Math.floor(ms / stepMs) * stepMs;
    const range = { fromMs: alignToStep(requestedRange.fromMs), toMs: alignToStep(requestedRange.toMs) };
    const isEmpty = range.fromMs >= range.toMs;
    const items = isEmpty
      ? []
      : await readBurnRates(createQueryReader(caller, ports), slo, { range, windowMs, stepMs });
    return { window: query.window, step: formatDuration(stepMs), items };
  },
});

export const getSloForecast = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/forecast',
  operationId: 'getSloForecast',
  summary: 'Forecast when the budget of an SLO runs out, with an interval',
  role: 'viewer',
  params: idParameter,
  response: z.strictObject({
    at: z.iso.datetime().describe('Start of the forecast'),
    runsOutAt: z.iso.datetime().nullable().describe('null if the budget does not run out, or if unknown'),
    interval: z
      .strictObject({ from: z.iso.datetime().nullable(), to: z.iso.datetime().nullable() })
      .nullable()
      .describe('Interval with a probability of 80 %; a null bound means not within the window'),
    breachChance: z.number().nullable().describe('Probability that it runs out within the window, 0 to 1'),
    reason: z.string().nullable().describe('Why there is no forecast; null if there is one'),
  }),
  async handler({ caller, params }, ports) {
    return readForecast(createQueryReader(caller, ports), await findSlo(params.id, caller, ports), ports.clock.now());
  },
});
