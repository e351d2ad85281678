/** Minimum step of a query. */
import { signalsOf } from './freshness.ts';
import type { Query } from './query.ts';
import { signals } from './signals/index.ts';
import { parseDuration } from './time.ts';

/** Returns the milliseconds that steps should be multiples of: the resolution of the data. */
export const minStepMsOf = (query: Query): number =>
  Math.max(scoredStepOf(query), ...signalsOf(query).map((name) => signals[name].queryable?.minStepMs ?? 1));

/** Scores have their own step, and no shorter steps are available. */
const scoredStepOf = (query: Query): number =>
  query.kind === 'anomaly' && query.step !== undefined ? Number(parseDuration(query.step) ?? 0n) / 1_000_000 : 1;
