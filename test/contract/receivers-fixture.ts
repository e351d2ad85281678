/** Running receivers on real stores in a temporary directory, with a bus that tests can inspect and break. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startReceivers } from '../../receivers/index.ts';
import { bind } from '../../runtime/bind.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { type DeadLetterHeaders, decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { generateBrowserKey, generateLicenseKey } from '../../schemas/license-key-format.ts';
import type { Bus, Message, Producer } from '../../schemas/ports/bus.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { buildLicenseKey, type LicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { type Organization, organizations } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { projects } from '../../schemas/resources/project.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { decodeHeaders, type TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';

export const tenantId = 'acme';
export const projectId = 'shop';

/** Stores published messages. `broken` makes publishing fail, `refuses` makes it fail permanently, `held` blocks it. */
export class RecordingBus implements Pick<Bus, 'producer' | 'check' | 'close'> {
  readonly messages: Message[] = [];
  publishes = 0;
  broken: string | undefined;
  /** A topic to which every publish fails. */
  refuses: string | undefined;
  /** Every n-th publish fails; 0 for none. */
  failsEvery = 0;
  held: Promise<void> | undefined;
  /** `false` discards published messages. */
  storesMessages = true;

  async producer(): Promise<Producer> {
    const publish = async (messages: readonly Message[]): Promise<void> => {
      this.publishes++;
      if (this.held !== undefined) await this.held;
      if (this.broken === 'everything') throw new UnavailableError('the bus is gone');
      if (this.failsEvery > 0 && this.publishes % this.failsEvery === 0) throw new UnavailableError('the bus is gone');
      if (messages.some(({ topic }) => topic === this.refuses)) throw new PermanentError('refused', 'not this message');
      if (messages.some(({ topic }) => topic === this.broken)) throw new UnavailableError('the topic is gone');
      if (!this.storesMessages) return;
      // The bus must copy the message, because it may be a view of a larger buffer.
      this.messages.push(...messages.map((message) => ({ ...message, value: Buffer.from(message.value) })));
    };
    return { publish, transaction: async (_name, work) => work(publish), async close() {} };
  }

  async check(): Promise<void> {
    if (this.broken === 'everything') throw new UnavailableError('the bus is gone');
  }

  async close(): Promise<void> {}

  /** Telemetry members with their bytes. */
  members(): { headers: TelemetryHeaders; key: string; records: number; bytes: Buffer }[] {
    return this.messages
      .filter(({ topic }) => ![topics.deadLetter.name, topics.usage.name, topics.rumReplays.name].includes(topic))
      .flatMap(({ key, headers: encoded, value }) => {
        const headers = decodeHeaders(encoded);
        let at = 0;
        return headers.members.map(({ length, records }) => {
          at += length;
          return { headers, key, records, bytes: Buffer.from(value.subarray(at - length, at)) };
        });
      });
  }

  /** Dead letters with their chunks joined. */
  deadLetters(): { headers: DeadLetterHeaders; body: Buffer }[] {
    const deadLetters = new Map<string, { headers: DeadLetterHeaders; chunks: Uint8Array[] }>();
    for (const { topic, headers: encoded, value } of this.messages) {
      if (topic !== topics.deadLetter.name) continue;
      const headers = decodeDeadLetter(encoded);
      const deadLetter = deadLetters.get(headers.id) ?? { headers, chunks: [] };
      deadLetter.chunks[headers.chunk] = value;
      deadLetters.set(headers.id, deadLetter);
    }
    return [...deadLetters.values()].map(({ headers, chunks }) => ({ headers, body: Buffer.concat(chunks) }));
  }
}

/** Long enough for the fixed times of examples. */
const longRetention = { logs: 40_000, metrics: 40_000, traces: 40_000 };

/** Restrictions of the browser key. */
export const browserApplication = 'checkout';
export const browserOrigin = 'https://shop.example.com';

const secretKey = 'secret key of the receivers in tests';
export const secretBox = createSecretBox(secretKey);

/** The body of a dead letter as it was received. */
export const openBody = ({ headers, body }: { headers: DeadLetterHeaders; body: Buffer }): Buffer =>
  headers.isSealed ? Buffer.from(secretBox.open('dead-letter', body.toString()) ?? '', 'base64') : body;

/** A body as a dead letter with these headers stores it. */
export const storeBody = ({ isSealed }: DeadLetterHeaders, body: Buffer): Buffer =>
  isSealed ? Buffer.from(secretBox.seal('dead-letter', body.toString('base64'))) : body;

/** An organization with a plan, a license key for servers and one for browsers. */
export const furnish = async (
  documents: Documents,
  changes: {
    key?: Partial<LicenseKey>;
    browserKey?: Partial<LicenseKey>;
    organization?: Partial<Organization>;
    plan?: Partial<Plan>;
    secret?: string;
  } = {},
): Promise<Pick<Fixture, 'secret' | 'keyId' | 'browserSecret' | 'browserKeyId'>> => {
  await documents.ensureCollections([licenseKeys, organizations, plans, projects]);
  const platform = documents.forTenant(plansTenant);
  const plan = { ...(defaultPlans['enterprise'] as Plan), retentionDays: longRetention, ...changes.plan };
  await platform.collection(plans).insert({ id: 'enterprise', ...plan });
  const organization = { name: 'Acme', planId: 'enterprise', retentionDays: {}, shards: 1, disabled: false };
  await platform.collection(organizations).insert({ id: tenantId, ...organization, ...changes.organization });
  const secret = changes.secret ?? generateLicenseKey();
  const keys = documents.forTenant(tenantId).collection(licenseKeys);
  const fields = { name: 'test', projectId, expiresAt: null };
  const key = await keys.insert({ ...buildLicenseKey(secret, fields), ...changes.key });
  const browserSecret = generateBrowserKey();
  const browserKey = await keys.insert({
    ...buildLicenseKey(browserSecret, fields),
    kind: 'browser',
    application: browserApplication,
    origins: [browserOrigin],
    signals: ['logs', 'traces'],
    ...changes.browserKey,
  });
  return { secret, keyId: key.id, browserSecret, browserKeyId: browserKey.id };
};

/** Limits that no test reaches. */
export const manyRequests: Partial<Plan> = {
  limits: { requestsPerSecond: 1e6, requestsBurst: 1e6, requestsPerMinute: 1e8, bytesPerDay: null },
};

export interface Fixture extends AsyncDisposable {
  readonly bus: RecordingBus;
  readonly documents: Documents;
  readonly secret: string;
  readonly keyId: string;
  readonly browserSecret: string;
  readonly browserKeyId: string;
  readonly http: string;
  /** The main HTTP address, which returns 418 for paths of other handlers. */
  readonly main: string;
  readonly grpc: string;
  /** Bytes in the receivers' metrics for an outcome, after they have stopped. */
  counted(outcome: string): number;
  /** Value of a counter, summed over its labels. */
  getCounter(name: string): number;
  readonly receivers: Awaited<ReturnType<typeof startReceivers>>;
}

/** Receivers on free ports. */
export const running = async ({
  clock = systemClock,
  environment = {},
  bus: realBus,
  ...changes
}: Parameters<typeof furnish>[1] & {
  clock?: Clock;
  environment?: Record<string, string>;
  bus?: Bus;
} = {}): Promise<Fixture> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'oiq-receivers-'));
  const documents = await openSqliteDocuments({ path: path.join(directory, 'documents.db') });
  const key = await furnish(documents, changes);
  const bus = new RecordingBus();
  const bytes = new Map<string, number>();
  const counters = new Map<string, number>();
  const metrics: Metrics = {
    ...silentMetrics,
    add(name, value, labels) {
      counters.set(name, (counters.get(name) ?? 0) + value);
      const { outcome = '' } = labels as { outcome?: string };
      if (name === 'oiq_ingest_bytes_total') bytes.set(outcome, (bytes.get(outcome) ?? 0) + value);
    },
  };
  const receivers = await startReceivers({
    bus: realBus ?? (bus as unknown as Bus),
    documents,
    counters: createMemoryCounters({ clock }),
    metrics,
    log: silentLog,
    clock,
    settings: parseSettings({
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
      OIQ_SHUTDOWN_SECONDS: '5',
      OIQ_SECRET_KEY: secretKey,
      OIQ_KEY_REQUESTS_PER_SECOND: '1000000',
      ...environment,
    }),
  });
  // The same as elsewhere: with five seconds, a slow machine closes connections that a client is about to use.
  const server = createServer(
    { keepAliveTimeout: 75_000, shouldUpgradeCallback: (request) => receivers.sockets.accepts(request) },
    (request, response) => {
      if (!receivers.handler(request, response)) response.writeHead(418).end();
    },
  );
  server.on('upgrade', (request, socket, head) => receivers.sockets.upgrade(request, socket, head));
  const main = await bind(server, 'OIQ_HTTP_ADDRESS', '127.0.0.1:0');
  return {
    bus,
    documents,
    receivers,
    getCounter: (name) => counters.get(name) ?? 0,
    counted: (outcome) => bytes.get(outcome) ?? 0,
    ...key,
    main: `http://${main}`,
    http: `http://${receivers.addresses.OTLP_HTTP_ADDRESS}`,
    grpc: receivers.addresses.OTLP_GRPC_ADDRESS ?? '',
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await receivers.stop();
      await documents.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
