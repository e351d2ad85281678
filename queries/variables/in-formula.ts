/** Variables in formulas: numbers, or names of queries. */
import { invalid } from '../errors.ts';
import { formulaWords } from '../formula/parse.ts';
import { formatted } from './formats.ts';
import { piecesOf, type Reference, referencesIn, templateOf } from './references.ts';
import type { Scope } from './scope.ts';

const number = /^-?(?:\d{1,64}(?:\.\d{0,64})?|\.\d{1,64})(?:[eE][+-]?\d{1,3})?$/;

const textOf = (reference: Reference, scope: Scope): string => {
  const { values } = scope.get(reference.name) ?? { values: [] };
  const [value = ''] = values;
  if (values.length !== 1)
    throw invalid('expression', `variable ${reference.name} must have one value in a formula, not ${values.length}`);
  return (
    reference.format === undefined ? value : formatted({ values, isList: false }, reference.name, reference.format)
  ).trim();
};

/** Returns a formula with its variables replaced. Throws a `QueryError` if a value is neither a number nor a name. */
export const inFormula = (expression: string, scope: Scope): string => {
  const references = referencesIn(expression, scope);
  if (references.length === 0) return expression;
  const template = templateOf(expression, references, (before) =>
    /(?:^|[^\w.])[\d.]{1,64}$/.test(before.slice(-64)) ? '1' : 'v',
  );
  let text = '';
  let from = 0;
  for (const { start, end } of formulaWords(template.text).map(({ at, text }) => ({
    start: at,
    end: at + text.length,
  }))) {
    const pieces = piecesOf(template, start, end);
    const first = pieces.find((piece) => typeof piece !== 'string');
    if (first === undefined) continue;
    const word = pieces.map((piece) => (typeof piece === 'string' ? piece : textOf(piece, scope))).join('');
    if (!number.test(word) && !/^[A-Za-z_]\w*$/.test(word))
      throw invalid('expression', `variable ${(first as Reference).name} must be a number in a formula`);
    text += template.text.slice(from, start) + (word.startsWith('-') ? `(${word})` : word);
    from = end;
  }
  return text + template.text.slice(from);
};
