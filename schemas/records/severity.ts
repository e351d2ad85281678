import { removeEscapeSequences } from '../escape-sequences.ts';

/** OpenTelemetry's short names of severity numbers, by number; empty for 0. */
export const severityNames: readonly string[] = [
  '',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => [
    name,
    ...[2, 3, 4].map((step) => `${name}${step}`),
  ]),
];

/** Returns the sender's text, or else the short name of the number; empty without both. */
export const getSeverityText = (text: string, number: number): string =>
  text === '' ? (severityNames[number] ?? '') : text;

const shortNames = severityNames.flatMap((name, number) =>
  number === 0 ? [] : [[name.toLowerCase(), number] as const],
);

/**
 * OpenTelemetry's numbers for lowercase severity texts that senders use without a number. The numbers for syslog
 * severities follow OpenTelemetry's data model.
 */
export const severityNumbers: ReadonlyMap<string, number> = new Map([
  ...shortNames,
  ['informational', 9],
  ['information', 9],
  ['notice', 10],
  ['warning', 13],
  ['err', 17],
  ['critical', 18],
  ['crit', 18],
  ['alert', 19],
  ['emergency', 21],
  ['emerg', 21],
  ['panic', 21],
]);

const parseSeverityText = (text: string): number => severityNumbers.get(removeEscapeSequences(text).toLowerCase()) ?? 0;

/**
 * Returns the severity number of a log record: its own, or else the number for its text; 0 without both. All components
 * use this function.
 */
export const getSeverityNumber = (record: {
  readonly severityNumber: number;
  readonly severityText: string;
}): number => {
  const { severityNumber } = record;
  // The text is decoded only on demand.
  return severityNumber > 0 ? severityNumber : parseSeverityText(record.severityText);
};

/** Minimum severity number of an error. */
export const errorSeverity = 17;
