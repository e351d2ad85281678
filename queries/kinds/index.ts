/** Kinds of queries, one line each. */
import type { QueryKinds } from '../query-kind.ts';
import { aggregate } from './aggregate.ts';
import { anomaly } from './anomaly.ts';
import { check } from './check.ts';
import { forecast } from './forecast.ts';
import { formula } from './formula.ts';
import { metric } from './metric.ts';
import { promql } from './promql.ts';
import { rows } from './rows.ts';
import { slo } from './slo.ts';

export const queryKinds: QueryKinds = {
  rows,
  aggregate,
  metric,
  promql,
  formula,
  slo,
  check,
  anomaly,
  forecast,
};
