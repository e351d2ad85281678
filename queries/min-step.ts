/** How short steps of a query may be. */
import { signalsOf } from './freshness.ts';
import type { Query } from './query.ts';
import { signals } from './signals/index.ts';
import { parseDuration } from './time.ts';

/** Its steps should be multiples of so many milliseconds: what it reads tells no more of its time. */
export const minStepMsOf = (query: Query): number =>
  Math.max(scoredStepOf(query), ...signalsOf(query).map((name) => signals[name].queryable?.leastStepMs ?? 1));

/** What is scored by steps of its own is told by no shorter ones. */
const scoredStepOf = (query: Query): number =>
  query.kind === 'anomaly' && query.step !== undefined ? Number(parseDuration(query.step) ?? 0n) / 1_000_000 : 1;
