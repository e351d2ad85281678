/** Minimum step of a query. */
import { signalsOf } from './freshness.ts';
import type { Query } from './query.ts';
import { kindOf } from './query-kind.ts';
import { signals } from './signals/index.ts';

/** Returns the milliseconds that steps should be multiples of: the resolution of the data. */
export const minStepMsOf = (query: Query): number =>
  Math.max(
    kindOf(query).minStepMs?.(query) ?? 1,
    ...signalsOf(query).map((name) => signals[name].queryable?.minStepMs ?? 1),
  );
