/** Severity levels, which determine colors; a text always accompanies the color */
const levels: readonly (readonly [level: string, names: RegExp])[] = [
  ['fatal', /^(?:fatal|crit|emerg|alert|panic)/i],
  ['error', /^err/i],
  ['warn', /^warn/i],
  ['info', /^(?:info|notice)/i],
  ['debug', /^(?:debug|trace|verbose)/i],
];

export const toSeverityLevel = (severity: string | null): string =>
  levels.find(([, names]) => names.test(severity ?? ''))?.[0] ?? 'none';
