/** Query kind for records of a data source. */
import { getRowsHint } from '../hints/result-hints.ts';
import { RowsQuery } from '../query.ts';
import { defineQueryKind } from '../query-kind.ts';
import { runRows } from '../rows/rows.ts';
import { changeSearch, countRecords, describeRecords } from './conditions.ts';

export const rows = defineQueryKind<RowsQuery>({
  schema: RowsQuery,
  isFormulaPart: true,
  signals: ({ signal }) => [signal],
  run: runRows,
  returnsRecords: true,
  isCurrentOnly: true,
  hint: getRowsHint,
  inspect({ signal, search, fields = [] }, inspection) {
    inspection.search(search, signal, 'search');
    for (const [index, name] of fields.entries()) inspection.field(name, signal, `fields.${index}`);
  },
  formulaProblem: () => [[], 'must return aggregates, not rows'],
  changeTexts: (query, { search, names }) => ({
    ...changeSearch(query, search),
    ...(query.fields === undefined ? {} : { fields: names(query.fields) }),
  }),
  addFilters: (query, { search }) => ({ ...query, search: search(query.search, query.signal) }),
  countMatches: countRecords,
  sentence: ({ limit, order, signal, search }, parts) =>
    `the ${limit} ${order} ${describeRecords(signal, search, parts)}`,
});
