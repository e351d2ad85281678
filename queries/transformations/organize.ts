import { compilePattern } from '../patterns.ts';
import { type Column, getDisplayName, type Table } from './table.ts';
import type { Transform } from './transformation.ts';

export const organize: Transform<'organize'> = (tables, { hidden, order, names }) => {
  const hiddenNames = new Set(hidden);
  const positions = new Map(order.map((name, index) => [name, index]));
  const getPosition = (column: Column): number =>
    positions.get(getDisplayName(column)) ?? positions.get(column.name) ?? order.length;
  const findNewName = ({ name, displayName = name }: Column): string =>
    [displayName, name].map((former) => (Object.hasOwn(names, former) ? names[former] : undefined)).find(Boolean) ?? '';
  return tables.map((table) => ({
    ...table,
    columns: table.columns
      .filter((column) => !hiddenNames.has(column.name) && !hiddenNames.has(getDisplayName(column)))
      .toSorted((left, right) => getPosition(left) - getPosition(right))
      .map((column) => {
        const name = findNewName(column);
        return name === '' ? column : { ...column, name, displayName: undefined };
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
  const renameColumn = (column: Column): Column => {
    for (const name of new Set([getDisplayName(column), column.name])) {
      const match = compiledPattern.find(name);
      if (match === undefined) continue;
      const renamed = name.slice(0, match.start) + expandReplacement(replacement, match.groups) + name.slice(match.end);
      return { ...column, name: renamed, displayName: undefined };
    }
    return column;
  };
  return tables.map(
    (table): Table => ({
      ...table,
      columns: table.columns.map(renameColumn),
    }),
  );
};
