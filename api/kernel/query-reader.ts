/** Context of a caller's queries. */

import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Query, QueryRequest } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';
import type { Result } from '../../queries/result.ts';
import { run } from '../../queries/run.ts';
import { checkValidity, type Validity } from '../../queries/validity.ts';
import type { Caller } from '../callers/caller.ts';
import type { Ports } from './ports.ts';
import { createResultCache, listCache } from './result-cache.ts';

/** Returns the context of a caller's queries: the rows and the plan of its tenant, and the current time. */
export const createQueryReader = (
  caller: Caller,
  { columns, clock, promql }: Pick<Ports, 'columns' | 'clock'> & Partial<Pick<Ports, 'promql'>>,
): QueryReader => ({
  columns: columns.forTenant(caller.tenantId),
  plan: caller.plan,
  readScopes: caller.readScopes,
  nowMs: clock.now(),
  promql,
});

interface RunOptions {
  readonly range: Range;
  readonly stepMs: number | undefined;
  /** The range in its original text: `now-1h` requested twice within seconds is the same query. */
  readonly rangeText: { readonly from: string; readonly to: string };
}

/** Runs a query, or returns the cached result of the same query from the last seconds. */
export const runCached = async (
  query: QueryRequest,
  { range, stepMs, rangeText }: RunOptions,
  { caller, ports }: { readonly caller: Caller; readonly ports: Ports },
): Promise<Result> => {
  const cache = createResultCache<string>(ports.counters, ports.clock);
  const cacheRequest = { operationId: 'run', caller, params: {}, query: { ...rangeText, stepMs }, body: query };
  const { text, state } = await cache.getOrCompute(cacheRequest, { ...listCache, refresh: false }, async () =>
    JSON.stringify(await run(query, createQueryReader(caller, ports), { range, stepMs })),
  );
  const result = JSON.parse(text) as Result;
  return state === 'miss' ? result : { ...result, cost: { ...result.cost, isCached: true } };
};

/** Returns the validity of queries, which is unknown if the rows are currently unavailable. */
export const readValidities = async (queries: readonly Query[], caller: Caller, ports: Ports): Promise<Validity[]> => {
  try {
    return await checkValidity(queries, createQueryReader(caller, ports));
  } catch (error) {
    ports.log.warn({ error: String(error) }, 'cannot check the validity of queries');
    return queries.map(() => ({ isValid: null, problems: [], reason: 'the stored data cannot be read now' }));
  }
};
