import { type Column, countRows, type Table } from './table.ts';
import type { Transform, TransformationOptions } from './transformation.ts';

type Labels = Readonly<Record<string, string>>;

const selectLabels = (labels: Labels, include: readonly string[] | undefined): [string, string][] =>
  Object.entries(labels).filter(([name]) => include === undefined || include.includes(name));

const addLabelColumns = (
  table: Table,
  { keep: include, nameFrom }: TransformationOptions<'labels-to-fields'>,
): Table => {
  const labeledColumn = table.columns.find(({ labels }) => labels !== undefined);
  if (labeledColumn === undefined) return table;
  const rows = countRows(table);
  const labelColumns = selectLabels(labeledColumn.labels ?? {}, include)
    .filter(([name]) => name !== nameFrom)
    .map(([name, value]): Column => ({ name, type: 'text', unit: '', values: Array(rows).fill(value) }));
  const renamedColumns = table.columns.map(({ labels, displayName: _, ...column }) => ({
    ...column,
    name: (nameFrom === undefined ? undefined : labels?.[nameFrom]) ?? column.name,
  }));
  const isTimeColumn = (column: { readonly type: string }): boolean => column.type === 'time';
  return {
    ...table,
    columns: [
      ...renamedColumns.filter(isTimeColumn),
      ...labelColumns,
      ...renamedColumns.filter((column) => !isTimeColumn(column)),
    ],
  };
};

const listLabelsAsRows = (table: Table, { keep: include }: TransformationOptions<'labels-to-fields'>): Table[] =>
  table.columns.flatMap(({ labels, name }) => {
    const selectedLabels = labels === undefined ? [] : selectLabels(labels, include);
    if (selectedLabels.length === 0) return [];
    const textFormat = { type: 'text', unit: '' } as const;
    return [
      {
        query: table.query,
        name: table.name === '' ? name : table.name,
        columns: [
          { ...textFormat, name: 'label', values: selectedLabels.map(([label]) => label) },
          { ...textFormat, name: 'value', values: selectedLabels.map(([, value]) => value) },
        ],
      },
    ];
  });

export const labelsToFields: Transform<'labels-to-fields'> = (tables, options) =>
  tables.flatMap((table) =>
    options.to === 'columns' ? [addLabelColumns(table, options)] : listLabelsAsRows(table, options),
  );
