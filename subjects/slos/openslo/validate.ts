import { SloFields } from '../document.ts';
import { findSloProblems } from '../problems.ts';
import type { Fields } from './objects.ts';

/** Returns an SLO from parsed fields; `undefined` if its form is invalid. Errors are reported in `fields`. */
export const validateSlo = (input: object, fields: Fields): SloFields | undefined => {
  const { success, data, error } = SloFields.safeParse(input);
  const problems = success
    ? findSloProblems(data)
    : error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  for (const { path, message } of problems) fields.fail('', `as an SLO: ${path} ${message}`);
  return data;
};
