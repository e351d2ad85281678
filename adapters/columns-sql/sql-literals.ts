/** Values as SQL literals. Only this module inserts values into the text of a statement. */

import { PermanentError } from '../../schemas/errors.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { tokenize } from './sql-text.ts';

/** Quotes an identifier with backquotes. */
export const quoteName = (name: string): string => {
  if (name.includes('\0')) throw new PermanentError('bad-query', 'a name must not contain NUL');
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
};

type Value = QueryParameters[string];

const formatScalar = (value: string | number | bigint | boolean): string =>
  typeof value === 'number' && !Number.isFinite(value)
    ? String(value).replace('Infinity', 'inf').toLowerCase()
    : String(value);

/** Element types that are quoted inside an array literal. 64-bit ids arrive as strings and are not quoted. */
const quotedTypePattern = /String|Date|UUID|Enum|IP/;

/** An array is a single literal whatever its length: the parser counts elements, not characters. */
const toLiteral = (value: Value, type: string): string => {
  if (type === 'Identifier') return quoteName(String(value));
  if (!Array.isArray(value)) {
    const text = quoteString(formatScalar(value as string));
    return type === 'String' ? text : `CAST(${text}, ${quoteString(type)})`;
  }
  const items = quotedTypePattern.test(type)
    ? value.map((item) => quoteString(formatScalar(item)))
    : value.map(formatScalar);
  return `CAST(${quoteString(`[${items.join(',')}]`)}, ${quoteString(type)})`;
};

/** Replaces every `{name:Type}` outside literals and comments with the parameter's literal. */
export const bindLiterals = (sql: string, parameters: QueryParameters): string => {
  if (!sql.includes('{')) return sql;
  let boundSql = '';
  for (const token of tokenize(sql)) {
    if (token.kind !== 'parameter' || token.name === undefined || token.type === undefined) {
      boundSql += token.text;
      continue;
    }
    const value = Object.hasOwn(parameters, token.name) ? parameters[token.name] : undefined;
    if (value === undefined) throw new PermanentError('bad-query', `the query's parameter ${token.name} has no value`);
    boundSql += toLiteral(value, token.type);
  }
  return boundSql;
};
