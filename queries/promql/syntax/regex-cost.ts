const repetitionPattern = /\{(\d+)(?:,(\d*))?\}/g;
/** Maximum that RE2 accepts. */
const maxRepetitions = 1_000;
/** A Unicode class has about a hundred ranges; case-insensitive ranges are read character by character. */
const classCost = 100;
const foldedClassCost = 400;
const foldedRangeCost = 10_000;

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

const estimateRepetitionCost = (source: string): number => {
  const counts = [...source.matchAll(repetitionPattern)].map(([, min, max]) => Math.max(1, Number(max || min)));
  if (!source.includes('){')) return source.length + counts.reduce((sum, count) => sum + count, 0);
  return source.length * counts.reduce((product, count) => Math.min(maxRepetitions, product * count), 1);
};

/**
 * Estimates the number of instructions of a compiled RE2 expression from its text, without compiling it. The estimate
 * is never much too low.
 */
export const estimateRegexCost = (source: string): number => {
  const isFolded = /\(\?[a-zA-Z]*i/.test(source);
  const totalClassCost = countMatches(source, /\\[pP]/g) * (isFolded ? foldedClassCost : classCost);
  const totalRangeCost = isFolded ? countMatches(source, /-(?:\\x|[^\0-\x7f])/g) * foldedRangeCost : 0;
  return estimateRepetitionCost(source) + totalClassCost + totalRangeCost;
};
