/** OpenTelemetry's short names of severity numbers, by number; empty for 0. */
export const severityNames: readonly string[] = [
  '',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => [
    name,
    ...[2, 3, 4].map((step) => `${name}${step}`),
  ]),
];

/** The text that the sender gave, else the short name of the number; empty without both. */
export const severityOf = (text: string, number: number): string =>
  text === '' ? (severityNames[number] ?? '') : text;

const shortNames = severityNames.flatMap((name, number) =>
  number === 0 ? [] : [[name.toLowerCase(), number] as const],
);

/** OpenTelemetry's numbers of texts that senders give instead of one, in lower case; those of syslog as its data model maps them. */
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

/** Number of a log record's severity: its own, or that of its text where it has none; 0 where neither says one. Every part goes by it. */
export const severityNumberOf = (record: {
  readonly severityNumber: number;
  readonly severityText: string;
}): number => {
  const { severityNumber } = record;
  // The text is decoded where it is asked for alone.
  return severityNumber > 0 ? severityNumber : (severityNumbers.get(record.severityText.toLowerCase()) ?? 0);
};

/** The number from which on a record is an error. */
export const errorSeverity = 17;
