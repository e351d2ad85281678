/** Positions in PromQL, determined by the surrounding tokens. */
import type { Token } from '../promql/syntax/lexer.ts';

/** Position of a token. */
export interface TokenPosition {
  readonly is:
    | 'expression'
    /** A duration in brackets. */
    | 'range'
    /** After `offset` or `@`. */
    | 'shift'
    /** A label in `by (…)` and similar clauses. */
    | 'group'
    /** A label name before an operator in braces. */
    | 'label'
    /** Any other token in braces. */
    | 'condition'
    /** A string that is a regular expression. */
    | 'regex'
    /** Another text. */
    | 'text';
  /** Whether an opening brace follows; `hasParenthesis` is true if an opening parenthesis follows. */
  readonly hasBraces: boolean;
  readonly hasParenthesis: boolean;
}

const groupingKeywords = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const matcherOperators = new Set(['=', '!=', '=~', '!~']);
/** Index of the argument that is a regular expression, by function. */
const regexArguments: Readonly<Record<string, number>> = { label_replace: 4 };

/** An open bracket around a token. */
interface OpenBracket {
  readonly mark: string;
  readonly before: Token | undefined;
  commas: number;
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind !== 'string' && token?.text === text;

interface TokenContext {
  readonly openBracket: OpenBracket | undefined;
  readonly before: Token | undefined;
  readonly after: Token | undefined;
}

const classifyString = ({ openBracket, before }: TokenContext): TokenPosition['is'] => {
  if (openBracket === undefined) return 'text';
  if (openBracket.mark === '{') return isMark(before, '=~') || isMark(before, '!~') ? 'regex' : 'text';
  return regexArguments[openBracket.before?.text ?? ''] === openBracket.commas ? 'regex' : 'text';
};

const classifyToken = (token: Token, context: TokenContext): TokenPosition['is'] => {
  const { openBracket, before, after } = context;
  if (
    openBracket?.mark === '(' &&
    openBracket.before?.kind === 'keyword' &&
    groupingKeywords.has(openBracket.before.name)
  )
    return 'group';
  if (token.kind === 'string') return classifyString(context);
  if (openBracket?.mark === '[') return 'range';
  if (openBracket?.mark === '{') return matcherOperators.has(after?.text ?? '') ? 'label' : 'condition';
  return before?.kind !== 'string' && (before?.name === 'offset' || isMark(before, '@')) ? 'shift' : 'expression';
};

/** Returns the position of every token. */
export const classifyTokens = (tokens: readonly Token[]): readonly TokenPosition[] => {
  const openBrackets: OpenBracket[] = [];
  return tokens.map((token, index) => {
    const previousToken = tokens[index - 1];
    const after = tokens[index + 1];
    const position: TokenPosition = {
      is: classifyToken(token, { openBracket: openBrackets.at(-1), before: previousToken, after }),
      hasBraces: isMark(after, '{'),
      hasParenthesis: isMark(after, '('),
    };
    if (token.kind === 'mark') {
      if ('([{'.includes(token.text)) openBrackets.push({ mark: token.text, before: previousToken, commas: 0 });
      else if (')]}'.includes(token.text)) openBrackets.pop();
      else if (token.text === ',' && openBrackets.length > 0) (openBrackets.at(-1) as OpenBracket).commas++;
    }
    return position;
  });
};
