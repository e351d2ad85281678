/** Severity levels, which determine colors; a text always accompanies the color */
import type { Tone } from '../components/badge.tsx';

const levels: readonly (readonly [level: string, names: RegExp])[] = [
  ['fatal', /^(?:fatal|crit|emerg|alert|panic)/i],
  ['error', /^err/i],
  ['warn', /^warn/i],
  ['info', /^(?:info|notice)/i],
  ['debug', /^(?:debug|trace|verbose)/i],
];

const tones: Readonly<Record<string, Tone>> = { fatal: 'critical', error: 'critical', warn: 'warning', info: 'info' };

/** Security severities, which are not levels of logs */
const securityTones: Readonly<Record<string, Tone>> = { critical: 'critical', high: 'warning', medium: 'info' };

export const toSeverityLevel = (severity: string | null): string =>
  levels.find(([, names]) => names.test(severity ?? ''))?.[0] ?? 'none';

/** Returns the tone of a badge for a severity of logs, alerts or security signals. */
export const toSeverityTone = (severity: string | null): Tone =>
  securityTones[severity ?? ''] ?? tones[toSeverityLevel(severity)] ?? 'neutral';
