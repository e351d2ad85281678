/** Structured logs: one JSON line each on standard error, and also OTLP/gRPC when a target is set. */
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { destination, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogProvider } from '../../schemas/ports/log.ts';
import type { ExportTarget } from './export-target.ts';

type Level = 'info' | 'warn' | 'error';
const severity: Readonly<Record<Level, number>> = { info: 9, warn: 13, error: 17 };

const exporterTroubles = (report: (trouble: string) => void): DiagLogger => {
  const ignore = (): void => undefined;
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
};

export const logProvider = async (
  level: string,
  target: ExportTarget | undefined,
  instance: string,
): Promise<LogProvider> => {
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    destination({ fd: 2, sync: true }),
  );
  const provider = target && (await import('./exporters.ts')).loggerProvider(target, instance);
  // Failures of the exporters are logged here and not exported, which would cause an endless loop.
  if (target !== undefined)
    diag.setLogger(
      exporterTroubles((trouble) => lines.warn({ trouble }, 'own telemetry')),
      DiagLogLevel.WARN,
    );
  const exported = provider?.getLogger('oiq');
  const write =
    (name: Level) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      lines[name](fields, message);
      if (exported === undefined || !lines.isLevelEnabled(name)) return;
      const attributes: Record<string, string> = {};
      for (const [key, value] of Object.entries(fields))
        attributes[key] = value instanceof Error ? value.message : String(value);
      exported.emit({ severityNumber: severity[name], severityText: name.toUpperCase(), body: message, attributes });
    };
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    async close() {
      await provider?.shutdown();
    },
  };
};
