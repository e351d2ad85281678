/** Finds the declared tables that a statement reads. */
import { isColumnName, isTable } from '../../schemas/tables/sharding.ts';
import { type Token, tokenize } from '../columns-sql/sql-text.ts';

const getName = ({ kind, text }: Token): string => (kind === 'quoted' ? text.slice(1, -1) : text);
/** Tokens that usually precede the name of a table: `FROM`, `JOIN`, `IN`, and the dot after a database name. */
const tablePrefixWords = /^(?:from|join|in|\.)$/i;

/**
 * Returns at least the tables that a statement reads. A name that is not a column counts at any position; a name that
 * is also a column counts only after `FROM`, `JOIN`, `IN` or a dot. Undefined for comma-separated tables, because the
 * second name may be a column.
 */
export const findTables = (sql: string): ReadonlySet<string> | undefined => {
  const tokens = tokenize(sql).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  const tables = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    const name = token.kind === 'word' || token.kind === 'quoted' ? getName(token) : '';
    if (!isTable(name)) continue;
    const followsTablePrefix = tablePrefixWords.test(tokens[index - 1]?.text ?? '');
    if (isColumnName(name) && !followsTablePrefix) continue;
    tables.add(name);
    if (followsTablePrefix && isFollowedByComma(tokens.slice(index + 1, index + 4))) return undefined;
  }
  return tables;
};

/** Whether a statement reads a single source, so that each server can answer for its own rows. */
export const readsSingleSource = (sql: string): boolean => {
  const tokens = tokenize(sql).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  const isRead = ({ kind, text }: Token, index: number): boolean => {
    const next = tokens[index + 1];
    if (kind !== 'word' || next === undefined) return false;
    if (/^in$/i.test(text)) return next.kind === 'word' || next.kind === 'quoted';
    return /^(?:from|join)$/i.test(text) && next.text !== '(';
  };
  return tokens.filter(isRead).length === 1;
};

/** Whether a table, its `FINAL` or alias is followed by a comma. */
const isFollowedByComma = (nextTokens: readonly Token[]): boolean => {
  const comma = nextTokens.findIndex(({ text }) => text === ',');
  return comma >= 0 && nextTokens.slice(0, comma).every(({ kind }) => kind === 'word' || kind === 'quoted');
};
