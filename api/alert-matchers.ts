/** Validates matchers that mute alerts: those of silences and of maintenance windows. */
import type { Matcher } from '../schemas/resources/alert-routing.ts';
import { findMatcherProblem, selectEmptyValuesOnly } from '../subjects/alerts/routing/matchers.ts';
import { createFieldError } from './errors.ts';

/**
 * Rejects invalid expressions, and matchers that would mute every alert of the organization, with advice on what to do.
 * `isRestricted`: something else selects the alerts too.
 */
export const validateMatchers = (
  matchers: readonly Matcher[],
  { isRestricted, advice }: { readonly isRestricted: boolean; readonly advice: string },
): void => {
  for (const [index, matcher] of matchers.entries()) {
    const problem = findMatcherProblem(matcher);
    if (problem !== undefined) throw createFieldError(`matchers.${index}.value`, problem);
  }
  if (!isRestricted && selectEmptyValuesOnly(matchers))
    throw createFieldError('matchers', `all match an empty value, so they would mute everything: ${advice}`);
};
