/** How short steps of a query may be. */
import { signalsOf } from './freshness.ts';
import type { Query } from './query.ts';
import { signals } from './signals/index.ts';

/** Its steps should be multiples of so many milliseconds: what it reads tells no more of its time. */
export const leastStepOf = (query: Query): number =>
  Math.max(1, ...signalsOf(query).map((name) => signals[name].asked?.leastStepMs ?? 1));
