/** Labels that the panels of a dashboard group by: without them, the series of a snapshot cannot be distinguished */
import type { Panel } from './calls.ts';

/** Reads the labels of `by (…)` in a PromQL expression. */
const readPromqlLabels = (expression: string): string[] =>
  expression
    .split(/\bby\b/)
    .slice(1)
    .map((rest) => rest.trimStart())
    .filter((rest) => rest.startsWith('('))
    .flatMap((rest) => rest.slice(1, Math.max(1, rest.indexOf(')'))).split(','))
    .map((label) => label.trim());

const readLabels = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(readLabels);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    if (name === 'groupBy' && Array.isArray(part)) return part.filter((label) => typeof label === 'string');
    if (name === 'expression' && typeof part === 'string') return readPromqlLabels(part);
    return readLabels(part);
  });
};

/** Returns the labels in the order of their first use. */
export const listPanelLabels = (panels: readonly Panel[]): readonly string[] => [
  ...new Set(
    readLabels(panels.map((panel) => ('queries' in panel ? panel.queries : []))).filter((label) => label !== ''),
  ),
];
