/** Column headers of a table */
export const TableHeader = ({
  columns,
  numericColumns = [],
}: {
  readonly columns: readonly string[];
  /** Columns whose headers are aligned as numbers are */
  readonly numericColumns?: readonly string[];
}) => (
  <thead>
    <tr>
      {columns.map((column) => (
        <th key={column} scope="col" class={numericColumns.includes(column) ? 'number' : undefined}>
          {column}
        </th>
      ))}
    </tr>
  </thead>
);
