import type { Matcher } from '../series.ts';
import { estimateMatcherCost, findMatcherProblem } from './matchers.ts';
import { parseStringLiteral } from './parse-literals.ts';
import type { TokenReader } from './reader.ts';
import type { VectorSelector } from './tree.ts';

const matcherOperators = new Set(['=', '!=', '=~', '!~']);

/** Parses one matcher in braces, or a quoted metric name. */
const parseMatcher = (reader: TokenReader): Matcher => {
  const label = reader.nextName;
  if (label.kind !== 'identifier' && label.kind !== 'string')
    reader.failUnexpected('label matching', 'identifier or "}"');
  reader.consume();
  const name = label.kind === 'string' ? parseStringLiteral(reader, label) : label.text;
  const operator = reader.nextName;
  if (operator.kind === 'end' || !matcherOperators.has(operator.name) || operator.kind === 'string') {
    if (label.kind === 'string') return { name: '__name__', op: '=', value: name };
    reader.failUnexpected('label matching', 'label matching operator');
  }
  reader.consume();
  const value = reader.nextName;
  if (value.kind !== 'string') reader.failUnexpected('label matching', 'string');
  reader.consume();
  const matcher: Matcher = { name, op: operator.name as Matcher['op'], value: parseStringLiteral(reader, value) };
  reader.countRegex(estimateMatcherCost(matcher), { start: label.start, end: value.end });
  const problem = findMatcherProblem(matcher);
  if (problem !== undefined) reader.reportProblem({ start: label.start, end: value.end }, problem);
  return matcher;
};

const parseMatchers = (reader: TokenReader): { matchers: Matcher[]; end: number } => {
  reader.expect('{');
  const matchers: Matcher[] = [];
  while (!reader.isNext('}')) {
    reader.countListItem(matchers, 'label matchers in a selector');
    matchers.push(parseMatcher(reader));
    if (reader.isNext('}')) break;
    if (!reader.isNext(',')) reader.failUnexpected('label matching', '"," or "}"');
    reader.consume();
  }
  return { matchers, end: reader.expect('}').end };
};

/** Parses a metric name, matchers in braces, or both. */
export const parseVectorSelector = (reader: TokenReader): VectorSelector => {
  const { start, end, text } = reader.nextName;
  const name = reader.isNext('{') ? '' : text;
  if (name !== '') reader.consume();
  const braces = reader.isNext('{') ? parseMatchers(reader) : { matchers: [], end };
  if (name !== '') braces.matchers.push({ name: '__name__', op: '=', value: name });
  return {
    kind: 'selector',
    name,
    matchers: braces.matchers,
    offsetMs: 0,
    anchored: false,
    smoothed: false,
    hasLabelsOnly: false,
    start,
    end: braces.end,
  };
};
