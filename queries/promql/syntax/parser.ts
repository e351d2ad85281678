import type { Token } from './lexer.ts';
import { parseNumberLiteral, parseSignedNumber, parseStringLiteral } from './parse-literals.ts';
import { parseSuffixes } from './parse-modifiers.ts';
import { parseVectorSelector } from './parse-selectors.ts';
import { quoteText } from './quotes.ts';
import type { TokenReader } from './reader.ts';
import { estimateRegexCost } from './regex-cost.ts';
import { type Signature, signatures } from './signatures.ts';
import type { Aggregation, Aggregator, Binary, BinaryOperator, Call, Expression, Matching } from './tree.ts';

const bindingStrength: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  '==': 3,
  '!=': 3,
  '<=': 3,
  '<': 3,
  '>=': 3,
  '>': 3,
  '</': 3,
  '>/': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
  atan2: 5,
  '^': 6,
};

/** Keywords that are metric names at the start of an expression. */
const metricNameKeywords = new Set(
  'by fill fill_left fill_right and or unless offset without start end step range anchored smoothed max_of min_of'.split(
    ' ',
  ),
);
/** Experimental aggregators, which must be enabled like experimental functions. */
export const experimentalAggregators: ReadonlySet<string> = new Set(['limitk', 'limit_ratio']);
const parameterizedAggregators = new Set(['topk', 'bottomk', 'count_values', 'quantile', 'limitk', 'limit_ratio']);

const isLabel = ({ kind, name }: Token): boolean =>
  ['identifier', 'metric', 'aggregator', 'keyword', 'preprocessor'].includes(kind) ||
  (kind === 'operator' && ['and', 'or', 'unless', 'atan2'].includes(name));

/** Parses label names in parentheses, after `by`, `on` and similar keywords. */
const parseLabels = (reader: TokenReader): string[] => {
  if (!reader.isNext('(')) reader.failUnexpected('grouping opts', '"("');
  reader.consume();
  const labels: string[] = [];
  while (!reader.isNext(')')) {
    const label = reader.nextName;
    reader.countListItem(labels, 'labels in a grouping');
    if (label.kind !== 'string' && !isLabel(label)) reader.failUnexpected('grouping opts', 'label');
    reader.consume();
    const name = label.kind === 'string' ? parseStringLiteral(reader, label) : label.text;
    if (name === '' || !name.isWellFormed())
      reader.reportProblem(label, `invalid label name for grouping: ${quoteText(name)}`);
    labels.push(name);
    if (!reader.isNext(',') && !reader.isNext(')')) reader.failUnexpected('grouping opts', '"," or ")"');
    reader.consumeIf(',');
  }
  reader.expect(')');
  return labels;
};

const parseArguments = (reader: TokenReader): { args: Expression[]; end: number } => {
  reader.expect('(');
  const args: Expression[] = [];
  while (!reader.isNext(')')) {
    reader.countListItem(args, 'arguments in a call');
    args.push(parseBinaryExpression(reader, 1));
    const comma = reader.consumeIf(',');
    if (comma === undefined) break;
    if (reader.isNext(')')) reader.reportProblem(comma, 'trailing commas not allowed in function call args');
  }
  return { args, end: reader.expect(')').end };
};

const unknownSignature: Signature = {
  name: '',
  parameterTypes: [],
  maxAdditionalArguments: -1,
  returnType: 'vector',
  isExperimental: false,
};

const parseCall = (reader: TokenReader): Call => {
  const token = reader.consume();
  const { args, end } = parseArguments(reader);
  const signature = signatures.get(token.text);
  // The regular expression of `label_replace` is compiled during evaluation.
  const regex = token.text === 'label_replace' ? args[4] : undefined;
  if (regex?.kind === 'string') reader.countRegex(estimateRegexCost(regex.value), regex);
  if (signature === undefined) reader.reportProblem(token, `unknown function with name ${quoteText(token.text)}`);
  if (signature?.isExperimental && !reader.options.experimentalFunctions)
    reader.reportProblem(token, `function ${quoteText(token.text)} is not enabled`);
  return { kind: 'call', signature: signature ?? unknownSignature, args, start: token.start, end };
};

interface Grouping {
  readonly labels: string[];
  readonly without: boolean;
}

const parseGrouping = (reader: TokenReader): Grouping | undefined => {
  const keyword = reader.consumeIf('by') ?? reader.consumeIf('without');
  return keyword === undefined ? undefined : { labels: parseLabels(reader), without: keyword.name === 'without' };
};

const parseAggregation = (reader: TokenReader): Expression => {
  const keyword = reader.consume();
  let grouping = parseGrouping(reader);
  const { args, end } = reader.withContext('aggregation', '', () => parseArguments(reader));
  const endAfterArguments = reader.peek(0).end;
  const trailingGrouping = grouping === undefined ? parseGrouping(reader) : undefined;
  grouping ??= trailingGrouping;
  const position = {
    start: keyword.start,
    end: trailingGrouping === undefined ? end : Math.max(end, endAfterArguments),
  };
  return createAggregation(reader, keyword, args, grouping, position);
};

const createAggregation = (
  reader: TokenReader,
  keyword: Token,
  args: Expression[],
  grouping: Grouping | undefined,
  position: { start: number; end: number },
): Aggregation => {
  const operator = keyword.name as Aggregator;
  const expectedCount = parameterizedAggregators.has(operator) ? 2 : 1;
  if (args.length === 0) reader.reportProblem(position, 'no arguments for aggregate expression provided');
  else if (experimentalAggregators.has(operator) && !reader.options.experimentalFunctions)
    reader.reportProblem(
      position,
      `${operator}() is experimental and must be enabled with --enable-feature=promql-experimental-functions`,
    );
  else if (args.length !== expectedCount)
    reader.reportProblem(
      position,
      `wrong number of arguments for aggregate expression provided, expected ${expectedCount}, got ${args.length}`,
    );
  const innerExpression = args[expectedCount - 1] ?? { kind: 'number', value: 0, duration: false, ...position };
  return {
    kind: 'aggregation',
    operator,
    innerExpression,
    parameter: expectedCount === 2 ? args[0] : undefined,
    grouping: grouping?.labels ?? [],
    without: grouping?.without ?? false,
    ...position,
  };
};

const parseSigned = (reader: TokenReader): Expression => {
  const sign = reader.consume();
  const innerExpression = reader.withDepth(() => parseBinaryExpression(reader, 6));
  const position = { start: sign.start, end: innerExpression.end };
  if (innerExpression.kind === 'number')
    return {
      ...innerExpression,
      ...position,
      value: sign.name === '-' ? -innerExpression.value : innerExpression.value,
    };
  return { kind: 'unary', operator: sign.name as '+' | '-', innerExpression, ...position };
};

const parseParenthesized = (reader: TokenReader): Expression => {
  const { start } = reader.expect('(');
  const innerExpression = reader.withDepth(() => parseBinaryExpression(reader, 1));
  return { kind: 'parentheses', innerExpression, start, end: reader.expect(')').end };
};

const parseMarkExpression = (reader: TokenReader): Expression => {
  if (reader.isNext('{')) return parseVectorSelector(reader);
  if (reader.isNext('(')) return parseParenthesized(reader);
  return reader.isNext('+') || reader.isNext('-') ? parseSigned(reader) : reader.failUnexpected();
};

const parsePrimary = (reader: TokenReader): Expression => {
  const token = reader.nextName;
  reader.countPart(token);
  const isCall = reader.peek(1).kind === 'mark' && reader.peek(1).text === '(';
  switch (token.kind) {
    case 'number':
    case 'duration':
      return parseNumberLiteral(reader);
    case 'string':
      reader.consume();
      return { kind: 'string', value: parseStringLiteral(reader, token), start: token.start, end: token.end };
    case 'identifier':
      return isCall ? reader.withDepth(() => parseCall(reader)) : parseVectorSelector(reader);
    case 'metric':
      return parseVectorSelector(reader);
    case 'aggregator':
      return isCall || ['by', 'without'].includes(reader.peek(1).name)
        ? parseAggregation(reader)
        : parseVectorSelector(reader);
    default:
      if (token.kind === 'preprocessor' && isCall) return reader.withDepth(() => parseCall(reader));
      return token.text !== '' && metricNameKeywords.has(token.name)
        ? parseVectorSelector(reader)
        : parseMarkExpression(reader);
  }
};

const parseFillValue = (reader: TokenReader): number => {
  reader.expect('(');
  const value = parseSignedNumber(reader);
  reader.expect(')');
  return value;
};

const parseFillModifiers = (reader: TokenReader): Pick<Matching, 'fillLeft' | 'fillRight'> => {
  if (reader.consumeIf('fill')) {
    const value = parseFillValue(reader);
    return { fillLeft: value, fillRight: value };
  }
  const left = reader.consumeIf('fill_left') && parseFillValue(reader);
  const right = reader.consumeIf('fill_right') && parseFillValue(reader);
  if (left !== undefined || right === undefined) return { fillLeft: left, fillRight: right };
  return { fillLeft: reader.consumeIf('fill_left') && parseFillValue(reader), fillRight: right };
};

const parseMatching = (reader: TokenReader): Matching => {
  const keyword = reader.consumeIf('on') ?? reader.consumeIf('ignoring');
  const labels = keyword === undefined ? [] : parseLabels(reader);
  const groupKeyword =
    keyword === undefined ? undefined : (reader.consumeIf('group_left') ?? reader.consumeIf('group_right'));
  const include = groupKeyword !== undefined && reader.isNext('(') ? parseLabels(reader) : [];
  const groupedCard = groupKeyword?.name === 'group_left' ? 'many-to-one' : 'one-to-many';
  const card = groupKeyword === undefined ? 'one-to-one' : groupedCard;
  return { card, labels, on: keyword?.name === 'on', include, ...parseFillModifiers(reader) };
};

const parseBinary = (reader: TokenReader, left: Expression, strength: number): Binary => {
  const operator = reader.consume();
  reader.countPart(operator);
  const bool = reader.consumeIf('bool') !== undefined;
  const matching = parseMatching(reader);
  const right = reader.withDepth(() => parseBinaryExpression(reader, operator.name === '^' ? strength : strength + 1));
  const position = { start: left.start, end: right.end };
  if (!reader.options.fillModifiers && (matching.fillLeft !== undefined || matching.fillRight !== undefined))
    reader.reportProblem(position, 'binop fill modifiers are experimental and not enabled');
  return { kind: 'binary', operator: operator.name as BinaryOperator, left, right, bool, matching, ...position };
};

/** Parses an expression whose operators bind at least as strongly as `minStrength`. */
export const parseBinaryExpression = (reader: TokenReader, minStrength: number): Expression => {
  let left = parseSuffixes(reader, parsePrimary(reader));
  for (;;) {
    const { kind, name } = reader.nextName;
    const strength = kind === 'operator' ? (bindingStrength[name] ?? 0) : 0;
    if (strength === 0 || strength < minStrength) return left;
    left = parseBinary(reader, left, strength);
  }
};
