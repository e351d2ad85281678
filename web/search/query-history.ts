/** Last queries of each explorer, stored in the browser per user and organization */
import { computed, signal } from '@preact/signals';
import { session } from '../frame/session.ts';

export type Explorer = 'logs' | 'traces' | 'metrics';

export interface PastQuery {
  readonly title: string;
  /** Parameters of the address that run the query */
  readonly parameters: Readonly<Record<string, string>>;
}
type StoredQueries = Readonly<Partial<Record<Explorer, readonly PastQuery[]>>>;

const maxQueries = 20;
const maxTitleLength = 4096;

/** Returns the queries with a new one first, without an earlier run of the same query. */
export const prependQuery = (queries: readonly PastQuery[], query: PastQuery): readonly PastQuery[] =>
  [query, ...queries.filter(({ title }) => title !== query.title)].slice(0, maxQueries);

const isPastQuery = (item: unknown): item is PastQuery =>
  typeof item === 'object' &&
  item !== null &&
  typeof (item as PastQuery).title === 'string' &&
  typeof (item as PastQuery).parameters === 'object' &&
  (item as PastQuery).parameters !== null &&
  Object.values((item as PastQuery).parameters).every((value) => typeof value === 'string');

/** Parses stored queries. Anything else than a list of queries is ignored. */
export const parseQueries = (text: string | null): StoredQueries => {
  try {
    const stored: unknown = JSON.parse(text ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    return Object.fromEntries(
      Object.entries(stored).map(([explorer, queries]) => [
        explorer,
        Array.isArray(queries) ? queries.filter(isPastQuery).slice(0, maxQueries) : [],
      ]),
    );
  } catch {
    return {};
  }
};

const storageKey = computed(() =>
  session.value === undefined ? undefined : `oiq-queries ${session.value.tenant.id} ${session.value.user.id}`,
);
/** Queries after a change in this tab */
const changed = signal<{ readonly key: string; readonly queries: StoredQueries } | undefined>(undefined);

const storeQueries = (explorer: Explorer, toQueries: (stored: readonly PastQuery[]) => readonly PastQuery[]): void => {
  const key = storageKey.peek();
  if (key === undefined) return;
  // Another tab may have changed the stored queries.
  const stored = parseQueries(localStorage.getItem(key));
  const queries = { ...stored, [explorer]: toQueries(stored[explorer] ?? []) };
  try {
    localStorage.setItem(key, JSON.stringify(queries));
    changed.value = { key, queries };
  } catch {
    // The storage of the browser is full, so the history stays as it is.
  }
};

/** Returns the last queries of an explorer, the latest first. */
export const listQueries = (explorer: Explorer): readonly PastQuery[] => {
  const key = storageKey.value;
  if (key === undefined) return [];
  const queries = changed.value?.key === key ? changed.value.queries : parseQueries(localStorage.getItem(key));
  return queries[explorer] ?? [];
};

/** Adds a query that ran. */
export const recordQuery = (explorer: Explorer, query: PastQuery): void => {
  if (query.title !== '' && query.title.length <= maxTitleLength)
    storeQueries(explorer, (stored) => prependQuery(stored, query));
};

export const clearQueries = (explorer: Explorer): void => storeQueries(explorer, () => []);
