/** Reads SQL as ClickHouse's lexer does, as far as finding words, literals and placeholders needs. */
import { PermanentError } from '../../schemas/errors.ts';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'comment' | 'parameter' | 'space' | 'other';
  readonly text: string;
  /** Of a parameter `{name:Type}`. */
  readonly name?: string;
  readonly type?: string;
}

const patterns: readonly (readonly [Token['kind'], RegExp])[] = [
  ['space', /[ \t\r\n\f\v]+/y],
  ['comment', /--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /'(?:[^'\\]|\\[\s\S]|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/y],
  ['quoted', /`(?:[^`\\]|\\[\s\S]|``)*`|"(?:[^"\\]|\\[\s\S]|"")*"/y],
  ['parameter', /\{\s*(\w+)\s*:([^{}]*)\}/y],
  ['word', /[A-Za-z_][\w$]*/y],
  ['other', /\d[\w.]*|[!-~]/y],
];

const tokenAt = (sql: string, position: number): Token | undefined => {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = position;
    const match = pattern.exec(sql);
    if (match === null) continue;
    const [text, name, type] = match;
    if (kind !== 'parameter') return { kind, text };
    return { kind, text, name: name ?? '', type: (type ?? '').trim() };
  }
  return undefined;
};

/** Of the statement that was split last: it is checked and bound, one right after the other. */
let last: { readonly sql: string; readonly tokens: readonly Token[] } | undefined;
/** Longer ones are not kept. */
const maxCachedLength = 16_384;

/**
 * Splits SQL into tokens that, joined, are the SQL again. Text that cannot be split with certainty is refused:
 * unfinished literals and comments, and anything but ASCII outside them (the engine takes typographic quotes for quotes).
 */
export const tokensOf = (sql: string): readonly Token[] => {
  if (sql === last?.sql) return last.tokens;
  const tokens = split(sql);
  last = sql.length > maxCachedLength ? undefined : { sql, tokens };
  return tokens;
};

const split = (sql: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  while (position < sql.length) {
    const token = tokenAt(sql, position);
    const unfinished = token?.kind === 'other' && (/^['"`]/.test(token.text) || sql.startsWith('/*', position));
    if (token === undefined || unfinished)
      throw new PermanentError('bad-query', `the query cannot be read at character ${position}`, { position });
    tokens.push(token);
    position += token.text.length;
  }
  return tokens;
};
