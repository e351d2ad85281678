/** Detects words in a search that are operators in other languages. */

/** Maximum number of characters of a text in a hint; longer texts are truncated. */
const maxShownCharacters = 60;

const operators: ReadonlySet<string> = new Set(['=', '==', '!=', '>', '>=', '<', '<=', '=~', '!~']);
const pipes: ReadonlySet<string> = new Set(['|', '|=', '|~']);
const lowercaseOperators: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** Splits a search at spaces outside quotes. Tokens that are only quoted text are omitted. */
const splitTokens = (search: string): string[] => {
  const tokens: string[] = [];
  let token = '';
  let isQuoted = false;
  for (const character of search) {
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted || !/\s/.test(character)) {
      token += character;
      continue;
    }
    tokens.push(token);
    token = '';
  }
  return [...tokens, token].map(removeParentheses).filter((value) => value !== '' && !value.startsWith('"'));
};

const removeParentheses = (token: string): string => {
  const begin = token.startsWith('(') ? 1 : 0;
  return token.slice(begin, token.endsWith(')') && !token.slice(begin).includes('(') ? -1 : undefined);
};

const comparisonPattern = /^[({-]{0,10}([A-Za-z_@$][\w.@$/-]*)(!=|==|=~|!~|=)(.*)$/s;
const singleQuotePattern = /^[({-]{0,10}([A-Za-z_@$][\w.@$/-]*):'/;

const removeQuotes = (text: string): string => text.replace(/^["']/, '').replace(/["'})\],]{1,4}$/, '');

/** Returns the condition that was probably intended. */
const suggestCondition = (name: string, operator: string, text: string): string => {
  const value = removeQuotes(text);
  if (operator === '=~') return `${name}:/${value}/`;
  if (operator === '!~') return `NOT ${name}:/${value}/`;
  const quotedValue = /^[\w.-]+$/.test(value) ? value : `"${value}"`;
  if (operator === '!=') return `NOT ${name}:${quotedValue}`;
  return `${name}:${operator.startsWith('=') ? '' : operator}${quotedValue}`;
};

const truncate = (text: string): string =>
  text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters)}…` : text;

const getTokenHint = (
  token: string,
  previousToken: string | undefined,
  nextToken: string | undefined,
): string | undefined => {
  if (operators.has(token)) {
    const suggestion =
      previousToken !== undefined && nextToken !== undefined
        ? suggestCondition(previousToken, token, nextToken)
        : 'name:value';
    return `${token} is not an operator between spaces: write ${truncate(suggestion)}`;
  }
  if (pipes.has(token))
    return `${token} is not an operator: write conditions next to each other, as in service:cart error`;
  if (lowercaseOperators.has(token))
    return `"${token}" is searched as a word: operators are in capitals, ${token.toUpperCase()}`;
  const [, name = '', operator = '', value = ''] = comparisonPattern.exec(token) ?? [];
  if (operator !== '')
    return `${truncate(token)} is searched as words: compare a value with a colon, ${truncate(suggestCondition(name, operator, value))}`;
  const [, quotedName] = singleQuotePattern.exec(token) ?? [];
  return quotedName === undefined
    ? undefined
    : `single quotes are part of a value: write ${quotedName}:"…" with double quotes`;
};

/** Returns the suggested syntax for a search without results; undefined if nothing in it resembles another language. */
export const findMisreadSyntax = (search: string): string | undefined => {
  const tokens = splitTokens(search);
  const hints = tokens.map((token, index) => getTokenHint(token, tokens[index - 1], tokens[index + 1]));
  return hints.find((hint) => hint !== undefined);
};
