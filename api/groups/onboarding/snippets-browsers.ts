import { dedent } from '../../../schemas/text.ts';
import { createShellFile, type Snippet } from './snippet.ts';

/** Placeholder for the browser key, where an organization has none. */
export const browserKeyPlaceholder = 'YOUR_BROWSER_KEY';

export const applicationPlaceholder = 'YOUR_APPLICATION';

/** Snippets for pages, which send with a browser key. */
export const browserSnippets: readonly Snippet[] = [
  {
    id: 'browser',
    title: 'Web page',
    kind: 'browser',
    signals: ['logs', 'traces'],
    pieces: ({ browsers }) => [
      {
        name: 'in the head of each page',
        language: 'html',
        text: `<script async src="${browsers}/oiq.js" data-key="${browserKeyPlaceholder}" data-release="1.0.0"></script>`,
      },
    ],
  },
  {
    id: 'browser-opentelemetry',
    title: 'Web page with OpenTelemetry',
    kind: 'browser',
    signals: ['logs', 'traces'],
    pieces: ({ browsers }) => [
      createShellFile(
        'install',
        `
        npm install @opentelemetry/api @opentelemetry/sdk-trace-web @opentelemetry/exporter-trace-otlp-http \\
          @opentelemetry/instrumentation @opentelemetry/instrumentation-document-load @opentelemetry/instrumentation-fetch
        `,
      ),
      {
        name: 'telemetry.js',
        language: 'javascript',
        text: dedent(`
          import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
          import { registerInstrumentations } from '@opentelemetry/instrumentation';
          import { DocumentLoadInstrumentation } from '@opentelemetry/instrumentation-document-load';
          import { FetchInstrumentation } from '@opentelemetry/instrumentation-fetch';
          import { BatchSpanProcessor, WebTracerProvider } from '@opentelemetry/sdk-trace-web';

          const exporter = new OTLPTraceExporter({ url: '${browsers}/${browserKeyPlaceholder}/v1/traces' });
          new WebTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
          registerInstrumentations({
            instrumentations: [new DocumentLoadInstrumentation(), new FetchInstrumentation()],
          });
        `),
      },
    ],
  },
  {
    id: 'browser-faro',
    title: 'Web page with Grafana Faro',
    kind: 'browser',
    signals: ['logs', 'traces'],
    pieces: ({ browsers }) => [
      createShellFile('install', 'npm install @grafana/faro-web-sdk @grafana/faro-web-tracing'),
      {
        name: 'telemetry.js',
        language: 'javascript',
        text: dedent(`
          import { getWebInstrumentations, initializeFaro } from '@grafana/faro-web-sdk';
          import { TracingInstrumentation } from '@grafana/faro-web-tracing';

          initializeFaro({
            url: '${browsers}/${browserKeyPlaceholder}/faro',
            app: { name: '${applicationPlaceholder}', version: '1.0.0' },
            instrumentations: [...getWebInstrumentations(), new TracingInstrumentation()],
          });
        `),
      },
    ],
  },
  {
    id: 'browser-hyperdx',
    title: 'Web page with HyperDX',
    kind: 'browser',
    signals: ['logs', 'traces'],
    pieces: ({ browsers }) => [
      createShellFile('install', 'npm install @hyperdx/browser'),
      {
        name: 'telemetry.js',
        language: 'javascript',
        text: dedent(`
          import HyperDX from '@hyperdx/browser';

          HyperDX.init({
            url: '${browsers}/${browserKeyPlaceholder}',
            tracesUrl: '${browsers}/${browserKeyPlaceholder}/v1/traces',
            logsUrl: '${browsers}/${browserKeyPlaceholder}/v1/logs',
            apiKey: 'none',
            service: '${applicationPlaceholder}',
          });
        `),
      },
    ],
  },
  {
    id: 'browser-splunk',
    title: 'Web page with Splunk RUM',
    kind: 'browser',
    signals: ['logs', 'traces'],
    pieces: ({ browsers }) => [
      createShellFile('install', 'npm install @splunk/otel-web'),
      {
        name: 'telemetry.js',
        language: 'javascript',
        text: dedent(`
          import { SplunkRum } from '@splunk/otel-web';

          SplunkRum.init({
            beaconEndpoint: '${browsers}/${browserKeyPlaceholder}/v1/traces',
            exporter: { otlp: true },
            rumAccessToken: 'none',
            applicationName: '${applicationPlaceholder}',
            version: '1.0.0',
          });
        `),
      },
    ],
  },
];
