/** Structured logs: one JSON line each on standard error, and also OTLP/gRPC when a target is set. */
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { destination, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogProvider } from '../../schemas/ports/log.ts';
import type { ExportTarget } from './export-target.ts';

type Level = 'info' | 'warn' | 'error';
const severityNumbers: Readonly<Record<Level, number>> = { info: 9, warn: 13, error: 17 };

const createDiagLogger = (report: (diagnostic: string) => void): DiagLogger => {
  const ignore = (): void => undefined;
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
};

export const createLogProvider = async (
  level: string,
  target: ExportTarget | undefined,
  instance: string,
): Promise<LogProvider> => {
  const stderrLogger = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    destination({ fd: 2, sync: true }),
  );
  const provider = target && (await import('./exporters.ts')).createLoggerProvider(target, instance);
  // Failures of the exporters are logged here and not exported, which would cause an endless loop.
  if (target !== undefined)
    diag.setLogger(
      createDiagLogger((diagnostic) => stderrLogger.warn({ diagnostic }, 'own telemetry')),
      DiagLogLevel.WARN,
    );
  const otlpLogger = provider?.getLogger('oiq');
  const write =
    (name: Level) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      stderrLogger[name](fields, message);
      if (otlpLogger === undefined || !stderrLogger.isLevelEnabled(name)) return;
      const attributes: Record<string, string> = {};
      for (const [key, value] of Object.entries(fields))
        attributes[key] = value instanceof Error ? value.message : String(value);
      otlpLogger.emit({
        severityNumber: severityNumbers[name],
        severityText: name.toUpperCase(),
        body: message,
        attributes,
      });
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
