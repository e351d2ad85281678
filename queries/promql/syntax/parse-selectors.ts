import type { Matcher } from '../series.ts';
import { costOfMatcher, problemOfMatcher } from './matchers.ts';
import { textFrom } from './parse-literals.ts';
import type { Reader } from './reader.ts';
import type { VectorSelector } from './tree.ts';

const operators = new Set(['=', '!=', '=~', '!~']);

/** Parses one matcher in braces, or a quoted metric name. */
const matcherFrom = (reader: Reader): Matcher => {
  const label = reader.next;
  if (label.kind !== 'identifier' && label.kind !== 'string') reader.unexpected('label matching', 'identifier or "}"');
  reader.consume();
  const name = label.kind === 'string' ? textFrom(reader, label) : label.text;
  const operator = reader.next;
  if (operator.kind === 'end' || !operators.has(operator.name) || operator.kind === 'string') {
    if (label.kind === 'string') return { name: '__name__', op: '=', value: name };
    reader.unexpected('label matching', 'label matching operator');
  }
  reader.consume();
  const value = reader.next;
  if (value.kind !== 'string') reader.unexpected('label matching', 'string');
  reader.consume();
  const matcher: Matcher = { name, op: operator.name as Matcher['op'], value: textFrom(reader, value) };
  reader.countRegex(costOfMatcher(matcher), { start: label.start, end: value.end });
  const problem = problemOfMatcher(matcher);
  if (problem !== undefined) reader.report({ start: label.start, end: value.end }, problem);
  return matcher;
};

const matchersFrom = (reader: Reader): { matchers: Matcher[]; end: number } => {
  reader.expect('{');
  const matchers: Matcher[] = [];
  while (!reader.is('}')) {
    reader.countListItem(matchers, 'label matchers in a selector');
    matchers.push(matcherFrom(reader));
    if (reader.is('}')) break;
    if (!reader.is(',')) reader.unexpected('label matching', '"," or "}"');
    reader.consume();
  }
  return { matchers, end: reader.expect('}').end };
};

/** Parses a metric name, matchers in braces, or both. */
export const selectorFrom = (reader: Reader): VectorSelector => {
  const { start, end, text } = reader.next;
  const name = reader.is('{') ? '' : text;
  if (name !== '') reader.consume();
  const braces = reader.is('{') ? matchersFrom(reader) : { matchers: [], end };
  if (name !== '') braces.matchers.push({ name: '__name__', op: '=', value: name });
  return {
    kind: 'selector',
    name,
    matchers: braces.matchers,
    offsetMs: 0,
    anchored: false,
    smoothed: false,
    labelsOnly: false,
    start,
    end: braces.end,
  };
};
