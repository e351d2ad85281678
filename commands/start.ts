/** Starts roles in this process, serves the main address, and stops in order. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type FirstStart, firstStart, startApi } from '../api/index.ts';
import { bind } from '../runtime/bind.ts';
import { standardRequests } from '../runtime/http-requests.ts';
import { openJobs } from '../runtime/jobs.ts';
import type { Role } from '../schemas/ports/role.ts';
import { firstCollections } from '../schemas/resources/installation.ts';
import { controlServer } from './control.ts';
import { deadLettersOf } from './dead-letter-request.ts';
import { healthHandler } from './health.ts';
import { reportLag } from './lag.ts';
import { migrateAll } from './migrate.ts';
import { applyPlans } from './plans.ts';
import type { Platform } from './platform.ts';

export const roleNames = ['receivers', 'processors', 'sinks', 'api'] as const;
export type RoleName = (typeof roleNames)[number];

type Listener = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface Running {
  /** Where the process listens, as `[what, address]`. */
  readonly addresses: readonly (readonly [string, string])[];
  readonly roles: readonly Role[];
  /** Requests answered, batches landed, offsets committed; then the stores are closed. */
  stop(): Promise<void>;
  /** Rejects when a role cannot go on. */
  readonly failed: Promise<void>;
}

const setUpDocuments = async (
  { documents, settings }: Platform,
  withApi: boolean,
  onFirstStart: (firstStart: FirstStart) => void,
): Promise<void> => {
  await documents.ensureCollections(firstCollections);
  if (!withApi) return;
  const made = await firstStart(documents, settings);
  if (made !== undefined) onFirstStart(made);
  await applyPlans(documents, settings);
};

/**
 * `names` empty starts all roles, and sets up and migrates the stores first: one process that needs nothing else.
 * `onFirstStart` is told as soon as an installation is made: what it is given is kept nowhere, and the rest may fail.
 */
export const start = async (
  platform: Platform,
  names: readonly RoleName[],
  components: readonly string[],
  onFirstStart: (firstStart: FirstStart) => void,
): Promise<Running> => {
  const { settings, metrics, log } = platform;
  const all = names.length === 0;
  if (all) await migrateAll(platform);
  await setUpDocuments(platform, all || names.includes('api'), onFirstStart);
  const deadLetters = await deadLettersOf(platform);
  const jobs = openJobs(platform);
  const roles: Role[] = [];
  const listeners: Listener[] = [];
  let ingest: Listener | undefined;
  const addresses: [string, string][] = [];
  const wants = (name: RoleName): boolean => all || names.includes(name);

  if (wants('sinks')) {
    const { sinkJobs, startSinks } = await import('../sinks/index.ts');
    roles.push(await startSinks({ ...platform, only: components }));
    for (const job of sinkJobs) jobs.start(job, platform);
  }
  if (wants('processors')) {
    const { startProcessors } = await import('../processors/index.ts');
    roles.push(await startProcessors({ ...platform, only: components }));
  }
  if (wants('receivers')) {
    const { startReceivers } = await import('../receivers/index.ts');
    const receivers = await startReceivers(platform);
    roles.push(receivers);
    ingest = receivers.handler;
    listeners.push(ingest);
    for (const [setting, address] of Object.entries(receivers.addresses)) {
      addresses.push([setting === 'OTLP_GRPC_ADDRESS' ? 'OTLP/gRPC' : 'OTLP/HTTP', address]);
    }
  }
  if (wants('api')) {
    const api = await startApi({ ...platform, deadLetters });
    roles.push(api);
    listeners.push((request, response) => {
      api.callback(request, response);
      return true;
    });
  }
  let draining = false;
  listeners.unshift(healthHandler(roles, metrics, () => draining));
  const server = serve(listeners, ingest);
  addresses.unshift(['HTTP', `http://${await bind(server, 'HTTP_ADDRESS', settings.HTTP_ADDRESS)}`]);
  const control = platform.embedded ? await controlServer({ ...platform, deadLetters }) : undefined;
  const lag = reportLag(platform, wants('sinks') || wants('processors'));

  return {
    addresses,
    roles,
    failed: Promise.all(roles.map((role) => role.failed)).then(() => undefined),
    async stop() {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await jobs.stop();
      // Who takes in stops first, who lands what was taken in last.
      for (const role of [...roles].reverse()) await role.stop();
      server.closeAllConnections();
      await closed;
      lag.stop();
      await control?.close();
      await deadLetters.close();
      log.info({}, 'stopped');
      await platform.close();
    },
  };
};

/**
 * How long a client may take; bodies of the API have a shorter time of their own. Node looks every so often, 30 seconds by
 * default. Headers hold the longest query that is allowed, also where each of its characters is written with twelve.
 */
const limits = {
  maxHeaderSize: 64 * 1024,
  requestTimeout: 120_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
} as const;

const serve = (listeners: readonly Listener[], ingest: Listener | undefined): Server => {
  const answer = standardRequests((request, response) => {
    for (const listener of listeners) if (listener(request, response)) return;
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":"NOT_FOUND","message":"this process does not serve that path"}\n');
  });
  const server = createServer(limits, answer);
  // Ingest refuses before the body is sent; everything else reads it.
  server.on(
    'checkContinue',
    standardRequests((request, response) => {
      if (ingest?.(request, response)) return;
      response.writeContinue();
      answer(request, response);
    }),
  );
  return server;
};
