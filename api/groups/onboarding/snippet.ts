import type { Signal } from '../../../schemas/telemetry-signals.ts';
import type { Endpoints } from './endpoints.ts';

/** Placeholder for the license key: a key is shown only once, when it is created. */
export const keyPlaceholder = 'YOUR_LICENSE_KEY';

/** One piece to paste: a file, or lines for a shell. */
export interface Piece {
  readonly name: string;
  readonly language: 'shell' | 'yaml' | 'javascript' | 'python' | 'go' | 'csharp' | 'ruby' | 'php' | 'alloy';
  readonly text: string;
}

/** Instrumentation for one language, collector or agent. */
export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly kind: 'language' | 'collector' | 'agent' | 'shell';
  readonly signals: readonly Signal[];
  pieces(endpoints: Endpoints): readonly Piece[];
}

/** Lines of a template without its common indentation. */
export const lines = (text: string): string => {
  const all = text.replace(/^\n/, '').trimEnd().split('\n');
  const indent = Math.min(...all.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return all.map((line) => line.slice(indent)).join('\n');
};

/** The variables that every OpenTelemetry SDK reads. */
export const sdkEnvironment = ({ otlpHttp }: Endpoints, more = ''): Piece => ({
  name: 'environment',
  language: 'shell',
  text: `${lines(`
    export OTEL_SERVICE_NAME=my-service
    export OTEL_EXPORTER_OTLP_ENDPOINT=${otlpHttp}
    export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
    export OTEL_EXPORTER_OTLP_HEADERS=x-license-key=${keyPlaceholder}
    export OTEL_TRACES_EXPORTER=otlp
    export OTEL_METRICS_EXPORTER=otlp
    export OTEL_LOGS_EXPORTER=otlp
  `)}${more === '' ? '' : `\n${more}`}`,
});

export const shell = (name: string, text: string): Piece => ({ name, language: 'shell', text: lines(text) });
export const yaml = (name: string, text: string): Piece => ({ name, language: 'yaml', text: lines(text) });
