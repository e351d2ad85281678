/** Every setting, declared once: environment variable, default, meaning. `oiq settings` prints this table. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { isWellFormed } from './license-key-format.ts';

const maxPort = 65_535;
const address = z
  .string()
  .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, 'must be host:port')
  .refine((text) => !(Number(/\d+$/.exec(text)?.[0]) > maxPort), `the port is above ${maxPort}`)
  .describe('host:port');
const url = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional();
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback);
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
const networks = list.refine(
  (items) => items.every((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item)),
  'must be addresses or networks (CIDR), comma-separated',
);

/** Name without `OIQ_` → schema; the description is what people read. */
export const settingDefinitions = {
  DATA_DIR: z.string().default('.oiq').describe('Directory of the embedded stores and of generated secrets'),
  HTTP_ADDRESS: address.default('127.0.0.1:8080').describe('Management API, dashboard and ingest under /otlp'),
  OTLP_GRPC_ADDRESS: address.default('127.0.0.1:4317').describe('OTLP over gRPC'),
  GRPC_SERVER: z
    .enum(['own', 'node'])
    .default('own')
    .describe('HTTP/2 server below gRPC: OIQ’s own, or Node’s, which takes more CPU a request'),
  OTLP_HTTP_ADDRESS: address.default('127.0.0.1:4318').describe('OTLP over HTTP with bare paths (/v1/logs)'),
  PUBLIC_URL: optional(url).describe('Address under which people reach the installation; links in mail begin with it'),
  KAFKA_BROKERS: list.describe(
    'Kafka bootstrap servers, comma-separated; without them the bus is segment files in the data directory',
  ),
  KAFKA_REPLICATION: optional(z.coerce.number().int().positive()).describe(
    'Replication factor of created topics; by default 3, or as many as there are brokers',
  ),
  KAFKA_SSL: z
    .stringbool()
    .default(false)
    .describe('true speaks TLS with Kafka; NODE_EXTRA_CA_CERTS names the file of an authority of your own'),
  KAFKA_SASL_MECHANISM: optional(z.enum(['plain', 'scram-sha-256', 'scram-sha-512'])).describe(
    'How to authenticate to Kafka, with the next two; not at all by default',
  ),
  KAFKA_SASL_USERNAME: z.string().default('').describe('User at Kafka'),
  KAFKA_SASL_PASSWORD: z.string().default('').describe('… and the password'),
  SCHEMA_REGISTRY_URL: optional(url).describe('Schema registry (Confluent API) for derived topics'),
  CLICKHOUSE_URL: optional(url).describe(
    'ClickHouse over HTTP, for example http://user:password@host:8123/oiq; without it chDB in the data directory',
  ),
  MONGODB_URL: optional(z.string().startsWith('mongodb')).describe(
    'MongoDB replica set; without it SQLite in the data directory',
  ),
  REDIS_URL: optional(z.string().startsWith('redis')).describe(
    'Redis for limits and caches; without it they are in memory',
  ),
  SMTP_URL: optional(z.string().regex(/^smtps?:\/\//, 'must be an smtp:// or smtps:// address')).describe(
    'Outgoing mail, for example smtp://user:password@host:587; without it messages go to outbox.jsonl in the data directory',
  ),
  MAIL_FROM: optional(z.string().regex(/^[^\p{Cc}]+$/u, 'must be one line')).describe(
    'Sender of mail, for example OIQ <oiq@example.com>; by default noreply at the host of OIQ_PUBLIC_URL',
  ),
  SELF_SIGNUP: z
    .stringbool()
    .default(false)
    .describe('true lets anybody register and get an organization of their own'),
  MORE_ORGANIZATIONS: z
    .stringbool()
    .default(false)
    .describe('true lets those who are signed in create further organizations'),
  NEW_ORGANIZATION_PLAN: z.string().default('free').describe('Plan of organizations that people make themselves'),
  TRUSTED_PROXIES: networks.describe('Networks (CIDR) whose X-Forwarded-For is believed, comma-separated'),
  OUTBOUND_NETWORKS: networks.describe(
    'Private networks (CIDR) that requests to addresses chosen by users may reach (identity providers), comma-separated; none by default',
  ),
  BOOTSTRAP_EMAIL: optional(z.email()).describe('Owner of the first organization, at the first start'),
  BOOTSTRAP_PASSWORD: optional(z.string().min(12)).describe('… and the password, else a random one is printed once'),
  BOOTSTRAP_LICENSE_KEY: optional(
    z
      .string()
      .refine(
        isWellFormed,
        'not a license key (oiq_lk_, 30 or more base62 characters and a checksum); leave it out to have one made',
      ),
  ).describe('… and the license key, else a random one is printed once'),
  NEW_INSTALLATION: z
    .stringbool()
    .default(false)
    .describe('true makes a new installation although the bus or the tables hold data of an earlier one'),
  SECRET_KEY: optional(z.string().min(32)).describe(
    'Encrypts stored secrets; made and kept in the data directory by default',
  ),
  PLANS_FILE: optional(z.string()).describe('JSON file of plans by id, with their prices, read at each start'),
  SELF_SERVICE_PLANS: z
    .stringbool()
    .default(false)
    .describe('Whether administrators may change the plan of their organization'),
  KEY_REQUESTS_PER_SECOND: count(1000).describe('Global limit of ingest requests a second for each license key'),
  KEY_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(900)
    .describe(
      'How long receivers go on admitting by the license keys, plans and limits in memory while the documents store cannot be reached; at least 5',
    ),
  API_REQUESTS_PER_SECOND: count(200).describe(
    'Management requests a second of one user or service account; five times as many at once',
  ),
  API_ANONYMOUS_REQUESTS_PER_SECOND: count(20).describe(
    'The same of one address without a session: sign-ins, resets, refused requests',
  ),
  API_TOKEN_MAX_DAYS: count(366).describe('How far ahead a new API token may expire; those there are stay as they are'),
  SHUTDOWN_SECONDS: count(25).describe('How long SIGTERM lets requests, batches and commits finish'),
  BUS_PUBLISH_DELAY_MS: z.coerce
    .number()
    .min(0)
    .max(1000)
    .default(5)
    .describe('How long small requests wait for others to share a message'),
  SEGMENT_RETENTION_BYTES: optional(z.coerce.number().int().positive()).describe(
    'Bytes the embedded log keeps for each partition, instead of each topic’s own',
  ),
  CORS_ORIGINS: list.describe('Origins of browsers that may send OTLP, comma-separated; * allows all'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe structured log line that is written'),
  OTLP_EXPORT_ENDPOINT: optional(url).describe('Where the platform sends its own telemetry, OTLP over gRPC'),
  OTLP_EXPORT_HEADERS: list
    .refine((items) => items.every((item) => /^[\w.-]+=/.test(item)), 'must be name=value, comma-separated')
    .describe('Headers of that, as name=value, comma-separated'),
} as const satisfies Record<string, z.ZodType>;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export type Settings = { readonly [name in SettingName]: z.output<Definitions[name]> };

/** Whether anything is kept in the data directory, which one process at a time may own. */
export const isEmbedded = ({ KAFKA_BROKERS, CLICKHOUSE_URL, MONGODB_URL }: Settings): boolean =>
  KAFKA_BROKERS.length === 0 || CLICKHOUSE_URL === undefined || MONGODB_URL === undefined;

/** What is wrong with the environment; one line each. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
  }
}

/** Reads `OIQ_*`. Unknown variables are refused with the nearest known name, values with what they should be. */
export const settingsOf = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const problems = Object.keys(environment)
    .filter((variable) => variable.startsWith('OIQ_') && !(variable.slice(4) in settingDefinitions))
    .map(
      (variable) =>
        `${variable} is not a setting; did you mean OIQ_${nearest(variable.slice(4))}? (oiq settings lists them)`,
    );
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(settingDefinitions)) {
    const text = environment[`OIQ_${name}`];
    const result = schema.safeParse(text === '' ? undefined : text);
    if (result.success) values[name] = result.data;
    else problems.push(...result.error.issues.map(({ message }) => problemOf(name, message, text)));
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return values as Settings;
};

const problemOf = (name: string, message: string, text: string | undefined): string =>
  `OIQ_${name}: ${message}${secret.test(name) ? '' : ` (got ${JSON.stringify(text)})`}`;

/** Names whose values are never shown. URLs may hold a password. */
const secret = /PASSWORD|SECRET|LICENSE_KEY|HEADERS|URL/;

const nearest = (name: string): string => {
  let best = '';
  let distance = Number.POSITIVE_INFINITY;
  for (const known of Object.keys(settingDefinitions)) {
    const steps = editDistance(name, known);
    if (steps >= distance) continue;
    best = known;
    distance = steps;
  }
  return best;
};

/** Levenshtein distance, one row at a time. */
const editDistance = (left: string, right: string): number => {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
};
