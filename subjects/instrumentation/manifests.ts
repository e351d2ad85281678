/** Installation manifests of agents, with the endpoint of this installation and the license key as a reference to a secret */
import { z } from 'zod';
import { dedent } from '../../schemas/text.ts';

export const manifestAgents = ['obi', 'collector', 'agentsight'] as const;
export const manifestFormats = ['kubernetes', 'helm', 'compose', 'systemd'] as const;
type ManifestAgent = (typeof manifestAgents)[number];
type ManifestFormat = (typeof manifestFormats)[number];

export const Manifest = z.strictObject({
  agent: z.enum(manifestAgents),
  format: z.enum(manifestFormats),
  keyPlaceholder: z.string().describe('Placeholder for the license key in the files'),
  files: z.array(z.strictObject({ name: z.string(), language: z.enum(['yaml', 'shell', 'ini']), text: z.string() })),
  privileges: z.array(z.string()).describe('Rights that the agent needs'),
  sees: z.array(z.string()),
  doesNotSee: z.array(z.string()),
});
export type Manifest = z.output<typeof Manifest>;

interface ManifestFile<Language extends Manifest['files'][number]['language'] = Manifest['files'][number]['language']> {
  readonly name: string;
  readonly language: Language;
  readonly text: string;
}
type CreateFiles = (endpoint: string) => readonly ManifestFile[];

const yaml = (name: string, text: string): ManifestFile<'yaml'> => ({
  name,
  language: 'yaml',
  text: `${dedent(text)}\n`,
});
const shell = (name: string, text: string): ManifestFile<'shell'> => ({
  name,
  language: 'shell',
  text: `${dedent(text)}\n`,
});
const ini = (name: string, text: string): ManifestFile<'ini'> => ({ name, language: 'ini', text: `${dedent(text)}\n` });

/** Placeholder for the license key: a key is shown only once, when it is created. */
export const keyPlaceholder = 'YOUR_LICENSE_KEY';

const kubernetesSecret = shell(
  'secret',
  `kubectl create secret generic oiq --from-literal=license-key=${keyPlaceholder}`,
);
const environmentFile = (path: string): ManifestFile =>
  shell('secret', `install -m 600 /dev/null ${path} && echo 'OIQ_LICENSE_KEY=${keyPlaceholder}' > ${path}`);

const obiCapabilities = [
  'BPF',
  'PERFMON',
  'SYS_PTRACE',
  'DAC_READ_SEARCH',
  'NET_RAW',
  'CHECKPOINT_RESTORE',
  'SYS_ADMIN',
] as const;

const obiKubernetes: CreateFiles = (endpoint) => [
  kubernetesSecret,
  yaml(
    'obi.yaml',
    `
    apiVersion: v1
    kind: ServiceAccount
    metadata: { name: obi }
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    metadata: { name: obi }
    rules:
      - { apiGroups: [""], resources: [pods, services, nodes], verbs: [list, watch] }
      - { apiGroups: [apps], resources: [replicasets], verbs: [list, watch] }
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRoleBinding
    metadata: { name: obi }
    roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: obi }
    subjects: [{ kind: ServiceAccount, name: obi, namespace: default }]
    ---
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: { name: obi, labels: { app: obi } }
    spec:
      selector: { matchLabels: { app: obi } }
      template:
        metadata: { labels: { app: obi } }
        spec:
          serviceAccountName: obi
          hostPID: true
          containers:
            - name: obi
              image: otel/ebpf-instrument:v0.3.0
              securityContext:
                runAsUser: 0
                readOnlyRootFilesystem: true
                capabilities: { drop: [ALL], add: [${obiCapabilities.join(', ')}] }
              env:
                - { name: OTEL_EBPF_AUTO_TARGET_EXE, value: "*" }
                - { name: OTEL_EBPF_KUBE_METADATA_ENABLE, value: "true" }
                - { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "${endpoint}" }
                - { name: OTEL_EXPORTER_OTLP_PROTOCOL, value: http/protobuf }
                - name: OIQ_LICENSE_KEY
                  valueFrom: { secretKeyRef: { name: oiq, key: license-key } }
                - { name: OTEL_EXPORTER_OTLP_HEADERS, value: x-license-key=$(OIQ_LICENSE_KEY) }
              volumeMounts: [{ name: run, mountPath: /var/run/obi }]
          volumes: [{ name: run, emptyDir: {} }]
    `,
  ),
];

const obiCompose: CreateFiles = (endpoint) => [
  yaml(
    'compose.yaml',
    `
    services:
      obi:
        image: otel/ebpf-instrument:v0.3.0
        pid: host
        user: root
        cap_drop: [ALL]
        cap_add: [${obiCapabilities.join(', ')}]
        environment:
          OTEL_EBPF_AUTO_TARGET_EXE: "*"
          OTEL_EXPORTER_OTLP_ENDPOINT: ${endpoint}
          OTEL_EXPORTER_OTLP_PROTOCOL: http/protobuf
          OTEL_EXPORTER_OTLP_HEADERS: x-license-key=\${OIQ_LICENSE_KEY:?set the license key}
    `,
  ),
];

const obiSystemd: CreateFiles = (endpoint) => [
  environmentFile('/etc/oiq-obi.env'),
  ini(
    'obi.service',
    `
    [Unit]
    Description=OpenTelemetry eBPF Instrumentation
    After=network-online.target

    [Service]
    ExecStart=/bin/sh -c 'OTEL_EXPORTER_OTLP_HEADERS=x-license-key=$OIQ_LICENSE_KEY exec /usr/local/bin/obi'
    Environment=OTEL_EBPF_AUTO_TARGET_EXE=* OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
    EnvironmentFile=/etc/oiq-obi.env
    CapabilityBoundingSet=${obiCapabilities.map((name) => `CAP_${name}`).join(' ')}
    Restart=on-failure

    [Install]
    WantedBy=multi-user.target
    `,
  ),
];

/** Returns the endpoint of OpAMP over WebSockets, at the address of OTLP over HTTP. */
const toOpampEndpoint = (endpoint: string): string => `${endpoint.replace(/^http/, 'ws')}/v1/opamp`;

/** Files that install a collector in Kubernetes with its Helm chart, which *Get started* shows too */
export const createCollectorHelmFiles = (endpoint: string): readonly ManifestFile<'yaml' | 'shell'>[] => [
  kubernetesSecret,
  yaml(
    'values.yaml',
    `
    mode: daemonset
    image: { repository: otel/opentelemetry-collector-k8s }
    presets:
      logsCollection: { enabled: true }
      kubernetesAttributes: { enabled: true }
      kubeletMetrics: { enabled: true }
      hostMetrics: { enabled: true }
    extraEnvs:
      - name: OIQ_LICENSE_KEY
        valueFrom: { secretKeyRef: { name: oiq, key: license-key } }
      - name: OIQ_NODE_NAME
        valueFrom: { fieldRef: { fieldPath: spec.nodeName } }
    config:
      extensions:
        opamp:
          server:
            ws:
              endpoint: ${toOpampEndpoint(endpoint)}
              headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
          agent_description:
            non_identifying_attributes: { host.name: "\${env:OIQ_NODE_NAME}" }
          capabilities: { reports_effective_config: true, reports_health: true }
      exporters:
        otlphttp/oiq:
          endpoint: ${endpoint}
          headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
      service:
        extensions: [health_check, opamp]
        pipelines:
          logs: { exporters: [otlphttp/oiq] }
          metrics: { exporters: [otlphttp/oiq] }
          traces: { exporters: [otlphttp/oiq] }
    `,
  ),
  shell(
    'install',
    `
    helm repo add open-telemetry https://open-telemetry.github.io/opentelemetry-helm-charts
    helm install oiq open-telemetry/opentelemetry-collector --values values.yaml
    `,
  ),
];

const collectorConfig = (endpoint: string): ManifestFile =>
  yaml(
    'config.yaml',
    `
    receivers:
      otlp:
        protocols:
          grpc: { endpoint: 0.0.0.0:4317 }
          http: { endpoint: 0.0.0.0:4318 }
      hostmetrics:
        scrapers: { cpu: {}, memory: {}, filesystem: {}, disk: {}, network: {}, load: {} }
    processors:
      resourcedetection: { detectors: [env, system] }
    exporters:
      otlphttp/oiq:
        endpoint: ${endpoint}
        headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
    extensions:
      opamp:
        server:
          ws:
            endpoint: ${toOpampEndpoint(endpoint)}
            headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
        capabilities: { reports_effective_config: true, reports_health: true }
    service:
      extensions: [opamp]
      pipelines:
        logs: { receivers: [otlp], exporters: [otlphttp/oiq] }
        metrics: { receivers: [otlp, hostmetrics], processors: [resourcedetection], exporters: [otlphttp/oiq] }
        traces: { receivers: [otlp], exporters: [otlphttp/oiq] }
    `,
  );

const collectorCompose: CreateFiles = (endpoint) => [
  collectorConfig(endpoint),
  yaml(
    'compose.yaml',
    `
    services:
      collector:
        image: otel/opentelemetry-collector-contrib:0.140.0
        command: [--config=/etc/otelcol/config.yaml]
        volumes: ["./config.yaml:/etc/otelcol/config.yaml:ro"]
        environment: { OIQ_LICENSE_KEY: "\${OIQ_LICENSE_KEY:?set the license key}" }
        ports: ["4317:4317", "4318:4318"]
    `,
  ),
];

const collectorSystemd: CreateFiles = (endpoint) => [
  environmentFile('/etc/otelcol-contrib/oiq.env'),
  collectorConfig(endpoint),
  ini(
    'otelcol-contrib.service.d/oiq.conf',
    `
    [Service]
    EnvironmentFile=/etc/otelcol-contrib/oiq.env
    `,
  ),
];

const agentsightSystemd: CreateFiles = (endpoint) => [
  environmentFile('/etc/otelcol-contrib/oiq.env'),
  ini(
    'agentsight.service',
    `
    [Unit]
    Description=AgentSight

    [Service]
    ExecStart=/usr/local/bin/agentsight record --output /var/log/agentsight/events.jsonl
    LogsDirectory=agentsight
    CapabilityBoundingSet=CAP_BPF CAP_PERFMON CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_DAC_READ_SEARCH
    Restart=on-failure

    [Install]
    WantedBy=multi-user.target
    `,
  ),
  yaml(
    'config.yaml',
    `
    receivers:
      filelog: { include: [/var/log/agentsight/*.jsonl], start_at: beginning }
    processors:
      resourcedetection: { detectors: [env, system] }
    exporters:
      otlphttp/oiq:
        endpoint: ${endpoint}
        headers: { x-license-key: "\${env:OIQ_LICENSE_KEY}" }
    service:
      pipelines:
        logs: { receivers: [filelog], processors: [resourcedetection], exporters: [otlphttp/oiq] }
    `,
  ),
];

interface AgentManifests extends Pick<Manifest, 'privileges' | 'sees' | 'doesNotSee'> {
  readonly formats: Readonly<Partial<Record<ManifestFormat, CreateFiles>>>;
}

const manifests: Readonly<Record<ManifestAgent, AgentManifests>> = {
  obi: {
    formats: { kubernetes: obiKubernetes, compose: obiCompose, systemd: obiSystemd },
    privileges: [`capabilities ${obiCapabilities.join(', ')}`, 'the processes of the host'],
    sees: ['requests over HTTP, gRPC, SQL, Redis, MongoDB and Kafka of all processes', 'their duration and status'],
    doesNotSee: ['spans within a process', 'connections encrypted by rustls', 'log records'],
  },
  collector: {
    formats: { helm: createCollectorHelmFiles, compose: collectorCompose, systemd: collectorSystemd },
    privileges: ['logs of pods and the API of the kubelet, in Kubernetes'],
    sees: [
      'telemetry that services send to it',
      'its own health and configuration, over OpAMP',
      'metrics of the host',
      'logs and metrics of pods, in Kubernetes',
    ],
    doesNotSee: ['requests of services without an SDK or agent'],
  },
  agentsight: {
    formats: { systemd: agentsightSystemd },
    privileges: ['capabilities BPF, PERFMON, SYS_PTRACE, SYS_ADMIN, DAC_READ_SEARCH'],
    sees: ['prompts and responses over OpenSSL and BoringSSL', 'processes, files and connections of coding agents'],
    doesNotSee: ['TLS of statically linked rustls or aws-lc', 'macOS and Windows'],
  },
};

/** Returns the formats in which an agent can be installed. */
export const listFormats = (agent: ManifestAgent): readonly ManifestFormat[] =>
  manifestFormats.filter((format) => manifests[agent].formats[format] !== undefined);

/** Returns the manifest of an agent; undefined if it cannot be installed in that format. */
export const createManifest = (
  agent: ManifestAgent,
  format: ManifestFormat,
  endpoint: string,
): Manifest | undefined => {
  const { formats, privileges, sees, doesNotSee } = manifests[agent];
  const files = formats[format]?.(endpoint);
  return files === undefined
    ? undefined
    : { keyPlaceholder, agent, format, files: files.map((file) => ({ ...file })), privileges, sees, doesNotSee };
};
