/** The JSON schema of the chart's values. It rejects every unknown key. */
import { z } from 'zod';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const whole = (minimum: number, maximum?: number): Schema => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && { maximum }),
});
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const list = (items: Schema = { type: 'object' }): Schema => ({ type: 'array', items });
/** An object of the Kubernetes API, which the API server validates. */
const kubernetes: Schema = { type: 'object' };
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

const quantities: Schema = {
  type: 'object',
  additionalProperties: {
    type: ['string', 'number'],
    // A Kubernetes quantity
    pattern: '^[0-9]*\\.?[0-9]+([numkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$',
  },
};
const resources = object({ requests: quantities, limits: quantities, claims: list() });

/** A setting in the values: the type of its schema, or its text in the environment. */
export const settingText = (schema: z.ZodType): Schema => {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const description = schema.description ?? json.description ?? '';
  if (json.type === 'integer' || json.type === 'number') return numberText(json, description);
  const values = json.enum === undefined ? {} : { enum: json.enum };
  return { type: ['string', 'number', 'boolean'], ...values, description };
};

const numberText = (json: z.core.JSONSchema.BaseSchema, description: string): Schema => {
  const { type, minimum, exclusiveMinimum, maximum } = json;
  return {
    type: [type, 'string'],
    pattern: type === 'integer' ? '^[0-9]+([eE]\\+?[0-9]+)?$' : '^[0-9]+(\\.[0-9]+)?([eE]\\+?[0-9]+)?$',
    ...(minimum !== undefined && { minimum }),
    ...(exclusiveMinimum !== undefined && { exclusiveMinimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
    description,
  };
};

const kubernetesName: Schema = { type: 'string', maxLength: 253, pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' };

/** Properties of every role. */
const roleProperties = (settings: Schema): Record<string, Schema> => ({
  replicas: whole(0),
  resources,
  settings,
  imageTag: text,
  autoscaling: object({
    by: oneOf('none', 'hpa', 'keda'),
    minReplicas: whole(0),
    maxReplicas: whole(1),
    cpuPercent: whole(1, 100),
    lagMessages: whole(1),
  }),
  podDisruptionBudget: object({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
  terminationGracePeriodSeconds: { type: ['integer', 'null'], minimum: 1 },
  strategy: kubernetes,
  minReadySeconds: whole(0),
  podAnnotations: texts,
  podLabels: texts,
  nodeSelector: texts,
  tolerations: list(),
  affinity: kubernetes,
  topologySpreadConstraints: list(),
  priorityClassName: text,
  extraEnv: list({
    type: 'object',
    required: ['name'],
    // Settings belong in `settings`, where their names are validated.
    properties: { name: { type: 'string', not: { pattern: '^OIQ_' } } },
  }),
  extraVolumes: list(),
  extraVolumeMounts: list(),
});

const entries = (names: readonly string[], schema: Schema): Schema =>
  object(Object.fromEntries(names.map((name) => [name, schema])));

const dashboardsAsCode = object({
  configMaps: { ...list({ ...kubernetesName, minLength: 1 }), uniqueItems: true },
  source: text,
  prune: flag,
  tokenSecret: object({ name: kubernetesName, key: { type: 'string', minLength: 1 } }),
  backoffLimit: whole(0),
  podAnnotations: texts,
  resources,
});

const probe = object({
  tokenSecret: object({ name: kubernetesName, key: { type: 'string', minLength: 1 } }),
  url: text,
  networks: { ...list({ type: 'string', minLength: 1 }), uniqueItems: true },
  image: object({ repository: { type: 'string', minLength: 1 }, tag: text }),
  replicas: whole(1),
  pingGroupRange: { type: 'string', pattern: '^([0-9]+ [0-9]+)?$' },
  chromiumSandbox: { type: 'boolean' },
  nodeSelector: texts,
  tolerations: list(),
  podAnnotations: texts,
  resources,
});

/** Everything except the roles. */
const rest = (): Record<string, Schema> => {
  const service = object({
    type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    annotations: texts,
    loadBalancerSourceRanges: list(text),
    externalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
  });
  const host = object({ host: text, annotations: texts, tlsSecret: kubernetesName });
  const route = object({ hostnames: list(text) });
  const port = whole(1024, 65_535);
  return {
    global: kubernetes,
    // The condition of a chart that depends on this one
    enabled: flag,
    mode: oneOf('standalone', 'cluster'),
    image: object({
      repository: { type: 'string', minLength: 1 },
      tag: text,
      digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
      pullSecrets: list(),
    }),
    nameOverride: kubernetesName,
    fullnameOverride: kubernetesName,
    existingSecret: kubernetesName,
    generateSecrets: flag,
    plans: kubernetes,
    ports: object({ http: port, otlpGrpc: port, otlpHttp: port }),
    listenAddress: text,
    dataDirectory: { type: 'string', pattern: '^/.+/.+' },
    processorsTogether: flag,
    migration: object({
      enabled: flag,
      waitSeconds: whole(0),
      backoffLimit: whole(0),
      podAnnotations: texts,
      resources,
    }),
    dashboards: dashboardsAsCode,
    probe,
    extraObjects: list({ type: ['object', 'string'] }),
    upgradeOrder: object({ enabled: flag, maxWaitSeconds: whole(0) }),
    services: object({ receivers: service, api: service, standalone: service }),
    ingress: object({
      enabled: flag,
      className: text,
      annotations: texts,
      api: host,
      otlpHttp: host,
      otlpGrpc: host,
    }),
    gateway: object({
      enabled: flag,
      parentRefs: list(),
      annotations: texts,
      api: route,
      otlpHttp: route,
      otlpGrpc: route,
    }),
    serviceAccounts: object({ annotations: texts }),
    networkPolicy: object({ enabled: flag, ingressFrom: list(), metricsFrom: list(), egress: list() }),
    monitoring: object({
      serviceMonitor: object({ enabled: flag, interval: text, labels: texts }),
      prometheusRule: object({ enabled: flag, labels: texts, runbookUrl: text }),
    }),
    keda: object({
      pollingInterval: whole(1),
      cooldownPeriod: whole(0),
      bootstrapServers: text,
      tls: { type: ['boolean', 'null'] },
      saslMechanism: oneOf('', 'plain', 'scram-sha-256', 'scram-sha-512'),
      authenticationRef: object({
        name: kubernetesName,
        kind: oneOf('TriggerAuthentication', 'ClusterTriggerAuthentication'),
      }),
    }),
    podSecurityContext: kubernetes,
    containerSecurityContext: kubernetes,
    test: object({ enabled: flag, existingSecret: kubernetesName, waitSeconds: whole(1) }),
  };
};

export interface SchemaOptions {
  /** Available settings, by name */
  readonly settings: Readonly<Record<string, Schema>>;
  /** Whether a setting may be in a ConfigMap */
  readonly isPublic: (name: string) => boolean;
  readonly processors: readonly string[];
  readonly sinks: readonly string[];
}

/** Values that a standalone installation does not have: it is one process that owns its volume. */
const ofDeployments = new Set(['replicas', 'autoscaling', 'strategy', 'minReadySeconds', 'podDisruptionBudget']);

export const valuesSchema = ({ settings, isPublic, processors, sinks }: SchemaOptions): Schema => {
  const open = object(Object.fromEntries(Object.entries(settings).filter(([name]) => isPublic(name))));
  const reference: Schema = { $ref: '#/$defs/settings' };
  const properties = roleProperties(reference);
  const role: Schema = { $ref: '#/$defs/role' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart oiq; written by charts/generate.ts',
    $defs: { settings: open, role: object(properties) },
    ...object({
      ...rest(),
      settings: reference,
      secretSettings: object(settings),
      secretRefs: entries(Object.keys(settings), {
        ...object({ name: { ...kubernetesName, minLength: 1 }, key: { type: 'string', minLength: 1 } }),
        required: ['name', 'key'],
      }),
      defaults: role,
      receivers: role,
      api: role,
      processors: entries(processors, role),
      sinks: entries([...sinks, 'others'], role),
      standalone: object({
        ...Object.fromEntries(Object.entries(properties).filter(([name]) => !ofDeployments.has(name))),
        persistence: object({
          enabled: flag,
          existingClaim: kubernetesName,
          size: text,
          storageClass: text,
          accessModes: list(text),
          annotations: texts,
        }),
      }),
    }),
  };
};
