/** Transforms the tables of a panel, one transformation after the other. */
import type { Transformation } from '../../schemas/dashboards/transformations.ts';
import { calculate } from './calculate.ts';
import { convert } from './convert.ts';
import { extract } from './extract.ts';
import { filterFields, filterQueries, filterRows } from './filter.ts';
import { groupBy } from './group-by.ts';
import { joinByField, joinByLabels } from './join.ts';
import { labelsToFields } from './labels-to-fields.ts';
import { merge, seriesToRows } from './merge.ts';
import { organize, rename } from './organize.ts';
import { reduce, trend } from './reduce.ts';
import { limit, sort } from './sort.ts';
import type { Table } from './table.ts';
import { requireTotalLimits, type Transform } from './transformation.ts';

/** Functions by the kinds that `schemas/dashboards/transformations.ts` declares. */
const transforms: { readonly [Kind in Transformation['kind']]: Transform<Kind> } = {
  organize,
  merge,
  'join-by-field': joinByField,
  'join-by-labels': joinByLabels,
  'group-by': groupBy,
  calculate,
  'filter-fields': filterFields,
  'filter-rows': filterRows,
  'filter-queries': filterQueries,
  rename,
  reduce,
  sort,
  'labels-to-fields': labelsToFields,
  'series-to-rows': seriesToRows,
  trend,
  extract,
  convert,
  limit,
};

const applyTransformation = (tables: readonly Table[], transformation: Transformation): readonly Table[] => {
  const { queries } = transformation;
  const isAffected = ({ query }: Table): boolean => queries === undefined || queries.includes(query);
  const transform = transforms[transformation.kind] as (
    tables: readonly Table[],
    options: Transformation,
  ) => readonly Table[];
  return [...transform(tables.filter(isAffected), transformation), ...tables.filter((table) => !isAffected(table))];
};

/** Returns the tables after all transformations. Throws a `QueryError` if they exceed the limits. */
export const transformTables = (
  tables: readonly Table[],
  transformations: readonly Transformation[],
): readonly Table[] => {
  requireTotalLimits(tables);
  let currentTables = tables;
  for (const transformation of transformations) {
    if (transformation.off) continue;
    currentTables = applyTransformation(currentTables, transformation);
    requireTotalLimits(currentTables);
  }
  return currentTables;
};
