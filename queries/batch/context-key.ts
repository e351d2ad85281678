/** Key of a query's context. */
import type { QueryContext } from '../query-result.ts';

/** Returns the key of a query's context: equal queries with equal context keys share one result. */
export const toContextKey = ({ range, stepMs, stepsFrom, isNewestWithin, counterLookbackMs }: QueryContext): string =>
  `${range.from} ${range.to} ${stepMs} ${stepsFrom} ${isNewestWithin} ${counterLookbackMs}`;
