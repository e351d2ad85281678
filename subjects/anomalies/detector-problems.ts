/** Problems of a detector beyond its schema. */
import { minStepMsOf } from '../../queries/min-step.ts';
import { promqlProblem } from '../../queries/promql-problem.ts';
import type { Query } from '../../queries/query.ts';
import { partsOf } from '../../queries/query-kind.ts';
import { staticErrorsOf } from '../../queries/validity.ts';
import { msOf } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';

/** A problem and its path: `query.measures.0.field`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Kinds of queries that cannot be scored. */
const refusals: Readonly<Partial<Record<Query['kind'], string>>> = {
  rows: 'must return values by step, not rows: use an aggregate',
  slo: 'must query telemetry: an SLO has one value at a time and its own alerts',
  check: 'must query telemetry: query the signal synthetics for runs of checks',
  anomaly: 'must query telemetry: use the query that is scored or forecast',
  forecast: 'must query telemetry: use the query that is scored or forecast',
};

const ofKind = (query: Query, path: string): Problem[] => {
  const refusal = refusals[query.kind];
  if (refusal !== undefined) return [{ path: `${path}.kind`, message: refusal }];
  const message = promqlProblem(query);
  if (message !== undefined) return [{ path: `${path}.expression`, message }];
  return partsOf(query).flatMap(([at, part]) => ofKind(part, `${path}.${at}`));
};

/** Returns the problems of a detector, each with its path; empty if it can run. */
export const detectorProblems = ({ query, step }: Pick<DetectorFields, 'query' | 'step'>): Problem[] => [
  ...ofKind(query, 'query'),
  ...staticErrorsOf(query),
  ...stepProblems(step, minStepMsOf(query)),
];

const stepProblems = (step: string, minStepMs: number): Problem[] =>
  msOf(step) % minStepMs === 0
    ? []
    : [
        {
          path: 'step',
          message: `must be a multiple of ${minStepMs / 1000} seconds, the resolution of the query`,
        },
      ];
