/** Positions in PromQL, determined by the surrounding tokens. */
import type { Token } from '../promql/syntax/lexer.ts';

/** Position of a token. */
export interface Place {
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
  /** Whether braces, or an opening parenthesis, follow. */
  readonly hasBraces: boolean;
  readonly isCalled: boolean;
}

const groupings = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const matching = new Set(['=', '!=', '=~', '!~']);
/** Index of the argument that is a regular expression, by function. */
const regexArguments: Readonly<Record<string, number>> = { label_replace: 4 };

/** Open brackets around a token. */
interface Opened {
  readonly mark: string;
  readonly before: Token | undefined;
  commas: number;
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind !== 'string' && token?.text === text;

interface Around {
  readonly opened: Opened | undefined;
  readonly before: Token | undefined;
  readonly behind: Token | undefined;
}

const textPlace = ({ opened, before }: Around): Place['is'] => {
  if (opened === undefined) return 'text';
  if (opened.mark === '{') return isMark(before, '=~') || isMark(before, '!~') ? 'regex' : 'text';
  return regexArguments[opened.before?.text ?? ''] === opened.commas ? 'regex' : 'text';
};

const placeOf = (token: Token, around: Around): Place['is'] => {
  const { opened, before, behind } = around;
  if (opened?.mark === '(' && opened.before?.kind === 'keyword' && groupings.has(opened.before.name)) return 'group';
  if (token.kind === 'string') return textPlace(around);
  if (opened?.mark === '[') return 'range';
  if (opened?.mark === '{') return matching.has(behind?.text ?? '') ? 'label' : 'condition';
  return before?.kind !== 'string' && (before?.name === 'offset' || isMark(before, '@')) ? 'shift' : 'expression';
};

/** Returns the position of every token. */
export const placesOf = (tokens: readonly Token[]): readonly Place[] => {
  const opened: Opened[] = [];
  return tokens.map((token, index) => {
    const before = tokens[index - 1];
    const behind = tokens[index + 1];
    const place: Place = {
      is: placeOf(token, { opened: opened.at(-1), before, behind }),
      hasBraces: isMark(behind, '{'),
      isCalled: isMark(behind, '('),
    };
    if (token.kind === 'mark') {
      if ('([{'.includes(token.text)) opened.push({ mark: token.text, before, commas: 0 });
      else if (')]}'.includes(token.text)) opened.pop();
      else if (token.text === ',' && opened.length > 0) (opened.at(-1) as Opened).commas++;
    }
    return place;
  });
};
