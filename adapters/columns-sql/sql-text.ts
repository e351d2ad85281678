/** Tokenizes SQL like ClickHouse's lexer, as far as needed to find words, literals and placeholders. */
import { PermanentError } from '../../schemas/errors.ts';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'comment' | 'parameter' | 'space' | 'other';
  readonly text: string;
  /** Name of a parameter `{name:Type}` */
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

const matchToken = (sql: string, position: number): Token | undefined => {
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

/** Cache for the last statement, because it is checked and bound in direct succession. */
let lastStatement: { readonly sql: string; readonly tokens: readonly Token[] } | undefined;
/** Longer statements are not cached. */
const maxCachedLength = 16_384;

/**
 * Splits SQL into tokens whose concatenation is the original SQL. Throws for ambiguous text: unfinished literals and
 * comments, and non-ASCII characters outside them (the engine accepts typographic quotes as quotes).
 */
export const tokenize = (sql: string): readonly Token[] => {
  if (sql === lastStatement?.sql) return lastStatement.tokens;
  const tokens = splitTokens(sql);
  lastStatement = sql.length > maxCachedLength ? undefined : { sql, tokens };
  return tokens;
};

const splitTokens = (sql: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  while (position < sql.length) {
    const token = matchToken(sql, position);
    const isUnfinished = token?.kind === 'other' && (/^['"`]/.test(token.text) || sql.startsWith('/*', position));
    if (token === undefined || isUnfinished)
      throw new PermanentError('bad-query', `the query cannot be parsed at character ${position}`, { position });
    tokens.push(token);
    position += token.text.length;
  }
  return tokens;
};
