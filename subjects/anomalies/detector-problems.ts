/** Problems of a detector beyond its schema. */
import { minStepMsOf } from '../../queries/min-step.ts';
import { expressionProblem } from '../../queries/promql/index.ts';
import type { Query } from '../../queries/query.ts';
import { staticErrorsOf } from '../../queries/validity.ts';
import { msOf } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';

/** A problem and its path: `query.measures.0.field`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

const ofKind = (query: Query, path: string): Problem[] => {
  switch (query.kind) {
    case 'rows':
      return [{ path: `${path}.kind`, message: 'must return values by step, not rows: use an aggregate' }];
    case 'slo':
      return [
        {
          path: `${path}.kind`,
          message: 'must query telemetry: an SLO has one value at a time and its own alerts',
        },
      ];
    case 'check':
      return [
        { path: `${path}.kind`, message: 'must query telemetry: query the signal synthetics for runs of checks' },
      ];
    case 'anomaly':
    case 'forecast':
      return [{ path: `${path}.kind`, message: 'must query telemetry: use the query that is scored or forecast' }];
    case 'formula':
      return Object.entries(query.queries).flatMap(([name, part]) => ofKind(part, `${path}.queries.${name}`));
    case 'promql': {
      const message = expressionProblem(query.expression);
      return message === undefined ? [] : [{ path: `${path}.expression`, message }];
    }
    default:
      return [];
  }
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
