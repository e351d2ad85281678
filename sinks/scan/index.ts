import type { Scanner } from './scanner.ts';

/** The scanners by their sinks' names. A thread loads those that it uses, and no sink's definition. */
export const scanners = {
  logs: async () => (await import('./log-scanner.ts')).logScanner(),
  metrics: async () => (await import('./metric-scanner.ts')).metricScanner(),
  traces: async () => (await import('./span-scanner.ts')).spanScanner(),
  'dead-letters': async () => (await import('./dead-letter-scanner.ts')).deadLetterScanner(),
  usage: async () => (await import('./usage-report-scanner.ts')).usageReportScanner(),
  'evidence-heads': async () => (await import('./evidence-head-scanner.ts')).evidenceHeadScanner(),
} as const satisfies Readonly<Record<string, () => Promise<Scanner>>>;

export type ScannerName = keyof typeof scanners;
