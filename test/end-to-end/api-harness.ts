/** The management API over real embedded stores in a temporary directory, with two organizations and all roles. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { createSmtpMailer } from '../../adapters/mail-smtp.ts';
import { createDeadLetters, type DeadLettersOptions } from '../../api/groups/dead-letter/replay/dead-letters.ts';
import { hashPassword } from '../../api/identity/password.ts';
import { startApi } from '../../api/index.ts';
import { type Jobs, openJobs } from '../../runtime/jobs.ts';
import type { Outbound } from '../../runtime/outbound.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { projects } from '../../schemas/resources/project.ts';
import { memberships, type Role, roles, users, usersTenant } from '../../schemas/resources/user.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { allTopics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';
import { eventually, stretched } from '../waiting.ts';

export const password = 'correct horse battery staple';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

export interface Harness {
  readonly url: string;
  readonly documents: Documents;
  readonly columns: Columns;
  readonly bus: Bus;
  readonly directory: string;
  /** Sends a request with a token of organization `a` for the role in the options. */
  request(
    method: string,
    path: string,
    options?: {
      readonly as?: Role | 'nobody' | `token ${string}`;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<Answer>;
  /** Signs in. The address of a user is `<role>@<tenant>.example`. */
  signIn(email: string): Promise<string>;
  close(): Promise<void>;
}

const seed = async (documents: Documents, named: readonly string[]): Promise<void> => {
  for (const id of named) await documents.forTenant('a').collection(projects).insert({ id, name: id, description: '' });
  const passwordHash = await hashPassword(password);
  const everything = ['logs', 'metrics', 'traces', 'rum', 'security', 'siem', 'llm', 'agentsight', 'ai'];
  const { enterprise, free } = defaultPlans;
  if (enterprise === undefined || free === undefined) throw new Error('the default plans changed');
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'enterprise', ...enterprise, entitlements: everything });
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'free', ...free });
  for (const [id, planId] of [
    ['a', 'enterprise'],
    ['b', 'free'],
  ] as const) {
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id, name: `Organization ${id}`, planId, retentionDays: {}, shards: 1, disabled: false });
    for (const role of roles) {
      const email = `${role}@${id}.example`;
      const user = await documents
        .forTenant(usersTenant)
        .collection(users)
        .insert({ email, name: role, passwordHash, disabled: false });
      await documents.forTenant(id).collection(memberships).insert({ id: user.id, role });
    }
  }
};

const sendRequest = async (
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }).catch((cause: Error) => {
    // The reason is in the cause, which ava does not print.
    throw new Error(`${method} ${path}: ${cause.message}: ${cause.cause}`, { cause });
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
};

const embedded = (path: string): Promise<Documents> => openSqliteDocuments({ path });

type OpenColumns = (directory: string) => Promise<Columns>;
let openColumns: OpenColumns = (directory) => {
  copyColumns(directory);
  return openChdbColumns({ directory });
};

/** Makes harnesses that start later use these column stores instead of the embedded engine. */
export const useColumns = (open: OpenColumns): void => {
  openColumns = open;
};

/** Opens stores that contain only the seed. */
const openStores = async (
  directory: string,
  openDocuments: (path: string) => Promise<Documents>,
  named: readonly string[],
) => {
  const documents = await openDocuments(join(directory, 'documents.sqlite'));
  const columns = await openColumns(join(directory, 'columns'));
  await migrate(columns, silentLog);
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  await bus.ensureTopics(allTopics);
  await seed(documents, named);
  return { documents, columns, bus };
};

const idleJobs: Jobs = {
  start: () => ({ wake: () => undefined, stop: async () => undefined }),
  stop: async () => undefined,
};

export const startHarness = async ({
  log = silentLog,
  metrics = silentMetrics,
  now = () => Date.now(),
  environment = {},
  openDocuments,
  openCounters,
  outbound,
  sharing,
  directory: sharedDirectory,
  port = 0,
  projects: named = [],
  republish = () => {
    throw new PermanentError('malformed', 'still refused');
  },
  checkResponses = true,
  runsJobs = true,
}: {
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** The API's clock. */
  readonly now?: () => number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Opens the document store at a path; by default the embedded one. */
  readonly openDocuments?: ((path: string) => Promise<Documents>) | undefined;
  /** By default in memory. */
  readonly openCounters?: () => Promise<Counters>;
  /** The client for addresses that users configured. */
  readonly outbound?: Outbound;
  /** Shares the stores of another harness (without `openDocuments` only documents). Close this one first. */
  readonly sharing?: Pick<Harness, 'documents' | 'columns' | 'bus' | 'directory'>;
  /** A directory for stores that remains after the harness is closed. By default a temporary one is deleted. */
  readonly directory?: string;
  /** By default any free port. */
  readonly port?: number;
  /** Projects of organization `a` that requests can use. */
  readonly projects?: readonly string[];
  readonly republish?: DeadLettersOptions['republish'];
  /** Whether responses are validated against their schemas, which takes longer than most requests. */
  readonly checkResponses?: boolean;
  /** Whether jobs run. They change due resources: an incident that escalates gets a new version. */
  readonly runsJobs?: boolean;
} = {}): Promise<Harness> => {
  const directory = sharing?.directory ?? sharedDirectory ?? mkdtempSync(join(tmpdir(), 'oiq-api-'));
  const clock = { now };
  // Tests send requests faster than people. The limits themselves are tested elsewhere, with real limits.
  const unlimited = {
    OIQ_API_REQUESTS_PER_SECOND: '100000',
    OIQ_API_ANONYMOUS_REQUESTS_PER_SECOND: '100000',
    OIQ_QUERY_WAIT_SECONDS: '120',
    OIQ_QUERY_SECONDS: '120',
  };
  const settings = parseSettings({ OIQ_DATA_DIR: directory, ...unlimited, ...environment });
  const { columns, bus, ...stores } = sharing ?? (await openStores(directory, openDocuments ?? embedded, named));
  const documents = sharing && openDocuments ? await openDocuments('') : stores.documents;
  const counters = (await openCounters?.()) ?? createMemoryCounters({ clock });
  const mailer =
    settings.SMTP_URL === undefined
      ? createFileMailer({ path: join(directory, 'outbox.jsonl') })
      : createSmtpMailer({ url: settings.SMTP_URL, from: 'OIQ <noreply@oiq.example>' });
  const deadLetters = createDeadLetters({ bus, columns, clock, republish });
  const jobs = runsJobs ? openJobs({ documents, clock, log, metrics }) : idleJobs;
  const api = await startApi({
    documents,
    columns,
    bus,
    counters,
    mailer,
    log,
    clock,
    settings,
    deadLetters,
    jobs,
    ...(outbound === undefined ? {} : { outbound }),
    metrics,
    checkResponses,
  });
  // The client closes idle connections first: a server that closes one resets a request that is just being sent.
  const server = createServer(
    { keepAliveTimeout: 75_000, shouldUpgradeCallback: (request) => api.sockets.accepts(request) },
    api.callback,
  );
  server.on('upgrade', (request, socket, head) => api.sockets.upgrade(request, socket, head));
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const tokens = new Map<string, Promise<string>>();
  const login = (email: string): Promise<Response> =>
    fetch(`${url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
  /** Retries: a new user or membership may not be in the API's memory yet, or its change feed may lag. */
  const signIn = async (email: string, again = 5): Promise<string> => {
    let response = await login(email);
    await eventually(`a response other than 503 to the sign-in of ${email}`, async () => {
      if (response.status !== 503) return true;
      await response.text();
      response = await login(email);
      return response.status !== 503;
    });
    if ((response.status === 401 || response.status === 403) && again > 0) {
      await response.text();
      await new Promise((resolve) => setTimeout(resolve, stretched(500)));
      return signIn(email, again - 1);
    }
    if (response.status !== 200) throw new Error(`${email} could not sign in: ${await response.text()}`);
    return ((await response.json()) as { token: string }).token;
  };
  const tokenOf = (role: Role): Promise<string> => {
    const token = tokens.get(role) ?? signIn(`${role}@a.example`);
    tokens.set(role, token);
    return token;
  };

  const sessionOf = async (who: Role | 'nobody' | `token ${string}`): Promise<string | undefined> => {
    if (who === 'nobody') return undefined;
    return who.startsWith('token ') ? who.slice(6) : tokenOf(who as Role);
  };

  return {
    url,
    documents,
    columns,
    bus,
    directory,
    signIn,
    request: async (method, path, options) =>
      sendRequest(url, method, path, await sessionOf(options?.as ?? 'owner'), options),
    async close() {
      server.close();
      server.closeIdleConnections();
      await jobs.stop();
      await api.stop();
      server.closeAllConnections();
      await deadLetters.close();
      await counters.close();
      await mailer.close();
      if (documents !== sharing?.documents) await documents.close();
      if (sharing !== undefined) return;
      await bus.close();
      await columns.close();
      if (sharedDirectory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** Retries responses with 503: on a busy machine the change feed of an instance can lag by seconds. */
export const withRetries = (harness: Harness): Harness => ({
  ...harness,
  async request(method, path, options) {
    let response = await harness.request(method, path, options);
    await eventually(`a response other than 503 to ${method} ${path}`, async () => {
      if (response.status === 503) response = await harness.request(method, path, options);
      return response.status !== 503;
    });
    return response;
  },
});
