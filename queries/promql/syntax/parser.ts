import type { Token } from './lexer.ts';
import { numberFrom, signedNumber, textFrom } from './parse-literals.ts';
import { continueSelection } from './parse-modifiers.ts';
import { selectorFrom } from './parse-selectors.ts';
import { quoted } from './quotes.ts';
import type { Reader } from './reader.ts';
import { regexCost } from './regex-cost.ts';
import { type Signature, signatures } from './signatures.ts';
import type { Aggregation, Aggregator, Binary, BinaryOperator, Call, Expression, Matching } from './tree.ts';

const binding: Readonly<Record<string, number>> = {
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
const names = new Set(
  'by fill fill_left fill_right and or unless offset without start end step range anchored smoothed max_of min_of'.split(
    ' ',
  ),
);
/** Like experimental functions, these must be enabled. */
export const experimentalAggregators: ReadonlySet<string> = new Set(['limitk', 'limit_ratio']);
const withParameter = new Set(['topk', 'bottomk', 'count_values', 'quantile', 'limitk', 'limit_ratio']);

const isLabel = ({ kind, name }: Token): boolean =>
  ['identifier', 'metric', 'aggregator', 'keyword', 'preprocessor'].includes(kind) ||
  (kind === 'operator' && ['and', 'or', 'unless', 'atan2'].includes(name));

/** Parses label names in parentheses, after `by`, `on` and similar keywords. */
const labelsFrom = (reader: Reader): string[] => {
  if (!reader.is('(')) reader.unexpected('grouping opts', '"("');
  reader.consume();
  const labels: string[] = [];
  while (!reader.is(')')) {
    const label = reader.next;
    reader.countListItem(labels, 'labels in a grouping');
    if (label.kind !== 'string' && !isLabel(label)) reader.unexpected('grouping opts', 'label');
    reader.consume();
    const name = label.kind === 'string' ? textFrom(reader, label) : label.text;
    if (name === '' || !name.isWellFormed()) reader.report(label, `invalid label name for grouping: ${quoted(name)}`);
    labels.push(name);
    if (!reader.is(',') && !reader.is(')')) reader.unexpected('grouping opts', '"," or ")"');
    reader.consumeIf(',');
  }
  reader.expect(')');
  return labels;
};

const argumentsFrom = (reader: Reader): { args: Expression[]; end: number } => {
  reader.expect('(');
  const args: Expression[] = [];
  while (!reader.is(')')) {
    reader.countListItem(args, 'arguments in a call');
    args.push(expressionFrom(reader, 1));
    const comma = reader.consumeIf(',');
    if (comma === undefined) break;
    if (reader.is(')')) reader.report(comma, 'trailing commas not allowed in function call args');
  }
  return { args, end: reader.expect(')').end };
};

const unknown: Signature = { name: '', parameterTypes: [], variadic: -1, returns: 'vector', experimental: false };

const callFrom = (reader: Reader): Call => {
  const token = reader.consume();
  const { args, end } = argumentsFrom(reader);
  const signature = signatures.get(token.text);
  // Its expression is compiled during evaluation.
  const regex = token.text === 'label_replace' ? args[4] : undefined;
  if (regex?.kind === 'string') reader.countRegex(regexCost(regex.value), regex);
  if (signature === undefined) reader.report(token, `unknown function with name ${quoted(token.text)}`);
  if (signature?.experimental && !reader.options.experimentalFunctions)
    reader.report(token, `function ${quoted(token.text)} is not enabled`);
  return { kind: 'call', signature: signature ?? unknown, args, start: token.start, end };
};

interface Grouping {
  readonly labels: string[];
  readonly without: boolean;
}

const groupingFrom = (reader: Reader): Grouping | undefined => {
  const word = reader.consumeIf('by') ?? reader.consumeIf('without');
  return word === undefined ? undefined : { labels: labelsFrom(reader), without: word.name === 'without' };
};

const aggregationFrom = (reader: Reader): Expression => {
  const word = reader.consume();
  let grouping = groupingFrom(reader);
  const { args, end } = reader.within('aggregation', '', () => argumentsFrom(reader));
  const before = reader.ahead(0).end;
  const behind = grouping === undefined ? groupingFrom(reader) : undefined;
  grouping ??= behind;
  const place = { start: word.start, end: behind === undefined ? end : Math.max(end, before) };
  return aggregationOf(reader, word, args, grouping, place);
};

const aggregationOf = (
  reader: Reader,
  word: Token,
  args: Expression[],
  grouping: Grouping | undefined,
  place: { start: number; end: number },
): Aggregation => {
  const operator = word.name as Aggregator;
  const expectedCount = withParameter.has(operator) ? 2 : 1;
  if (args.length === 0) reader.report(place, 'no arguments for aggregate expression provided');
  else if (experimentalAggregators.has(operator) && !reader.options.experimentalFunctions)
    reader.report(
      place,
      `${operator}() is experimental and must be enabled with --enable-feature=promql-experimental-functions`,
    );
  else if (args.length !== expectedCount)
    reader.report(
      place,
      `wrong number of arguments for aggregate expression provided, expected ${expectedCount}, got ${args.length}`,
    );
  const inner = args[expectedCount - 1] ?? { kind: 'number', value: 0, duration: false, ...place };
  return {
    kind: 'aggregation',
    operator,
    inner,
    parameter: expectedCount === 2 ? args[0] : undefined,
    grouping: grouping?.labels ?? [],
    without: grouping?.without ?? false,
    ...place,
  };
};

const signedFrom = (reader: Reader): Expression => {
  const sign = reader.consume();
  const inner = reader.deeper(() => expressionFrom(reader, 6));
  const place = { start: sign.start, end: inner.end };
  if (inner.kind === 'number') return { ...inner, ...place, value: sign.name === '-' ? -inner.value : inner.value };
  return { kind: 'unary', operator: sign.name as '+' | '-', inner, ...place };
};

const parenthesizedFrom = (reader: Reader): Expression => {
  const { start } = reader.expect('(');
  const inner = reader.deeper(() => expressionFrom(reader, 1));
  return { kind: 'parentheses', inner, start, end: reader.expect(')').end };
};

const markedFrom = (reader: Reader): Expression => {
  if (reader.is('{')) return selectorFrom(reader);
  if (reader.is('(')) return parenthesizedFrom(reader);
  return reader.is('+') || reader.is('-') ? signedFrom(reader) : reader.unexpected();
};

const primaryFrom = (reader: Reader): Expression => {
  const token = reader.next;
  reader.countPart(token);
  const called = reader.ahead(1).kind === 'mark' && reader.ahead(1).text === '(';
  switch (token.kind) {
    case 'number':
    case 'duration':
      return numberFrom(reader);
    case 'string':
      reader.consume();
      return { kind: 'string', value: textFrom(reader, token), start: token.start, end: token.end };
    case 'identifier':
      return called ? reader.deeper(() => callFrom(reader)) : selectorFrom(reader);
    case 'metric':
      return selectorFrom(reader);
    case 'aggregator':
      return called || ['by', 'without'].includes(reader.ahead(1).name)
        ? aggregationFrom(reader)
        : selectorFrom(reader);
    default:
      if (token.kind === 'preprocessor' && called) return reader.deeper(() => callFrom(reader));
      return token.text !== '' && names.has(token.name) ? selectorFrom(reader) : markedFrom(reader);
  }
};

const fillFrom = (reader: Reader): number => {
  reader.expect('(');
  const value = signedNumber(reader);
  reader.expect(')');
  return value;
};

const fillsFrom = (reader: Reader): Pick<Matching, 'fillLeft' | 'fillRight'> => {
  if (reader.consumeIf('fill')) {
    const value = fillFrom(reader);
    return { fillLeft: value, fillRight: value };
  }
  const left = reader.consumeIf('fill_left') && fillFrom(reader);
  const right = reader.consumeIf('fill_right') && fillFrom(reader);
  if (left !== undefined || right === undefined) return { fillLeft: left, fillRight: right };
  return { fillLeft: reader.consumeIf('fill_left') && fillFrom(reader), fillRight: right };
};

const matchingFrom = (reader: Reader): Matching => {
  const word = reader.consumeIf('on') ?? reader.consumeIf('ignoring');
  const labels = word === undefined ? [] : labelsFrom(reader);
  const group = word === undefined ? undefined : (reader.consumeIf('group_left') ?? reader.consumeIf('group_right'));
  const include = group !== undefined && reader.is('(') ? labelsFrom(reader) : [];
  const grouped = group?.name === 'group_left' ? 'many-to-one' : 'one-to-many';
  const card = group === undefined ? 'one-to-one' : grouped;
  return { card, labels, on: word?.name === 'on', include, ...fillsFrom(reader) };
};

const binaryFrom = (reader: Reader, left: Expression, strength: number): Binary => {
  const operator = reader.consume();
  reader.countPart(operator);
  const bool = reader.consumeIf('bool') !== undefined;
  const matching = matchingFrom(reader);
  const right = reader.deeper(() => expressionFrom(reader, operator.name === '^' ? strength : strength + 1));
  const place = { start: left.start, end: right.end };
  if (!reader.options.fillModifiers && (matching.fillLeft !== undefined || matching.fillRight !== undefined))
    reader.report(place, 'binop fill modifiers are experimental and not enabled');
  return { kind: 'binary', operator: operator.name as BinaryOperator, left, right, bool, matching, ...place };
};

/** Parses an expression whose operators bind at least as strongly as `minStrength`. */
export const expressionFrom = (reader: Reader, minStrength: number): Expression => {
  let left = continueSelection(reader, primaryFrom(reader));
  for (;;) {
    const { kind, name } = reader.next;
    const strength = kind === 'operator' ? (binding[name] ?? 0) : 0;
    if (strength === 0 || strength < minStrength) return left;
    left = binaryFrom(reader, left, strength);
  }
};
