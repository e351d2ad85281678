/** Colors of services and series: derived from the name, so that a thing has the same color in every view */
import { toSeverityLevel } from './severity.ts';

/** Number of colors of the design tokens */
export const colorCount = 12;

/** Returns the number of the color of a name, from 1. */
const hashName = (name: string): number => {
  let hash = 2_166_136_261;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return ((hash >>> 0) % colorCount) + 1;
};

/** Returns the CSS class that sets `--series` to the color of a service. */
export const toColorClass = (name: string): string => `series-${hashName(name)}`;

/**
 * Returns a CSS class for each series of a chart. Severities have their colors. Others have the color of their name, and
 * the next free one if an earlier series has it.
 */
export const assignColorClasses = (names: readonly string[]): readonly string[] => {
  const levels = names.map(toSeverityLevel);
  if (!levels.includes('none')) return levels.map((level) => `level-${level}`);
  const used = new Set<number>();
  return names.map((name) => {
    let color = hashName(name);
    if (used.size < colorCount) while (used.has(color)) color = (color % colorCount) + 1;
    used.add(color);
    return `series-${color}`;
  });
};
