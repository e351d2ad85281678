/** Validation of detectors beyond their schema. */
import { getMinStepMs } from '../../queries/min-step.ts';
import { findPromqlProblem } from '../../queries/promql-problem.ts';
import type { Query } from '../../queries/query.ts';
import { listPartQueries } from '../../queries/query-kind.ts';
import { listStaticErrors } from '../../queries/validity.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';

/** A problem and its path: `query.measures.0.field`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Kinds of queries that cannot be scored. */
const unsupportedKinds: Readonly<Partial<Record<Query['kind'], string>>> = {
  rows: 'must return values by step, not rows: use an aggregate',
  slo: 'must query telemetry: an SLO has one value at a time and its own alerts',
  check: 'must query telemetry: query the signal synthetics for runs of checks',
  anomaly: 'must query telemetry: use the query that is scored or forecast',
  forecast: 'must query telemetry: use the query that is scored or forecast',
};

const findQueryProblems = (query: Query, path: string): Problem[] => {
  const unsupportedMessage = unsupportedKinds[query.kind];
  if (unsupportedMessage !== undefined) return [{ path: `${path}.kind`, message: unsupportedMessage }];
  const message = findPromqlProblem(query);
  if (message !== undefined) return [{ path: `${path}.expression`, message }];
  return listPartQueries(query).flatMap(([partPath, part]) => findQueryProblems(part, `${path}.${partPath}`));
};

/** Returns the problems of a detector, each with its path; empty if it can run. */
export const findDetectorProblems = ({ query, step }: Pick<DetectorFields, 'query' | 'step'>): Problem[] => [
  ...findQueryProblems(query, 'query'),
  ...listStaticErrors(query),
  ...findStepProblems(step, getMinStepMs(query)),
];

const findStepProblems = (step: string, minStepMs: number): Problem[] =>
  parseDurationMs(step) % minStepMs === 0
    ? []
    : [
        {
          path: 'step',
          message: `must be a multiple of ${minStepMs / 1000} seconds, the resolution of the query`,
        },
      ];
