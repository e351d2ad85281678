/** Scores of CVSS vectors, recomputed: reports contain wrong and missing ones. */
import { createRequire } from 'node:module';

// Its bundle is a CommonJS module whose exports Node.js cannot list.
const { Cvss2, Cvss3P0, Cvss3P1, Cvss4P0 } = createRequire(import.meta.url)(
  'ae-cvss-calculator',
) as typeof import('ae-cvss-calculator');

const parseVector = (text: string) => {
  if (text.startsWith('CVSS:4.0/')) return new Cvss4P0(text);
  if (text.startsWith('CVSS:3.1/')) return new Cvss3P1(text);
  return text.startsWith('CVSS:3.0/') ? new Cvss3P0(text) : new Cvss2(text);
};

/** Scores by vector: few vectors are distinct. */
const scores = new Map<string, number | undefined>();
const maxCachedScores = 20_000;

/** Returns the base score of a vector of CVSS 2, 3.0, 3.1 or 4; undefined if the vector is invalid. */
export const computeCvssScore = (vector: string): number | undefined => {
  if (scores.has(vector)) return scores.get(vector);
  const score = computeScore(vector);
  if (scores.size >= maxCachedScores) scores.clear();
  scores.set(vector, score);
  return score;
};

const computeScore = (vector: string): number | undefined => {
  const text = vector.trim().replace(/^\((.*)\)$/, '$1');
  try {
    const parsed = parseVector(text);
    if (!parsed.isBaseFullyDefined()) return undefined;
    const scores = parsed.calculateScores(false);
    return 'threat' in scores ? scores.overall : scores.base;
  } catch {
    return undefined;
  }
};
