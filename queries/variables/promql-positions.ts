/** Positions in PromQL, determined by the surrounding tokens. */
import type { Token } from '../promql/syntax/lexer.ts';

/** Position of a token. */
export interface TokenPosition {
  readonly is:
    | 'expression'
    /** Directly after an operand. */
    | 'operator'
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
  /** Whether it contains the labels of `by (…)` or a similar clause. */
  readonly isGroup: boolean;
  commas: number;
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind !== 'string' && token?.text === text;

interface TokenContext {
  readonly openBracket: OpenBracket | undefined;
  /** Whether the preceding token is the end of an operand. */
  readonly isAfterOperand: boolean;
  readonly before: Token | undefined;
  readonly after: Token | undefined;
}

const classifyString = ({ openBracket, before }: TokenContext): TokenPosition['is'] => {
  if (openBracket === undefined) return 'text';
  if (openBracket.mark === '{') return isMark(before, '=~') || isMark(before, '!~') ? 'regex' : 'text';
  return regexArguments[openBracket.before?.text ?? ''] === openBracket.commas ? 'regex' : 'text';
};

const classifyToken = (token: Token, context: TokenContext): TokenPosition['is'] => {
  const { openBracket, before, after, isAfterOperand } = context;
  if (openBracket?.isGroup === true) return 'group';
  if (token.kind === 'string') return classifyString(context);
  if (openBracket?.mark === '[') return 'range';
  if (openBracket?.mark === '{') return matcherOperators.has(after?.text ?? '') ? 'label' : 'condition';
  if (before?.kind !== 'string' && (before?.name === 'offset' || isMark(before, '@'))) return 'shift';
  return isAfterOperand ? 'operator' : 'expression';
};

const startsGroup = (token: Token, before: Token | undefined): boolean =>
  token.text === '(' && before?.kind === 'keyword' && groupingKeywords.has(before.name);

const operandKinds = new Set<Token['kind']>(['identifier', 'metric', 'number', 'duration']);

const endsOperand = (token: Token, closedBracket: OpenBracket | undefined): boolean =>
  operandKinds.has(token.kind) || (closedBracket !== undefined && !closedBracket.isGroup);

/** Returns the position of every token. */
export const classifyTokens = (tokens: readonly Token[]): readonly TokenPosition[] => {
  const openBrackets: OpenBracket[] = [];
  let isAfterOperand = false;
  return tokens.map((token, index) => {
    const previousToken = tokens[index - 1];
    const after = tokens[index + 1];
    const position: TokenPosition = {
      is: classifyToken(token, {
        openBracket: openBrackets.at(-1),
        isAfterOperand,
        before: previousToken,
        after,
      }),
      hasBraces: isMark(after, '{'),
      hasParenthesis: isMark(after, '('),
    };
    let closedBracket: OpenBracket | undefined;
    if (token.kind === 'mark') {
      if ('([{'.includes(token.text))
        openBrackets.push({
          mark: token.text,
          before: previousToken,
          isGroup: startsGroup(token, previousToken),
          commas: 0,
        });
      else if (')]}'.includes(token.text)) closedBracket = openBrackets.pop();
      else if (token.text === ',' && openBrackets.length > 0) (openBrackets.at(-1) as OpenBracket).commas++;
    }
    isAfterOperand = endsOperand(token, closedBracket);
    return position;
  });
};
