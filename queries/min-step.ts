/** Minimum step of a query. */
import { listSignals } from './freshness.ts';
import type { Query } from './query.ts';
import { getQueryKind } from './query-kind.ts';
import { signalDefinitions } from './signals/index.ts';

/** Returns the resolution of a query's data in milliseconds; steps should be a multiple of it. */
export const getMinStepMs = (query: Query): number =>
  Math.max(
    getQueryKind(query).minStepMs?.(query) ?? 1,
    ...listSignals(query).map((name) => signalDefinitions[name].queryable?.minStepMs ?? 1),
  );
