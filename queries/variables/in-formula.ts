/** Replaces variables in formulas. A value must be a number or the name of a query. */
import { createValidationError } from '../errors.ts';
import { tokenizeFormula } from '../formula/parse.ts';
import { formatValue } from './formats.ts';
import { createTemplate, findReferences, type Reference, splitTemplate } from './references.ts';
import type { Scope } from './scope.ts';

const numberPattern = /^-?(?:\d{1,64}(?:\.\d{0,64})?|\.\d{1,64})(?:[eE][+-]?\d{1,3})?$/;

const getValueText = (reference: Reference, scope: Scope): string => {
  const { values } = scope.get(reference.name) ?? { values: [] };
  const [value = ''] = values;
  if (values.length !== 1)
    throw createValidationError(
      'expression',
      `variable ${reference.name} must have one value in a formula, not ${values.length}`,
    );
  return (
    reference.format === undefined ? value : formatValue({ values, isList: false }, reference.name, reference.format)
  ).trim();
};

/** Returns a formula with its variables replaced. Throws a `QueryError` if a value is neither a number nor a name. */
export const replaceInFormula = (expression: string, scope: Scope): string => {
  const references = findReferences(expression, scope);
  if (references.length === 0) return expression;
  const template = createTemplate(expression, references, (textBefore) =>
    /(?:^|[^\w.])[\d.]{1,64}$/.test(textBefore.slice(-64)) ? '1' : 'v',
  );
  let text = '';
  let from = 0;
  for (const { start, end } of tokenizeFormula(template.text).map(({ offset, text }) => ({
    start: offset,
    end: offset + text.length,
  }))) {
    const parts = splitTemplate(template, start, end);
    const firstReference = parts.find((piece) => typeof piece !== 'string');
    if (firstReference === undefined) continue;
    const word = parts.map((piece) => (typeof piece === 'string' ? piece : getValueText(piece, scope))).join('');
    if (!numberPattern.test(word) && !/^[A-Za-z_]\w*$/.test(word))
      throw createValidationError(
        'expression',
        `variable ${(firstReference as Reference).name} must be a number in a formula`,
      );
    text += template.text.slice(from, start) + (word.startsWith('-') ? `(${word})` : word);
    from = end;
  }
  return text + template.text.slice(from);
};
