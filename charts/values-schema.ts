/** The JSON schema of the chart's values. It rejects every unknown key. */
import { z } from 'zod';

type Schema = Readonly<Record<string, unknown>>;

const stringSchema: Schema = { type: 'string' };
const booleanSchema: Schema = { type: 'boolean' };
const integerSchema = (minimum: number, maximum?: number): Schema => ({
  type: 'integer',
  minimum,
  ...(maximum !== undefined && { maximum }),
});
const enumSchema = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const stringMapSchema: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const list = (items: Schema = { type: 'object' }): Schema => ({ type: 'array', items });
/** An object of the Kubernetes API, which the API server validates. */
const kubernetesObjectSchema: Schema = { type: 'object' };
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
export const buildSettingSchema = (schema: z.ZodType): Schema => {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const description = schema.description ?? json.description ?? '';
  if (json.type === 'integer' || json.type === 'number') return buildNumberSchema(json, description);
  const values = json.enum === undefined ? {} : { enum: json.enum };
  return { type: ['string', 'number', 'boolean'], ...values, description };
};

const buildNumberSchema = (json: z.core.JSONSchema.BaseSchema, description: string): Schema => {
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
  replicas: integerSchema(0),
  resources,
  settings,
  imageTag: stringSchema,
  autoscaling: object({
    by: enumSchema('none', 'hpa', 'keda'),
    minReplicas: integerSchema(0),
    maxReplicas: integerSchema(1),
    cpuPercent: integerSchema(1, 100),
    lagMessages: integerSchema(1),
  }),
  podDisruptionBudget: object({ enabled: booleanSchema, maxUnavailable: { type: ['integer', 'string'] } }),
  terminationGracePeriodSeconds: { type: ['integer', 'null'], minimum: 1 },
  strategy: kubernetesObjectSchema,
  minReadySeconds: integerSchema(0),
  podAnnotations: stringMapSchema,
  podLabels: stringMapSchema,
  nodeSelector: stringMapSchema,
  tolerations: list(),
  affinity: kubernetesObjectSchema,
  topologySpreadConstraints: list(),
  priorityClassName: stringSchema,
  extraEnv: list({
    type: 'object',
    required: ['name'],
    // Settings belong in `settings`, where their names are validated.
    properties: { name: { type: 'string', not: { pattern: '^OIQ_' } } },
  }),
  extraVolumes: list(),
  extraVolumeMounts: list(),
});

const buildObjectSchema = (names: readonly string[], schema: Schema): Schema =>
  object(Object.fromEntries(names.map((name) => [name, schema])));

const dashboardsAsCode = object({
  configMaps: { ...list({ ...kubernetesName, minLength: 1 }), uniqueItems: true },
  source: stringSchema,
  prune: booleanSchema,
  tokenSecret: object({ name: kubernetesName, key: { type: 'string', minLength: 1 } }),
  backoffLimit: integerSchema(0),
  podAnnotations: stringMapSchema,
  resources,
});

const probe = object({
  tokenSecret: object({ name: kubernetesName, key: { type: 'string', minLength: 1 } }),
  url: stringSchema,
  networks: { ...list({ type: 'string', minLength: 1 }), uniqueItems: true },
  image: object({ repository: { type: 'string', minLength: 1 }, tag: stringSchema }),
  replicas: integerSchema(1),
  pingGroupRange: { type: 'string', pattern: '^([0-9]+ [0-9]+)?$' },
  chromiumSandbox: { type: 'boolean' },
  nodeSelector: stringMapSchema,
  tolerations: list(),
  podAnnotations: stringMapSchema,
  resources,
});

/** Everything except the roles. */
const getGeneralProperties = (): Record<string, Schema> => {
  const service = object({
    type: enumSchema('ClusterIP', 'NodePort', 'LoadBalancer'),
    annotations: stringMapSchema,
    loadBalancerSourceRanges: list(stringSchema),
    externalTrafficPolicy: enumSchema('', 'Cluster', 'Local'),
  });
  const host = object({ host: stringSchema, annotations: stringMapSchema, tlsSecret: kubernetesName });
  const route = object({ hostnames: list(stringSchema) });
  const port = integerSchema(1024, 65_535);
  return {
    global: kubernetesObjectSchema,
    // The condition of a chart that depends on this one
    enabled: booleanSchema,
    mode: enumSchema('standalone', 'cluster'),
    image: object({
      repository: { type: 'string', minLength: 1 },
      tag: stringSchema,
      digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      pullPolicy: enumSchema('Always', 'IfNotPresent', 'Never'),
      pullSecrets: list(),
    }),
    nameOverride: kubernetesName,
    fullnameOverride: kubernetesName,
    existingSecret: kubernetesName,
    generateSecrets: booleanSchema,
    plans: kubernetesObjectSchema,
    ports: object({ http: port, otlpGrpc: port, otlpHttp: port }),
    listenAddress: stringSchema,
    dataDirectory: { type: 'string', pattern: '^/.+/.+' },
    size: { type: 'string', minLength: 1 },
    migration: object({
      enabled: booleanSchema,
      waitSeconds: integerSchema(0),
      backoffLimit: integerSchema(0),
      podAnnotations: stringMapSchema,
      resources,
    }),
    dashboards: dashboardsAsCode,
    probe,
    extraObjects: list({ type: ['object', 'string'] }),
    upgradeOrder: object({ enabled: booleanSchema, maxWaitSeconds: integerSchema(0) }),
    services: object({ receivers: service, api: service, standalone: service }),
    ingress: object({
      enabled: booleanSchema,
      className: stringSchema,
      annotations: stringMapSchema,
      api: host,
      otlpHttp: host,
      otlpGrpc: host,
    }),
    gateway: object({
      enabled: booleanSchema,
      parentRefs: list(),
      annotations: stringMapSchema,
      api: route,
      otlpHttp: route,
      otlpGrpc: route,
    }),
    serviceAccounts: object({ annotations: stringMapSchema }),
    networkPolicy: object({ enabled: booleanSchema, ingressFrom: list(), metricsFrom: list(), egress: list() }),
    monitoring: object({
      serviceMonitor: object({ enabled: booleanSchema, interval: stringSchema, labels: stringMapSchema }),
      prometheusRule: object({ enabled: booleanSchema, labels: stringMapSchema, runbookUrl: stringSchema }),
    }),
    keda: object({
      pollingInterval: integerSchema(1),
      cooldownPeriod: integerSchema(0),
      bootstrapServers: stringSchema,
      tls: { type: ['boolean', 'null'] },
      saslMechanism: enumSchema('', 'plain', 'scram-sha-256', 'scram-sha-512'),
      authenticationRef: object({
        name: kubernetesName,
        kind: enumSchema('TriggerAuthentication', 'ClusterTriggerAuthentication'),
      }),
    }),
    podSecurityContext: kubernetesObjectSchema,
    containerSecurityContext: kubernetesObjectSchema,
    test: object({ enabled: booleanSchema, existingSecret: kubernetesName, waitSeconds: integerSchema(1) }),
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
const deploymentOnlyValues = new Set(['replicas', 'autoscaling', 'strategy', 'minReadySeconds', 'podDisruptionBudget']);

export const buildValuesSchema = ({ settings, isPublic, processors, sinks }: SchemaOptions): Schema => {
  const publicSettings = object(Object.fromEntries(Object.entries(settings).filter(([name]) => isPublic(name))));
  const reference: Schema = { $ref: '#/$defs/settings' };
  const properties = roleProperties(reference);
  const role: Schema = { $ref: '#/$defs/role' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart oiq; written by charts/generate.ts',
    $defs: {
      settings: publicSettings,
      role: object(properties),
      processor: object({ enabled: booleanSchema, ...properties }),
    },
    ...object({
      ...getGeneralProperties(),
      settings: reference,
      secretSettings: object(settings),
      secretRefs: buildObjectSchema(Object.keys(settings), {
        ...object({ name: { ...kubernetesName, minLength: 1 }, key: { type: 'string', minLength: 1 } }),
        required: ['name', 'key'],
      }),
      defaults: role,
      receivers: role,
      api: role,
      sizes: {
        type: 'object',
        additionalProperties: buildObjectSchema(['receivers', 'api', 'processors', 'sinks', 'processor', 'sink'], role),
      },
      processors: object({
        others: role,
        ...Object.fromEntries(processors.map((name) => [name, { $ref: '#/$defs/processor' }])),
      }),
      sinks: buildObjectSchema(['others', ...sinks], role),
      standalone: object({
        ...Object.fromEntries(Object.entries(properties).filter(([name]) => !deploymentOnlyValues.has(name))),
        persistence: object({
          enabled: booleanSchema,
          existingClaim: kubernetesName,
          size: stringSchema,
          storageClass: stringSchema,
          accessModes: list(stringSchema),
          annotations: stringMapSchema,
        }),
      }),
    }),
  };
};
