/**
 * Matching with the regular expressions of dashboards. Only simple expressions are run, because an expression of
 * another user must not block the page.
 */

/** Literal characters, alternatives and repetitions, but no repeated groups */
const safePattern = /^(?:[\w \-:/,%|^$()]|\\[.\-/()[\]{}+*?|^$dws]|\.[*+]?)*$/;

/** Returns whether a pattern matches a text; a pattern that is not simple never matches. */
export const isMatch = (pattern: string, text: string): boolean => {
  const repetitionCount = pattern.match(/[^\\][*+]/g)?.length ?? 0;
  if (repetitionCount > 2 || text.length > 256 || !safePattern.test(pattern)) return false;
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return false;
  }
};
