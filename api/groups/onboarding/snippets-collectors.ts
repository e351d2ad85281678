import { dedent } from '../../../schemas/text.ts';
import { createCollectorHelmFiles } from '../../../subjects/instrumentation/manifests.ts';
import { createShellFile, createYamlFile, keyPlaceholder, type Snippet } from './snippet.ts';

const allSignals = ['logs', 'metrics', 'traces'] as const;

/** Snippets for collectors, agents and a plain shell. */
export const collectorSnippets: readonly Snippet[] = [
  {
    id: 'collector',
    title: 'OpenTelemetry Collector',
    kind: 'collector',
    signals: allSignals,
    pieces: ({ otlpHttp }) => [
      createYamlFile(
        'config.yaml',
        `
        receivers:
          otlp:
            protocols:
              grpc: { endpoint: localhost:4317 }
              http: { endpoint: localhost:4318 }
        exporters:
          otlphttp/oiq: # newer collectors also call it otlp_http
            endpoint: ${otlpHttp}
            headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
        service:
          pipelines:
            logs: { receivers: [otlp], exporters: [otlphttp/oiq] }
            metrics: { receivers: [otlp], exporters: [otlphttp/oiq] }
            traces: { receivers: [otlp], exporters: [otlphttp/oiq] }
        `,
      ),
      createShellFile('run', `OIQ_LICENSE_KEY=${keyPlaceholder} otelcol-contrib --config config.yaml`),
    ],
  },
  {
    id: 'kubernetes',
    title: 'Kubernetes',
    kind: 'collector',
    signals: allSignals,
    pieces: ({ otlpHttp }) =>
      createCollectorHelmFiles(otlpHttp).map((file) => ({ ...file, text: file.text.trimEnd() })),
  },
  {
    id: 'prometheus',
    title: 'Prometheus remote-write',
    kind: 'agent',
    signals: ['metrics'],
    pieces: ({ remoteWrite }) => [
      createYamlFile(
        'prometheus.yml',
        `
        remote_write:
          - url: ${remoteWrite}
            headers: { X-License-Key: ${keyPlaceholder} }
        `,
      ),
    ],
  },
  {
    id: 'loki',
    title: 'Loki push (Grafana Alloy, Promtail)',
    kind: 'agent',
    signals: ['logs'],
    pieces: ({ loki }) => [
      {
        name: 'config.alloy',
        language: 'alloy',
        text: dedent(`
          loki.write "oiq" {
            endpoint {
              url     = "${loki}"
              headers = { "X-License-Key" = "${keyPlaceholder}" }
            }
          }
        `),
      },
      createYamlFile(
        'promtail.yaml',
        `
        clients:
          - url: ${loki}
            basic_auth: { username: oiq, password: ${keyPlaceholder} }
        `,
      ),
    ],
  },
  {
    id: 'zipkin',
    title: 'Zipkin',
    kind: 'agent',
    signals: ['traces'],
    pieces: ({ zipkin }) => [
      {
        name: 'tracer.js',
        language: 'javascript',
        text: dedent(`
          const { BatchRecorder, jsonEncoder } = require('zipkin');
          const { HttpLogger } = require('zipkin-transport-http');

          const recorder = new BatchRecorder({
            logger: new HttpLogger({
              endpoint: '${zipkin}',
              jsonEncoder: jsonEncoder.JSON_V2,
              headers: { 'X-License-Key': '${keyPlaceholder}' },
            }),
          });
        `),
      },
    ],
  },
  {
    id: 'fluent-bit',
    title: 'Fluent Bit',
    kind: 'agent',
    signals: ['logs'],
    pieces: ({ otlpHttp }) => {
      const { hostname, port, protocol, pathname } = new URL(otlpHttp);
      const usesTls = protocol === 'https:';
      return [
        createYamlFile(
          'fluent-bit.yaml',
          `
          pipeline:
            inputs:
              - name: tail
                path: /var/log/app/*.log
            outputs:
              - name: opentelemetry
                match: '*'
                host: ${hostname}
                port: ${port || (usesTls ? '443' : '80')}
                tls: ${usesTls ? 'on' : 'off'}
                logs_uri: ${pathname}/v1/logs
                header: x-license-key ${keyPlaceholder}
          `,
        ),
      ];
    },
  },
  {
    id: 'vector',
    title: 'Vector',
    kind: 'agent',
    signals: ['logs', 'traces'],
    pieces: ({ otlpHttp }) => [
      createYamlFile(
        'vector.yaml',
        `
        sources: # Vector 0.51 or newer
          applications:
            type: opentelemetry
            grpc: { address: 127.0.0.1:4317 }
            http: { address: 127.0.0.1:4318 }
            use_otlp_decoding: true
        sinks:
          oiq_logs:
            type: opentelemetry
            inputs: [applications.logs]
            protocol:
              type: http
              uri: ${otlpHttp}/v1/logs
              encoding: { codec: otlp }
              request: { headers: { x-license-key: ${keyPlaceholder} } }
          oiq_traces:
            type: opentelemetry
            inputs: [applications.traces]
            protocol:
              type: http
              uri: ${otlpHttp}/v1/traces
              encoding: { codec: otlp }
              request: { headers: { x-license-key: ${keyPlaceholder} } }
        `,
      ),
    ],
  },
  {
    id: 'curl',
    title: 'curl',
    kind: 'shell',
    signals: ['logs'],
    pieces: ({ otlpHttp }) => [
      createShellFile(
        'send one log record',
        `
        curl -sS ${otlpHttp}/v1/logs \\
          -H 'x-license-key: ${keyPlaceholder}' -H 'content-type: application/json' \\
          -d '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"my-service"}}]},
            "scopeLogs":[{"logRecords":[{"timeUnixNano":"'"$(date +%s)"'000000000","severityNumber":9,
              "severityText":"INFO","body":{"stringValue":"hello from curl"}}]}]}]}'
        `,
      ),
    ],
  },
];
