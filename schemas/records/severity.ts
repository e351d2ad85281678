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
