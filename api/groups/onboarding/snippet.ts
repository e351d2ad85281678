import type { Signal } from '../../../schemas/telemetry-signals.ts';
import { dedent } from '../../../schemas/text.ts';
import type { Endpoints } from './endpoints.ts';

/** Placeholder for the license key: a key is shown only once, when it is created. */
export const keyPlaceholder = 'YOUR_LICENSE_KEY';

/** One part of a snippet, to be pasted: a file, or shell commands. */
export interface SnippetFile {
  readonly name: string;
  readonly language: 'shell' | 'yaml' | 'javascript' | 'python' | 'go' | 'csharp' | 'ruby' | 'php' | 'alloy' | 'html';
  readonly text: string;
}

export const snippetKinds = ['language', 'browser', 'collector', 'agent', 'shell'] as const;

/** Instrumentation for one language, page, collector or agent. */
export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly kind: (typeof snippetKinds)[number];
  readonly signals: readonly Signal[];
  pieces(endpoints: Endpoints): readonly SnippetFile[];
}

/** The variables that every OpenTelemetry SDK reads. */
export const createSdkEnvironment = ({ otlpHttp }: Endpoints, extraLines = ''): SnippetFile => ({
  name: 'environment',
  language: 'shell',
  text: `${dedent(`
    export OTEL_SERVICE_NAME=my-service
    export OTEL_EXPORTER_OTLP_ENDPOINT=${otlpHttp}
    export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
    export OTEL_EXPORTER_OTLP_HEADERS=x-license-key=${keyPlaceholder}
    export OTEL_TRACES_EXPORTER=otlp
    export OTEL_METRICS_EXPORTER=otlp
    export OTEL_LOGS_EXPORTER=otlp
  `)}${extraLines === '' ? '' : `\n${extraLines}`}`,
});

export const createShellFile = (name: string, text: string): SnippetFile => ({
  name,
  language: 'shell',
  text: dedent(text),
});
export const createYamlFile = (name: string, text: string): SnippetFile => ({
  name,
  language: 'yaml',
  text: dedent(text),
});
