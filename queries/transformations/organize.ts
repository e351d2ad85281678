import { compilePattern } from '../patterns.ts';
import type { Table } from './table.ts';
import type { Transform } from './transformation.ts';

export const organize: Transform<'organize'> = (tables, { hidden, order, names }) => {
  const hiddenNames = new Set(hidden);
  const positions = new Map(order.map((name, index) => [name, index]));
  return tables.map((table) => ({
    ...table,
    columns: table.columns
      .filter(({ name }) => !hiddenNames.has(name))
      .toSorted(
        (left, right) => (positions.get(left.name) ?? order.length) - (positions.get(right.name) ?? order.length),
      )
      .map((column) => {
        const name = Object.hasOwn(names, column.name) ? (names[column.name] as string) : '';
        return name === '' ? column : { ...column, name };
      }),
  }));
};

/** Returns the replacement of a match: `$1` is a group, `$&` the entire match, `$$` a dollar. */
const expandReplacement = (replacement: string, groups: readonly (string | null)[]): string =>
  replacement.replaceAll(
    /\$(?:(\d{1,2})|\{(\d{1,2})\}|([&$]))/g,
    (placeholder, plain?: string, braced?: string, sign?: string) => {
      if (sign !== undefined) return sign === '$' ? '$' : (groups[0] ?? '');
      const group = Number(plain ?? braced);
      return group < groups.length ? (groups[group] ?? '') : placeholder;
    },
  );

export const rename: Transform<'rename'> = (tables, { pattern, replacement }) => {
  const compiledPattern = compilePattern(pattern, 'transformations.pattern');
  const renameColumn = (name: string): string => {
    const match = compiledPattern.find(name);
    if (match === undefined) return name;
    return name.slice(0, match.start) + expandReplacement(replacement, match.groups) + name.slice(match.end);
  };
  return tables.map(
    (table): Table => ({
      ...table,
      columns: table.columns.map((column) => ({ ...column, name: renameColumn(column.name) })),
    }),
  );
};
