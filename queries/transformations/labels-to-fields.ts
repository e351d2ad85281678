import { type Column, countRows, type Table } from './table.ts';
import type { OptionsOf, Transform } from './transformation.ts';

type Labels = Readonly<Record<string, string>>;

const selectLabels = (labels: Labels, include: readonly string[] | undefined): [string, string][] =>
  Object.entries(labels).filter(([name]) => include === undefined || include.includes(name));

const addLabelColumns = (table: Table, { keep: include, nameFrom }: OptionsOf<'labels-to-fields'>): Table => {
  const labeledColumn = table.columns.find(({ labels }) => labels !== undefined);
  if (labeledColumn === undefined) return table;
  const rows = countRows(table);
  const labelColumns = selectLabels(labeledColumn.labels ?? {}, include)
    .filter(([name]) => name !== nameFrom)
    .map(([name, value]): Column => ({ name, type: 'text', unit: '', values: Array(rows).fill(value) }));
  const renamedColumns = table.columns.map(({ labels, ...column }) => ({
    ...column,
    name: (nameFrom === undefined ? undefined : labels?.[nameFrom]) ?? column.name,
  }));
  const isBefore = (column: { readonly type: string }): boolean => column.type === 'time';
  return {
    ...table,
    columns: [
      ...renamedColumns.filter(isBefore),
      ...labelColumns,
      ...renamedColumns.filter((column) => !isBefore(column)),
    ],
  };
};

const listLabelsAsRows = (table: Table, { keep: include }: OptionsOf<'labels-to-fields'>): Table[] =>
  table.columns.flatMap(({ labels, name }) => {
    const selected = labels === undefined ? [] : selectLabels(labels, include);
    if (selected.length === 0) return [];
    const texts = { type: 'text', unit: '' } as const;
    return [
      {
        query: table.query,
        name: table.name === '' ? name : table.name,
        columns: [
          { ...texts, name: 'label', values: selected.map(([label]) => label) },
          { ...texts, name: 'value', values: selected.map(([, value]) => value) },
        ],
      },
    ];
  });

export const labelsToFields: Transform<'labels-to-fields'> = (tables, options) =>
  tables.flatMap((table) =>
    options.to === 'columns' ? [addLabelColumns(table, options)] : listLabelsAsRows(table, options),
  );
