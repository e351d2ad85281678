/** All settings, declared once: environment variable, default and description. `oiq settings` prints this table. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { computeEditDistance } from './edit-distance.ts';
import { isWellFormedLicenseKey } from './license-key-format.ts';
import { parseRedisAddress } from './redis-address.ts';

const maxPort = 65_535;
const addressSchema = z
  .string()
  .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, 'must be host:port')
  .refine((text) => !(Number(/:(\d{1,5})$/.exec(text)?.[1]) > maxPort), `the port is above ${maxPort}`)
  .describe('host:port');
const urlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const optionalSetting = <Schema extends z.ZodType>(schema: Schema) => schema.optional();
const createCountSchema = (defaultValue: number) => z.coerce.number().int().positive().default(defaultValue);
/** Feature names of Prometheus; the first three are syntax, and enabled. */
const promqlFeatures = [
  'promql-experimental-functions',
  'promql-extended-range-selectors',
  'promql-binop-fill-modifiers',
  'promql-delayed-name-removal',
  'use-start-timestamps',
  'type-and-unit-labels',
] as const;

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
const createListSchema = (defaultValue: string) => z.string().default(defaultValue).transform(splitList);
const emptyListSchema = createListSchema('');
const networksSchema = emptyListSchema.refine(
  (items) => items.every((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item)),
  'must be addresses or networks (CIDR), comma-separated',
);

const checkRedisAddress = (text: string, context: z.RefinementCtx): void => {
  try {
    parseRedisAddress(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
};

/** Name without `OIQ_` → schema, whose description is user-facing */
export const settingDefinitions = {
  DATA_DIR: z.string().default('.oiq').describe('Directory of the embedded stores and of generated secrets'),
  CLUSTER: optionalSetting(z.stringbool()).describe(
    'Whether Kafka, ClickHouse and MongoDB are required; by default, a single role and oiq migrate require all three if one of them is set',
  ),
  HTTP_ADDRESS: addressSchema
    .default('127.0.0.1:8080')
    .describe('Address of the management API, the dashboard and ingest under /otlp'),
  OTLP_GRPC_ADDRESS: addressSchema.default('127.0.0.1:4317').describe('Address of OTLP over gRPC'),
  GRPC_SERVER: z
    .enum(['own', 'node'])
    .default('own')
    .describe('HTTP/2 server for gRPC: that of OIQ, or that of Node, which uses more CPU per request'),
  OTLP_HTTP_ADDRESS: addressSchema
    .default('127.0.0.1:4318')
    .describe('Address of OTLP over HTTP, with the default paths (/v1/logs)'),
  PUBLIC_URL: optionalSetting(urlSchema).describe('Public URL of the installation, used for links in emails'),
  KAFKA_BROKERS: emptyListSchema.describe(
    'Kafka bootstrap servers, comma-separated; if empty, the bus is segment files in the data directory',
  ),
  KAFKA_REPLICATION: optionalSetting(z.coerce.number().int().positive()).describe(
    'Replication factor of topics that OIQ creates; by default 3, or the number of brokers if there are fewer',
  ),
  KAFKA_SSL: z
    .stringbool()
    .default(false)
    .describe(
      'Whether to connect to Kafka over TLS; NODE_EXTRA_CA_CERTS is the path of a file with your own certificate authority',
    ),
  KAFKA_SSL_CERT_FILE: optionalSetting(z.string()).describe(
    'Certificate file (PEM, with the intermediate certificates) for client authentication with the brokers; requires OIQ_KAFKA_SSL and the key below',
  ),
  KAFKA_SSL_KEY_FILE: optionalSetting(z.string()).describe('Private key file of that certificate (PEM, not encrypted)'),
  KAFKA_RACK: optionalSetting(z.string()).describe(
    'Rack or availability zone of this process, as in broker.rack: consumers read from a replica in the same rack if brokers select replicas by rack; if empty, from leaders',
  ),
  KAFKA_SASL_MECHANISM: optionalSetting(z.enum(['plain', 'scram-sha-256', 'scram-sha-512'])).describe(
    'SASL mechanism for Kafka, with the user name and password below; no authentication by default',
  ),
  KAFKA_SASL_USERNAME: z.string().default('').describe('SASL user name for Kafka'),
  KAFKA_SASL_PASSWORD: z.string().default('').describe('SASL password for Kafka'),
  SCHEMA_REGISTRY_URL: optionalSetting(urlSchema).describe('Schema registry (Confluent API) for derived topics'),
  CLICKHOUSE_URL: optionalSetting(z.string().transform(splitList).pipe(z.array(urlSchema))).describe(
    'ClickHouse over HTTP, for example http://user:password@host:8123/oiq; several servers of a cluster comma-separated, at least one of each shard; if empty, chDB in the data directory',
  ),
  CLICKHOUSE_CLUSTER: optionalSetting(z.string()).describe(
    'Name of the cluster in system.clusters of those servers: tables are on all its shards, and replicated if servers have the macros shard and replica; if empty, there is one server',
  ),
  CLICKHOUSE_INSERT_QUORUM: optionalSetting(
    z.union([z.literal('auto'), z.coerce.number().int().min(2)], { error: 'must be auto or at least 2' }),
  ).describe(
    'Number of replicas that must store a batch before it counts as stored, or auto for more than half; if empty, one',
  ),
  CLICKHOUSE_STORAGE_POLICY: optionalSetting(
    z.string().regex(/^\w+$/, 'must be a name of system.storage_policies'),
  ).describe(
    'Storage policy of telemetry tables, with a volume named cold: rows older than OIQ_CLICKHOUSE_COLD_AFTER_DAYS move there; applied by oiq migrate',
  ),
  CLICKHOUSE_COLD_AFTER_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .default(7)
    .describe('Days after which rows move to the volume cold of OIQ_CLICKHOUSE_STORAGE_POLICY'),
  MONGODB_URL: optionalSetting(z.string().startsWith('mongodb')).describe(
    'MongoDB replica set; if empty, SQLite in the data directory',
  ),
  REDIS_URL: optionalSetting(z.string().superRefine(checkRedisAddress)).describe(
    'Redis for rate limits and caches: redis://user:password@host:6379, redis-sentinel://user:password@host:26379,host:26379/NAME (credentials of the sentinels: ?sentinelUsername=&sentinelPassword=) or redis-cluster://user:password@host:6379,host:6379; rediss… for TLS; if empty, they are stored in memory',
  ),
  SMTP_URL: optionalSetting(z.string().regex(/^smtps?:\/\//, 'must be an smtp:// or smtps:// address')).describe(
    'SMTP server for outgoing email, for example smtp://user:password@host:587; if empty, emails are written to outbox*.jsonl in the data directory',
  ),
  MAIL_FROM: optionalSetting(z.string().regex(/^[^\p{Cc}]+$/u, 'must be one line')).describe(
    'Sender of emails, for example OIQ <oiq@example.com>; by default noreply@ the host of OIQ_PUBLIC_URL',
  ),
  SELF_SIGNUP: z.stringbool().default(false).describe('Whether anyone may register and create an organization'),
  MORE_ORGANIZATIONS: z
    .stringbool()
    .default(false)
    .describe('Whether signed-in users may create further organizations'),
  NEW_ORGANIZATION_PLAN: z.string().default('free').describe('Plan of organizations that users create themselves'),
  TRUSTED_PROXIES: networksSchema.describe(
    'Networks (CIDR) of proxies whose X-Forwarded-For is trusted, comma-separated',
  ),
  COUNTRY_FILE: optionalSetting(z.string()).describe(
    'Table of the countries of visitors by address: an MMDB database (.mmdb), or CSV with "first address,last address,country" or "network,country"; read at each start. Without it, countries are unknown',
  ),
  OUTBOUND_NETWORKS: networksSchema.describe(
    'Private networks (CIDR) that requests to user-supplied addresses (such as identity providers) may reach, comma-separated; none by default',
  ),
  CHROMIUM: optionalSetting(z.string().min(1)).describe(
    'Chromium executable for page checks of the location local; by default the first in the path',
  ),
  CHROMIUM_SANDBOX: z
    .stringbool()
    .default(true)
    .describe(
      'Whether Chromium runs pages in its sandbox, the default; the sandbox needs user namespaces, and does not start for root',
    ),
  MODEL_URL: optionalSetting(urlSchema).describe(
    'Base URL of a language model with OpenAI’s chat completions API (https://host/v1), which improves the wording and coverage of questions and answers; if empty, no model is used. OIQ_OUTBOUND_NETWORKS must allow an address in a private network',
  ),
  MODEL_NAME: z.string().min(1).default('default').describe('Model name at that URL'),
  MODEL_KEY: optionalSetting(z.string().min(1)).describe('API key, sent as a bearer token'),
  MODEL_ORGANIZATIONS: emptyListSchema.describe(
    'IDs of the organizations whose questions and sources may be sent to the model, comma-separated; * for all, none by default',
  ),
  MODEL_TOKENS_PER_DAY: createCountSchema(200_000).describe(
    'Model tokens per organization and day, in UTC; tokens of embeddings are counted separately',
  ),
  EMBEDDING_MODEL: optionalSetting(z.string().min(1)).describe(
    'Embeddings model at the URL of the language model (/embeddings), for semantic search of runbooks and incidents; if empty, they are found by their words only',
  ),
  BOOTSTRAP_EMAIL: optionalSetting(z.email()).describe(
    'Email address of the first organization’s owner, used at the first start',
  ),
  BOOTSTRAP_PASSWORD: optionalSetting(z.string().min(12)).describe(
    'Password of that owner; by default a random one is printed once',
  ),
  BOOTSTRAP_LICENSE_KEY: optionalSetting(
    z
      .string()
      .refine(
        isWellFormedLicenseKey,
        'not a license key (oiq_lk_, 30 or more base62 characters and a checksum); omit it to generate one',
      ),
  ).describe('License key of the first organization; by default a random one is printed once'),
  NEW_INSTALLATION: z
    .stringbool()
    .default(false)
    .describe(
      'Whether a start may create what is missing of an installation with data: its documents, its bus, its secret key; remove it afterwards',
    ),
  SECRET_KEY: optionalSetting(z.string().min(32)).describe(
    'Key that encrypts stored secrets; by default generated and stored in the data directory',
  ),
  PLANS_FILE: optionalSetting(z.string()).describe('JSON file of plans by ID, with prices; read at each start'),
  SELF_SERVICE_PLANS: z
    .stringbool()
    .default(false)
    .describe('Whether administrators may change their organization’s plan'),
  KEY_REQUESTS_PER_SECOND: createCountSchema(1000).describe(
    'Ingest requests per second for each license key, across all receivers',
  ),
  KEY_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(900)
    .describe(
      'Seconds that receivers continue with the cached license keys, plans and limits while the configuration store is unreachable; at least 5',
    ),
  API_REQUESTS_PER_SECOND: createCountSchema(200).describe(
    'Management API requests per second for each user or service account; bursts may be five times as large',
  ),
  API_ANONYMOUS_REQUESTS_PER_SECOND: createCountSchema(20).describe(
    'Management API requests per second for each address without a session: sign-ins, password resets, refused requests',
  ),
  SNAPSHOT_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(90)
    .default(90)
    .describe('Maximum days until a shared snapshot of a dashboard expires; the default of a snapshot is 7'),
  SOURCE_MAPS_MAX_COUNT: createCountSchema(10_000).describe(
    'Maximum source maps of an organization; an upload above it deletes the oldest ones',
  ),
  SOURCE_MAPS_MAX_BYTES: createCountSchema(1024 * 1024 * 1024).describe(
    'Maximum size of the source maps of an organization in bytes, as stored; an upload above it deletes the oldest ones',
  ),
  QUERY_SLOTS: optionalSetting(z.coerce.number().int().positive()).describe(
    'Maximum concurrent telemetry queries of one process; by default 4 embedded, 12 on ClickHouse. Organizations share them fairly',
  ),
  QUERY_SLOTS_PER_ORGANIZATION: optionalSetting(z.coerce.number().int().positive()).describe(
    'Maximum concurrent queries of one organization; by default three quarters of all',
  ),
  QUERY_QUEUE_PER_ORGANIZATION: createCountSchema(200).describe(
    'Maximum waiting queries of one organization; more are rejected with 429',
  ),
  QUERY_WAIT_SECONDS: createCountSchema(10).describe(
    'Maximum seconds that a query waits for a slot before it is rejected with 503',
  ),
  QUERY_SECONDS: createCountSchema(30).describe('Maximum seconds that a query runs'),
  QUERY_MEMORY_BYTES: optionalSetting(z.coerce.number().int().positive()).describe(
    'Maximum bytes of memory of a query; by default 2 GiB, embedded at most half of the engine’s memory',
  ),
  QUERY_ROWS_READ: createCountSchema(2_000_000_000).describe(
    'Maximum table rows that a query may read; a query that would read more is refused',
  ),
  PROMQL_TRANSLATION: z
    .enum([
      'UnderscoreEscapingWithSuffixes',
      'UnderscoreEscapingWithoutSuffixes',
      'NoUTF8EscapingWithSuffixes',
      'NoTranslation',
    ])
    .default('UnderscoreEscapingWithSuffixes')
    .describe('Names of OTLP metrics and attributes in PromQL, as in Prometheus’ translation_strategy'),
  PROMQL_FEATURES: createListSchema(promqlFeatures.slice(0, 3).join(','))
    .pipe(z.array(z.enum(promqlFeatures)))
    .describe(
      `Enabled experimental features of PromQL, comma-separated, as in Prometheus’ --enable-feature: ${promqlFeatures.join(', ')}`,
    ),
  PROMQL_RESOURCE_ATTRIBUTES: emptyListSchema.describe(
    'Resource attributes that become labels of each OTLP series in PromQL, comma-separated; the others are labels of target_info',
  ),
  PROMQL_SCOPE_LABELS: z
    .stringbool()
    .default(true)
    .describe('Whether OTLP series have their instrumentation scope as labels in PromQL (otel_scope_name and others)'),
  API_TOKEN_MAX_DAYS: createCountSchema(366).describe(
    'Maximum lifetime of a new API token, in days; existing tokens are unaffected',
  ),
  SHUTDOWN_SECONDS: createCountSchema(25).describe('Seconds after SIGTERM to finish requests, batches and commits'),
  BUS_PUBLISH_DELAY_MS: z.coerce
    .number()
    .min(0)
    .max(1000)
    .default(5)
    .describe('Milliseconds that small requests wait to share a message with others'),
  SEGMENT_RETENTION_BYTES: optionalSetting(z.coerce.number().int().positive()).describe(
    'Bytes that the embedded log retains per partition, instead of each topic’s default',
  ),
  OPAMP_HEARTBEAT_SECONDS: createCountSchema(30).describe(
    'Expected seconds between messages of an agent over OpAMP; an agent is silent after three times as long',
  ),
  OPAMP_MAX_MESSAGE_BYTES: createCountSchema(16 * 1024 * 1024).describe(
    'Maximum bytes of an OpAMP message, decompressed; larger ones are refused with 413, or close the WebSocket with 1009',
  ),
  CORS_ORIGINS: emptyListSchema.describe('Browser origins that may send OTLP (CORS), comma-separated; * allows all'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Minimum severity of log lines'),
  OPERATOR_WEBHOOK_URL: optionalSetting(urlSchema).describe(
    'URL that is notified, in the format of Alertmanager’s webhooks, when a consumer group or the evaluation of rules stalls, and when it resumes',
  ),
  OPERATOR_MAIL: emptyListSchema
    .pipe(z.array(z.email()))
    .describe('Email addresses for the same notifications, comma-separated; requires OIQ_SMTP_URL'),
  OTLP_EXPORT_ENDPOINT: optionalSetting(urlSchema).describe(
    'Endpoint for the platform’s own telemetry (OTLP over gRPC)',
  ),
  OTLP_EXPORT_HEADERS: emptyListSchema
    .refine((items) => items.every((item) => /^[\w.-]+=/.test(item)), 'must be name=value, comma-separated')
    .describe('Headers for that endpoint, as name=value, comma-separated'),
} as const satisfies Record<string, z.ZodType>;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export type Settings = { readonly [name in SettingName]: z.output<Definitions[name]> };

const storeSettings = ['KAFKA_BROKERS', 'CLICKHOUSE_URL', 'MONGODB_URL'] as const;

/** Settings of stores that are not configured: their data is stored in the data directory. */
export const getEmbeddedStores = (settings: Settings): readonly (typeof storeSettings)[number][] =>
  storeSettings.filter((name) => settings[name] === undefined || settings[name].length === 0);

/** Returns whether the data directory stores any data. Only one process at a time may own it. */
export const isEmbedded = (settings: Settings): boolean => getEmbeddedStores(settings).length > 0;

/** Problems of the environment, one per line. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
  }
}

/**
 * Rejects embedded stores in a cluster, where other processes would not find their data. `OIQ_CLUSTER` declares a cluster.
 * For a process that is part of an installation, one configured store also implies it.
 */
export const rejectLocalStores = (settings: Settings, { isPart }: { readonly isPart: boolean }): void => {
  const missing = getEmbeddedStores(settings);
  const isCluster = settings.CLUSTER ?? (isPart && missing.length < storeSettings.length);
  if (!isCluster || missing.length === 0) return;
  throw new SettingsError(
    missing.map((name) => `OIQ_${name} is not set: processes of a cluster share Kafka, ClickHouse and MongoDB`),
  );
};

/**
 * Parses the `OIQ_*` variables. Rejects unknown variables with the most similar known name, and invalid values with
 * the expected format.
 */
export const parseSettings = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const problems = Object.keys(environment)
    .filter((variable) => variable.startsWith('OIQ_') && !(variable.slice(4) in settingDefinitions))
    .map(
      (variable) =>
        `${variable} is not a setting; did you mean OIQ_${findNearestName(variable.slice(4))}? (oiq settings lists them)`,
    );
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(settingDefinitions)) {
    const text = environment[`OIQ_${name}`];
    const result = schema.safeParse(text === '' ? undefined : text, { error: describeFormat });
    if (result.success) values[name] = result.data;
    else problems.push(...result.error.issues.map(({ message }) => formatProblem(name, message, text)));
  }
  if (problems.length > 0) throw new SettingsError(problems);
  const settings = values as Settings;
  const servers = settings.CLICKHOUSE_URL ?? [];
  if (servers.length > 1 && settings.CLICKHOUSE_CLUSTER === undefined)
    throw new SettingsError([
      'OIQ_CLICKHOUSE_URL contains several servers: set OIQ_CLICKHOUSE_CLUSTER to the name of their cluster in system.clusters',
    ]);
  if (new Set(servers.map((server) => new URL(server).pathname)).size > 1)
    throw new SettingsError(['OIQ_CLICKHOUSE_URL contains several databases: all URLs must use the same one']);
  if ((settings.KAFKA_SSL_CERT_FILE === undefined) !== (settings.KAFKA_SSL_KEY_FILE === undefined))
    throw new SettingsError([
      'OIQ_KAFKA_SSL_CERT_FILE and OIQ_KAFKA_SSL_KEY_FILE require each other: set both, or neither',
    ]);
  if (settings.KAFKA_SSL_CERT_FILE !== undefined && !settings.KAFKA_SSL)
    throw new SettingsError(['OIQ_KAFKA_SSL_CERT_FILE is for TLS: set OIQ_KAFKA_SSL=true']);
  return settings;
};

const formatProblem = (name: string, message: string, text: string | undefined): string =>
  `OIQ_${name}: ${message}${secretNamePattern.test(name) ? '' : ` (got ${JSON.stringify(text)})`}`;

/** Expected format of a value, if its schema has no message of its own. */
const describeFormat = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string') return `must have at least ${issue.minimum} characters`;
      return issue.inclusive ? `must be at least ${issue.minimum}` : `must be above ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return issue.expected === 'stringbool' ? 'must be true or false' : `must be one of: ${issue.values.join(', ')}`;
    case 'invalid_format':
      return issue.format === 'starts_with' ? `must start with ${issue.prefix}` : `must be ${formats[issue.format]}`;
    default:
      return issue.expected === 'int' ? 'must be a whole number' : 'must be a number';
  }
};
const formats: Readonly<Record<string, string>> = { email: 'an e-mail address' };

/** Names whose values are never displayed. URLs may contain a password; the public URL is not secret. */
const secretNamePattern = /PASSWORD|SECRET|LICENSE_KEY|MODEL_KEY|HEADERS|(?<!PUBLIC_)URL/;

/** Returns whether the value of a setting (name without `OIQ_`) is secret. */
export const isSecretSetting = (name: string): boolean => secretNamePattern.test(name);

const findNearestName = (name: string): string => {
  let best = '';
  let distance = Number.POSITIVE_INFINITY;
  for (const settingName of Object.keys(settingDefinitions)) {
    const settingDistance = computeEditDistance(name, settingName);
    if (settingDistance >= distance) continue;
    best = settingName;
    distance = settingDistance;
  }
  return best;
};
