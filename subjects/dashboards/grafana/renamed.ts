/** References to renamed queries: in column names, filters and overrides. */
import { type Fields, isFields } from './ledger.ts';

/** New names by old ones. */
export type Renamed = ReadonlyMap<string, string>;

/** Grafana names a column of several queries `Value #A`. */
const inText = (text: string, renamed: Renamed): string =>
  [...renamed]
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((read, [old, name]) => read.replaceAll(`Value #${old}`, `Value #${name}`), text);

const inColumns = (part: unknown, renamed: Renamed): unknown => {
  if (typeof part === 'string') return inText(part, renamed);
  if (Array.isArray(part)) return part.map((member) => inColumns(member, renamed));
  if (!isFields(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, member]) => [inText(key, renamed), inColumns(member, renamed)]),
  );
};

const nameOf = (query: unknown, renamed: Renamed): unknown => renamed.get(String(query)) ?? query;
const namesOf = (queries: unknown, renamed: Renamed): unknown =>
  Array.isArray(queries) ? queries.map((query) => nameOf(query, renamed)) : queries;

const inTransformation = (one: Fields, renamed: Renamed): Fields => {
  const { kind, queries, keep: include, figures } = one;
  return {
    ...(inColumns(one, renamed) as Fields),
    ...(queries !== undefined && { queries: namesOf(queries, renamed) }),
    ...(kind === 'filter-queries' && { keep: namesOf(include, renamed) }),
    ...(kind === 'trend' &&
      isFields(figures) && {
        figures: Object.fromEntries(
          Object.entries(figures).map(([query, figure]) => [nameOf(query, renamed), figure]),
        ) as Fields,
      }),
  };
};

const inOverride = (one: Fields, renamed: Renamed): Fields => {
  const { match } = one;
  return {
    ...(inColumns(one, renamed) as Fields),
    ...(isFields(match) && match['by'] === 'query' && { match: { ...match, query: nameOf(match['query'], renamed) } }),
  };
};

export const renamedTransformations = (all: readonly object[], renamed: Renamed): object[] =>
  renamed.size === 0 ? [...all] : all.map((one) => inTransformation(one as Fields, renamed));
export const renamedOverrides = (all: readonly object[], renamed: Renamed): object[] =>
  renamed.size === 0 ? [...all] : all.map((one) => inOverride(one as Fields, renamed));
