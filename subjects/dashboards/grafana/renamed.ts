/** Updates references to renamed queries in column names, filters and overrides. */
import { type Fields, isFields } from '../../../runtime/fields.ts';

/** New names by old ones. */
export type QueryRenames = ReadonlyMap<string, string>;

/** Renames queries in column names: with several queries, Grafana names a column `Value #A`. */
const renameInText = (text: string, renamed: QueryRenames): string =>
  [...renamed]
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((read, [old, name]) => read.replaceAll(`Value #${old}`, `Value #${name}`), text);

const renameColumns = (part: unknown, renamed: QueryRenames): unknown => {
  if (typeof part === 'string') return renameInText(part, renamed);
  if (Array.isArray(part)) return part.map((member) => renameColumns(member, renamed));
  if (!isFields(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, member]) => [renameInText(key, renamed), renameColumns(member, renamed)]),
  );
};

const renameQuery = (query: unknown, renamed: QueryRenames): unknown => renamed.get(String(query)) ?? query;
const renameQueries = (queries: unknown, renamed: QueryRenames): unknown =>
  Array.isArray(queries) ? queries.map((query) => renameQuery(query, renamed)) : queries;

const renameInTransformation = (one: Fields, renamed: QueryRenames): Fields => {
  const { kind, queries, keep: include, figures } = one;
  return {
    ...(renameColumns(one, renamed) as Fields),
    ...(queries !== undefined && { queries: renameQueries(queries, renamed) }),
    ...(kind === 'filter-queries' && { keep: renameQueries(include, renamed) }),
    ...(kind === 'trend' &&
      isFields(figures) && {
        figures: Object.fromEntries(
          Object.entries(figures).map(([query, figure]) => [renameQuery(query, renamed), figure]),
        ) as Fields,
      }),
  };
};

const renameInOverride = (one: Fields, renamed: QueryRenames): Fields => {
  const { match } = one;
  return {
    ...(renameColumns(one, renamed) as Fields),
    ...(isFields(match) &&
      match['by'] === 'query' && { match: { ...match, query: renameQuery(match['query'], renamed) } }),
  };
};

export const renameInTransformations = (all: readonly object[], renamed: QueryRenames): object[] =>
  renamed.size === 0 ? [...all] : all.map((one) => renameInTransformation(one as Fields, renamed));
export const renameInOverrides = (all: readonly object[], renamed: QueryRenames): object[] =>
  renamed.size === 0 ? [...all] : all.map((one) => renameInOverride(one as Fields, renamed));
