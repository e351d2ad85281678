/** Minimum step of a query. */
import { listSignals } from './freshness.ts';
import type { Query } from './query.ts';
import { getQueryKind } from './query-kind.ts';
import { signalDefinitions } from './signals/index.ts';

/** Returns the milliseconds that steps should be multiples of: the resolution of the data. */
export const getMinStepMs = (query: Query): number =>
  Math.max(
    getQueryKind(query).minStepMs?.(query) ?? 1,
    ...listSignals(query).map((name) => signalDefinitions[name].queryable?.minStepMs ?? 1),
  );
