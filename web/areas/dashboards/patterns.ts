/** Patterns of dashboards, as far as this browser may run them: somebody else's expression must not stop the page. */

/** Plain characters, alternatives, and at most two that repeat, none of them a group. */
const simple = /^(?:[\w \-:/,%|^$()]|\\[.\-/()[\]{}+*?|^$dws]|\.[*+]?)*$/;

/** Whether a pattern matches a text; one that is not simple matches nothing. */
export const isMatch = (pattern: string, text: string): boolean => {
  const repeats = pattern.match(/[^\\][*+]/g)?.length ?? 0;
  if (repeats > 2 || text.length > 256 || !simple.test(pattern)) return false;
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return false;
  }
};
