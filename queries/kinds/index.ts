/** Registry of the query kinds for telemetry. */
import { aggregate } from './aggregate.ts';
import { forecast } from './forecast.ts';
import { formula } from './formula.ts';
import { metric } from './metric.ts';
import { promql } from './promql.ts';
import { rows } from './rows.ts';

export const telemetryKinds = {
  rows,
  aggregate,
  metric,
  promql,
  formula,
  forecast,
};
