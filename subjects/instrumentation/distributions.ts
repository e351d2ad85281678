/** How resource attributes name what instrumented a service. A new distribution is an entry. */

import { toTextOrEmpty } from '../../schemas/text.ts';

export const instrumentationKinds = ['ebpf', 'zero-code', 'sdk'] as const;
export type InstrumentationKind = (typeof instrumentationKinds)[number];

export interface Distribution {
  /** Stable name, part of the ids of agents */
  readonly name: string;
  readonly title: string;
  readonly kind: Exclude<InstrumentationKind, 'sdk'>;
  /** Values of `telemetry.distro.name` */
  readonly distros: readonly string[];
  /** Values of `telemetry.sdk.name` */
  readonly sdks: readonly string[];
}

export const distributions: readonly Distribution[] = [
  {
    name: 'obi',
    title: 'OpenTelemetry eBPF Instrumentation',
    kind: 'ebpf',
    distros: ['opentelemetry-ebpf-instrumentation'],
    sdks: ['opentelemetry-ebpf-instrumentation'],
  },
  { name: 'beyla', title: 'Grafana Beyla', kind: 'ebpf', distros: ['beyla'], sdks: ['beyla'] },
  {
    name: 'java-agent',
    title: 'OpenTelemetry Java agent',
    kind: 'zero-code',
    distros: ['opentelemetry-java-instrumentation', 'grafana-opentelemetry-java', 'splunk-otel-java'],
    sdks: [],
  },
  {
    name: 'dotnet-automatic',
    title: 'OpenTelemetry .NET automatic instrumentation',
    kind: 'zero-code',
    distros: ['opentelemetry-dotnet-instrumentation', 'splunk-otel-dotnet'],
    sdks: [],
  },
  {
    name: 'python-automatic',
    title: 'OpenTelemetry Python automatic instrumentation',
    kind: 'zero-code',
    distros: ['opentelemetry-python-instrumentation', 'opentelemetry-python-distro'],
    sdks: [],
  },
  {
    name: 'php-automatic',
    title: 'OpenTelemetry PHP automatic instrumentation',
    kind: 'zero-code',
    distros: ['opentelemetry-php-instrumentation'],
    sdks: [],
  },
  {
    name: 'elastic',
    title: 'Elastic distribution of OpenTelemetry',
    kind: 'zero-code',
    distros: ['elastic'],
    sdks: [],
  },
];

/** What instrumented the sender of a resource */
export interface Instrumentation {
  readonly kind: InstrumentationKind;
  readonly name: string;
  readonly title: string;
  /** Empty if the resource does not state one */
  readonly version: string;
}

type ResourceAttributes = Readonly<Record<string, unknown>>;

/** Returns what instrumented a resource; undefined without attributes that name an SDK, as for scraped targets. */
export const identifyInstrumentation = (attributes: ResourceAttributes): Instrumentation | undefined => {
  const [distro, sdk] = [
    toTextOrEmpty(attributes['telemetry.distro.name']),
    toTextOrEmpty(attributes['telemetry.sdk.name']),
  ];
  const distribution = distributions.find(({ distros, sdks }) => distros.includes(distro) || sdks.includes(sdk));
  if (distribution !== undefined) {
    const version =
      toTextOrEmpty(attributes['telemetry.distro.version']) || toTextOrEmpty(attributes['telemetry.sdk.version']);
    return { kind: distribution.kind, name: distribution.name, title: distribution.title, version };
  }
  const pythonVersion = toTextOrEmpty(attributes['telemetry.auto.version']);
  if (pythonVersion !== '')
    return {
      kind: 'zero-code',
      name: 'python-automatic',
      title: 'OpenTelemetry Python automatic instrumentation',
      version: pythonVersion,
    };
  const language = toTextOrEmpty(attributes['telemetry.sdk.language']);
  if (sdk === '' && language === '') return undefined;
  const title = language === '' ? sdk : `${language} SDK`;
  return {
    kind: 'sdk',
    name: sdk || 'opentelemetry',
    title,
    version: toTextOrEmpty(attributes['telemetry.sdk.version']),
  };
};
