/** Severity levels for colors, which the name always accompanies */
const levels: readonly (readonly [level: string, names: RegExp])[] = [
  ['fatal', /^(?:fatal|crit|emerg|alert|panic)/i],
  ['error', /^err/i],
  ['warn', /^warn/i],
  ['info', /^(?:info|notice)/i],
  ['debug', /^(?:debug|trace|verbose)/i],
];

export const levelOf = (severity: string | null): string =>
  levels.find(([, names]) => names.test(severity ?? ''))?.[0] ?? 'none';
