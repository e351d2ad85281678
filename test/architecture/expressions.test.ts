/** Regular expressions run in linear time on any input. */
import test from 'ava';
import {
  type Expression,
  expressionsOfProduct,
  faultOf,
  linearExpressions,
  reviewedExpressions,
} from './expressions.ts';

const expressions = expressionsOfProduct();
const texts = new Set(expressions.map(({ text }) => text));
const reviewed = reviewedExpressions();
const isReviewed = ({ file, text }: Pick<Expression, 'file' | 'text'>): boolean =>
  reviewed.some((each) => each.file === file && each.text === text);

test('every regular expression runs in time proportional to the text', (t) => {
  const linear = linearExpressions();
  const faults = new Map<string, string | undefined>();
  const faultIn = (expression: Expression): string | undefined => {
    const { text, isLiteral } = expression;
    if (linear.has(text) || isReviewed(expression)) return undefined;
    if (!isLiteral) return 'is put together when the program runs: give the reason why it is linear';
    if (!faults.has(text)) faults.set(text, faultOf(text));
    return faults.get(text);
  };
  t.true(expressions.length > 600);
  t.deepEqual(
    expressions.flatMap((expression) => {
      const fault = faultIn(expression);
      return fault === undefined ? [] : [`${expression.file}:${expression.line}: ${expression.text} ${fault}`];
    }),
    [],
    'Scan the text, write the expression so that each place of a text can match one part of it only, or say in reviewed-expressions.json why no text makes it slow.',
  );
});

test('every listed regular expression is still in use', (t) => {
  t.deepEqual(
    [...linearExpressions()].filter((text) => !texts.has(text)),
    [],
    'Write the list anew: node bin/node.mjs test/architecture/list-expressions.ts',
  );
  t.deepEqual(
    reviewed.filter(({ file, text }) => !expressions.some((each) => each.file === file && each.text === text)),
    [],
    'Take these out of reviewed-expressions.json.',
  );
});

test('regular expressions that run in superlinear time are found', (t) => {
  for (const literal of ['/^(a+)+$/', '/\\/+$/', '/\\s*,/', '/^\\d+\\.?\\d*$/', '/ \\[[^\\]]*\\]$/']) {
    t.regex(faultOf(literal) ?? '', /polynomial|exponential/, literal);
  }
  t.is(faultOf('/^[^,]*,[^,]*$/'), undefined);
});
