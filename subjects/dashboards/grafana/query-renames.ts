/** Updates references to renamed queries in column names, filters and overrides. */
import { type Fields, isFields } from '../../../runtime/fields.ts';

/** New names by old ones. */
export type QueryRenames = ReadonlyMap<string, string>;

/** Renames queries in column names: with several queries, Grafana names a column `Value #A`. */
const renameInText = (text: string, renames: QueryRenames): string =>
  [...renames]
    .toSorted(([left], [right]) => right.length - left.length)
    .reduce((read, [oldName, newName]) => read.replaceAll(`Value #${oldName}`, `Value #${newName}`), text);

const renameColumns = (part: unknown, renames: QueryRenames): unknown => {
  if (typeof part === 'string') return renameInText(part, renames);
  if (Array.isArray(part)) return part.map((member) => renameColumns(member, renames));
  if (!isFields(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, member]) => [renameInText(key, renames), renameColumns(member, renames)]),
  );
};

const renameQuery = (query: unknown, renames: QueryRenames): unknown => renames.get(String(query)) ?? query;
const renameQueries = (queries: unknown, renames: QueryRenames): unknown =>
  Array.isArray(queries) ? queries.map((query) => renameQuery(query, renames)) : queries;

const renameInTransformation = (transformation: Fields, renames: QueryRenames): Fields => {
  const { kind, queries, keep: include, figures } = transformation;
  return {
    ...(renameColumns(transformation, renames) as Fields),
    ...(queries !== undefined && { queries: renameQueries(queries, renames) }),
    ...(kind === 'filter-queries' && { keep: renameQueries(include, renames) }),
    ...(kind === 'trend' &&
      isFields(figures) && {
        figures: Object.fromEntries(
          Object.entries(figures).map(([query, figure]) => [renameQuery(query, renames), figure]),
        ) as Fields,
      }),
  };
};

const renameInOverride = (transformation: Fields, renames: QueryRenames): Fields => {
  const { match } = transformation;
  return {
    ...(renameColumns(transformation, renames) as Fields),
    ...(isFields(match) &&
      match['by'] === 'query' && { match: { ...match, query: renameQuery(match['query'], renames) } }),
  };
};

export const renameInTransformations = (all: readonly object[], renames: QueryRenames): object[] =>
  renames.size === 0 ? [...all] : all.map((one) => renameInTransformation(one as Fields, renames));
export const renameInOverrides = (all: readonly object[], renames: QueryRenames): object[] =>
  renames.size === 0 ? [...all] : all.map((one) => renameInOverride(one as Fields, renames));
