/** Starts roles in this process, serves the main address, and stops in order. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type DeadLetters,
  type FirstStartSecrets,
  firstSecrets,
  firstStart,
  openLocalWork,
  startApi,
} from '../api/index.ts';
import { bind } from '../runtime/bind.ts';
import { type LoopWatch, watchLoop } from '../runtime/event-loop-watchdog.ts';
import { withStandardRequests } from '../runtime/http-requests.ts';
import { collectWhenIdle } from '../runtime/idle-memory.ts';
import { type Jobs, openJobs } from '../runtime/jobs.ts';
import { drainConnections } from '../runtime/shutdown.ts';
import { withTimeout } from '../runtime/timeout.ts';
import type { GroupStatuses } from '../schemas/ports/group-status.ts';
import type { Role } from '../schemas/ports/role.ts';
import { openPlatformDeadLetters } from './dead-letter-request.ts';
import { healthHandler } from './health.ts';
import { rejectExistingData } from './installation.ts';
import { lagRoles, type RunningLagMonitor, watchGroups } from './lag.ts';
import { migrateAll } from './migrate.ts';
import { applyPlans, type Plans } from './plans.ts';
import type { Platform } from './platform.ts';
import { closingOnFailure, createPatientStart, type PatientStart } from './wait-for-stores.ts';

export const roleNames = ['receivers', 'processors', 'sinks', 'api'] as const;
export type RoleName = (typeof roleNames)[number];

type Listener = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The handler of WebSockets. Other upgrade requests are answered like normal requests, as HTTP specifies. */
interface Sockets {
  accepts(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Running {
  /** Addresses at which the process listens, as `[what, address]`. */
  readonly addresses: readonly (readonly [string, string])[];
  readonly roles: readonly Role[];
  /** Answers open requests, stores received batches and commits offsets; then closes the stores. */
  stop(): Promise<void>;
  /** Rejects when a role cannot continue. */
  readonly failed: Promise<void>;
}

export interface StartOptions {
  /** Empty starts all roles, and sets up and migrates the stores first: a single process without other dependencies. */
  readonly names: readonly RoleName[];
  readonly components: readonly string[];
  readonly plans: Plans;
  /**
   * Called as soon as an installation is created: its secrets are not stored anywhere, and the rest of the start may
   * fail.
   */
  onFirstStart(firstStart: FirstStartSecrets): void;
  /** Ends a start that waits for a store. */
  readonly stopping?: AbortSignal;
}

const setUpDocuments = async (
  platform: Platform,
  { plans, onFirstStart }: StartOptions,
  secrets: Awaited<ReturnType<typeof firstSecrets>>,
): Promise<void> => {
  const { documents, settings } = platform;
  await rejectExistingData(platform);
  const firstStartResult = await firstStart(documents, settings, secrets);
  if (firstStartResult !== undefined) onFirstStart(firstStartResult);
  await applyPlans(documents, plans);
};

interface RoleDependencies {
  /** All roles run in this process. */
  readonly runsAllRoles: boolean;
  readonly hasRole: (name: RoleName) => boolean;
  readonly components: readonly string[];
  readonly deadLetters: DeadLetters;
  readonly jobs: Jobs;
  readonly patientStart: PatientStart;
  readonly groupStatuses: GroupStatuses;
  onStarted(role: Role): void;
}

/** Handlers of the main address. */
interface RequestHandlers {
  readonly listeners: readonly Listener[];
  readonly ingest: Listener | undefined;
  readonly sockets: Sockets | undefined;
}

/**
 * Starts the requested roles; returns the request handlers, ingest first, and the other addresses at which they listen.
 */
const startRoles = async (
  platform: Platform,
  { runsAllRoles, hasRole, components, deadLetters, jobs, patientStart, groupStatuses, onStarted }: RoleDependencies,
) => {
  const { documents } = platform;
  const startRole = <Started extends Role>(
    work: (openers: Pick<RoleDependencies, 'jobs'> & Platform) => Promise<Started>,
  ) =>
    patientStart.step([documents], () =>
      closingOnFailure({ documents, jobs }, (openers) => work({ ...platform, ...openers })),
    );
  const listeners: Listener[] = [];
  const addresses: [string, string][] = [];
  let ingest: Listener | undefined;
  let sockets: Sockets | undefined;
  if (hasRole('sinks')) {
    const { sinkJobs, startSinks } = await import('../sinks/index.ts');
    onStarted(await startSinks({ ...platform, only: components }));
    for (const job of sinkJobs) jobs.start(job, platform);
  }
  if (hasRole('processors')) {
    const { startProcessors } = await import('../processors/index.ts');
    onStarted(await startRole((openers) => startProcessors({ ...openers, only: components })));
  }
  if (hasRole('receivers')) {
    const { startReceivers } = await import('../receivers/index.ts');
    const receivers = await startRole(startReceivers);
    onStarted(receivers);
    ingest = receivers.handler;
    listeners.push(ingest);
    for (const [setting, address] of Object.entries(receivers.addresses)) {
      addresses.push([setting === 'OTLP_GRPC_ADDRESS' ? 'OTLP/gRPC' : 'OTLP/HTTP', address]);
    }
  }
  if (hasRole('api')) {
    const api = await startRole((openers) => startApi({ ...openers, deadLetters, groupStatuses }));
    onStarted(api);
    sockets = api.sockets;
    listeners.push((request, response) => {
      api.callback(request, response);
      return true;
    });
  }
  if (runsAllRoles) {
    const work = await openLocalWork(platform);
    const { startLocal } = await import('../probes/index.ts');
    const { OUTBOUND_NETWORKS: networks, CHROMIUM: program, CHROMIUM_SANDBOX: hasSandbox } = platform.settings;
    onStarted(await startLocal(work, { networks, chromium: { program, hasSandbox }, log: platform.log }));
  }
  return { listeners, ingest, sockets, addresses };
};

const answerStarting: Listener = (_, response) => {
  response
    .writeHead(503, { 'content-type': 'application/json', 'retry-after': '5' })
    .end('{"error":"UNAVAILABLE","message":"this process is starting"}\n');
  return true;
};

/**
 * Waits for unavailable stores, and serves the health paths from the beginning. Rejects when a role cannot start, fails
 * during the start, or was stopped while it waited. Then the started roles are stopped and the platform is closed.
 */
export const start = async (platform: Platform, options: StartOptions): Promise<Running> => {
  const { names, components, stopping = new AbortController().signal } = options;
  const { settings, metrics, log } = platform;
  const runsAllRoles = names.length === 0;
  const hasRole = (name: RoleName): boolean => runsAllRoles || names.includes(name);
  const deadLetters = await openPlatformDeadLetters(platform);
  let watch: LoopWatch | undefined;
  let releaseGarbage: (() => void) | undefined;
  const jobs = openJobs(platform);
  const roles: Role[] = [];
  const failures: unknown[] = [];
  const patientStart = createPatientStart(log, stopping);
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let lagMonitor: RunningLagMonitor | undefined;
  const groupStatuses: GroupStatuses = { groups: () => lagMonitor?.groups() ?? [] };
  const processProblem = (): string | undefined => {
    if (phase === 'starting') return patientStart.reason() ?? 'starting';
    return phase === 'stopping' ? 'shutting down' : undefined;
  };
  const health = healthHandler({ roles, metrics, groupStatuses, processProblem });
  let served: RequestHandlers = { listeners: [health, answerStarting], ingest: answerStarting, sockets: undefined };
  const server = serve(() => served);
  let control: { close(): Promise<void> } | undefined;

  const stop = async (): Promise<void> => {
    phase = 'stopping';
    await Promise.all([drainConnections(server), ...roles.map((role) => role.announceShutdown?.())]);
    const closed = new Promise<unknown>((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await jobs.stop();
    // Receivers stop first, and the sinks for received data last.
    for (const role of [...roles].reverse()) {
      await role.stop();
      log.info({ role: role.name }, 'role stopped');
    }
    server.closeAllConnections();
    await closed;
    lagMonitor?.stop();
    await control?.close();
    await deadLetters.close();
    await watch?.stop();
    releaseGarbage?.();
    log.info({}, 'stopped');
    await platform.close();
  };
  const onStarted = (role: Role): void => {
    roles.push(role);
    role.failure.catch((error: unknown) => failures.push(error));
  };

  try {
    const address = await bind(server, 'HTTP_ADDRESS', settings.HTTP_ADDRESS);
    const { bus, documents } = platform;
    if (runsAllRoles) await patientStart.step([documents, bus], () => migrateAll(platform));
    if (hasRole('api')) {
      const secrets = await firstSecrets();
      await patientStart.step([documents], () => setUpDocuments(platform, options, secrets));
    }
    const { listeners, ingest, sockets, addresses } = await startRoles(platform, {
      runsAllRoles,
      hasRole,
      components,
      deadLetters,
      jobs,
      patientStart,
      groupStatuses,
      onStarted,
    });
    // Commands can use it as soon as `/readyz` reports ready.
    if (platform.embedded)
      control = await (await import('./control.ts')).startControlServer({ ...platform, deadLetters });
    served = { listeners: [health, ...listeners], ingest, sockets };
    addresses.unshift(['HTTP', `http://${address}`]);
    lagMonitor = watchGroups(platform, lagRoles.filter(hasRole), { isRequired: hasRole('api') });
    if (failures.length > 0) throw failures[0];
    // A start blocks the event loop while it loads code, which is not worth a report.
    watch = watchLoop(platform);
    releaseGarbage = collectWhenIdle();
    phase = 'running';
    return { addresses, roles, failed: Promise.all(roles.map(({ failure }) => failure)).then(() => undefined), stop };
  } catch (error) {
    await withTimeout(settings.SHUTDOWN_SECONDS * 1_000, stop()).catch((cause: unknown) =>
      log.error({ error: cause }, 'some started components could not be stopped'),
    );
    throw error;
  }
};

/**
 * Time limits for clients; bodies of the API have their own, shorter limit. Node checks at an interval, 30 seconds by
 * default. Headers can contain the longest allowed query, even if each of its characters is written with twelve.
 */
const limits = {
  maxHeaderSize: 64 * 1024,
  requestTimeout: 120_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
} as const;

const serve = (served: () => RequestHandlers): Server => {
  const answer = withStandardRequests((request, response) => {
    for (const listener of served().listeners) if (listener(request, response)) return;
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":"NOT_FOUND","message":"this process does not serve that path"}\n');
  });
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => served().sockets?.accepts(request) ?? false;
  const server = createServer({ ...limits, shouldUpgradeCallback }, answer);
  server.on('upgrade', (request, socket, head) => served().sockets?.upgrade(request, socket, head));
  // Ingest rejects a request before its body is sent; everything else reads the body.
  server.on(
    'checkContinue',
    withStandardRequests((request, response) => {
      if (served().ingest?.(request, response)) return;
      response.writeContinue();
      answer(request, response);
    }),
  );
  return server;
};
