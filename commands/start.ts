/** Starts roles in this process, serves the main address, and stops in order. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type DeadLetters,
  type FirstStartSecrets,
  generateFirstSecrets,
  initializeInstallation,
  openLocalWork,
  startApi,
} from '../api/index.ts';
import { bind } from '../runtime/bind.ts';
import { type LoopWatch, watchLoop } from '../runtime/event-loop-watchdog.ts';
import { enforceRequestRules } from '../runtime/http-requests.ts';
import { collectWhenIdle } from '../runtime/idle-memory.ts';
import { type Jobs, openJobs } from '../runtime/jobs.ts';
import { loadSecretKey } from '../runtime/secret-box.ts';
import { drainConnections } from '../runtime/shutdown.ts';
import { withTimeout } from '../runtime/timeout.ts';
import type { GroupStatuses } from '../schemas/ports/group-status.ts';
import type { Role } from '../schemas/ports/role.ts';
import { openPlatformDeadLetters } from './dead-letter-request.ts';
import { createDemoSender } from './demo/sender.ts';
import { createHealthHandler } from './health.ts';
import { rejectExistingData, requireSecretKey } from './installation.ts';
import { lagRoles, type RunningLagMonitor, watchGroups } from './lag.ts';
import { migrateAll } from './migrate.ts';
import { applyPlans, type Plans } from './plans.ts';
import type { Platform } from './platform.ts';
import { createRetryingStart, type RetryingStart, runAndCloseOnFailure } from './wait-for-stores.ts';

export const roleNames = ['receivers', 'processors', 'sinks', 'api'] as const;
export type RoleName = (typeof roleNames)[number];

type Listener = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The handler of WebSockets. Other upgrade requests are handled like normal requests, as HTTP specifies. */
interface WebSocketHandler {
  accepts(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface RunningInstance {
  /** Addresses at which the process listens, as `[what, address]`. */
  readonly addresses: readonly (readonly [string, string])[];
  readonly roles: readonly Role[];
  /** Completes open requests, stores received batches and commits offsets; then closes the stores. */
  stop(): Promise<void>;
  /** Rejects when a role cannot continue. */
  readonly failure: Promise<void>;
}

export interface StartOptions {
  /** If empty, all roles start, after the stores have been set up and migrated: a single process without other dependencies. */
  readonly names: readonly RoleName[];
  readonly components: readonly string[];
  readonly plans: Plans;
  /**
   * Called as soon as an installation is created: its secrets are not stored anywhere, and the rest of the start may
   * fail.
   */
  onFirstStart(firstStart: FirstStartSecrets): void;
  /** Ends a start that waits for a store. */
  readonly stopSignal?: AbortSignal;
}

const setUpDocuments = async (
  platform: Platform,
  { plans, onFirstStart }: StartOptions,
  secrets: Awaited<ReturnType<typeof generateFirstSecrets>>,
): Promise<void> => {
  const { documents, settings } = platform;
  await rejectExistingData(platform);
  await requireSecretKey(platform);
  // Before the installation exists, so that a first start that is killed leaves no installation without its key.
  await loadSecretKey(settings);
  const firstStartResult = await initializeInstallation(documents, settings, secrets);
  if (firstStartResult !== undefined) onFirstStart(firstStartResult);
  await requireSecretKey(platform);
  await applyPlans(documents, plans);
};

interface RoleDependencies {
  /** All roles run in this process. */
  readonly shouldRunAllRoles: boolean;
  readonly hasRole: (name: RoleName) => boolean;
  readonly components: readonly string[];
  readonly deadLetters: DeadLetters;
  readonly jobs: Jobs;
  readonly patientStart: RetryingStart;
  readonly groupStatuses: GroupStatuses;
  onStarted(role: Role): void;
}

/** Handlers of the main address. */
interface RequestHandlers {
  readonly listeners: readonly Listener[];
  readonly ingest: Listener | undefined;
  readonly sockets: readonly WebSocketHandler[];
}

/**
 * Starts the requested roles; returns the request handlers, ingest first, and the other addresses at which they listen.
 */
const startRoles = async (
  platform: Platform,
  {
    shouldRunAllRoles,
    hasRole,
    components,
    deadLetters,
    jobs,
    patientStart,
    groupStatuses,
    onStarted,
  }: RoleDependencies,
) => {
  const { documents } = platform;
  const startRole = <Started extends Role>(
    startWith: (ports: Pick<RoleDependencies, 'jobs'> & Platform) => Promise<Started>,
  ) =>
    patientStart.runStep([documents], () =>
      runAndCloseOnFailure({ documents, jobs }, (openers) => startWith({ ...platform, ...openers })),
    );
  const listeners: Listener[] = [];
  const addresses: [string, string][] = [];
  let ingest: Listener | undefined;
  const sockets: WebSocketHandler[] = [];
  if (hasRole('sinks')) {
    const { sinkJobs, startSinks } = await import('../sinks/index.ts');
    onStarted(await startSinks({ ...platform, selectedNames: components }));
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
    sockets.push(receivers.sockets);
    listeners.push(ingest);
    for (const [setting, address] of Object.entries(receivers.addresses)) {
      addresses.push([setting === 'OTLP_GRPC_ADDRESS' ? 'OTLP/gRPC' : 'OTLP/HTTP', address]);
    }
  }
  if (hasRole('api')) {
    const demo = shouldRunAllRoles ? createDemoSender(platform) : undefined;
    const api = await startRole((openers) => startApi({ ...openers, deadLetters, groupStatuses, demo }));
    // Stopped first: nothing is sent to receivers that stop.
    onStarted({ ...api, stop: async () => void (await Promise.all([demo?.stop(), api.stop()])) });
    sockets.push(api.sockets);
    listeners.push((request, response) => {
      api.callback(request, response);
      return true;
    });
  }
  if (shouldRunAllRoles) {
    const localWork = await openLocalWork(platform);
    const { startLocal } = await import('../probes/index.ts');
    const { OUTBOUND_NETWORKS: networks, CHROMIUM: program, CHROMIUM_SANDBOX: hasSandbox } = platform.settings;
    onStarted(await startLocal(localWork, { networks, chromium: { program, hasSandbox }, log: platform.log }));
  }
  return { listeners, ingest, sockets, addresses };
};

const respondStarting: Listener = (_, response) => {
  response
    .writeHead(503, { 'content-type': 'application/json', 'retry-after': '5' })
    .end('{"error":"UNAVAILABLE","message":"this process is starting"}\n');
  return true;
};

/**
 * Waits for unavailable stores, and serves the health paths from the beginning. Rejects when a role cannot start, fails
 * during the start, or was stopped while it waited. Then the started roles are stopped and the platform is closed.
 */
export const start = async (platform: Platform, options: StartOptions): Promise<RunningInstance> => {
  const { names, components, stopSignal = new AbortController().signal } = options;
  const { settings, metrics, log } = platform;
  const shouldRunAllRoles = names.length === 0;
  const hasRole = (name: RoleName): boolean => shouldRunAllRoles || names.includes(name);
  const deadLetters = await openPlatformDeadLetters(platform);
  let loopWatch: LoopWatch | undefined;
  let releaseGarbage: (() => void) | undefined;
  const jobs = openJobs(platform);
  const roles: Role[] = [];
  const failures: unknown[] = [];
  const patientStart = createRetryingStart(log, stopSignal);
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let lagMonitor: RunningLagMonitor | undefined;
  const groupStatuses: GroupStatuses = { getStatuses: () => lagMonitor?.getStatuses() ?? [] };
  const getProcessProblem = (): string | undefined => {
    if (phase === 'starting') return patientStart.getReason() ?? 'starting';
    return phase === 'stopping' ? 'shutting down' : undefined;
  };
  const health = createHealthHandler({
    roles,
    metrics,
    groupStatuses,
    storeMembers: platform.storeMembers,
    clock: platform.clock,
    getProcessProblem,
  });
  let handlers: RequestHandlers = { listeners: [health, respondStarting], ingest: respondStarting, sockets: [] };
  const server = createMainServer(() => handlers);
  let controlServer: { close(): Promise<void> } | undefined;

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
    await controlServer?.close();
    await deadLetters.close();
    await loopWatch?.stop();
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
    if (shouldRunAllRoles) await patientStart.runStep([documents, bus], () => migrateAll(platform));
    if (hasRole('api')) {
      const secrets = await generateFirstSecrets();
      await patientStart.runStep([documents], () => setUpDocuments(platform, options, secrets));
    } else if (hasRole('processors')) await patientStart.runStep([documents], () => requireSecretKey(platform));
    const { listeners, ingest, sockets, addresses } = await startRoles(platform, {
      shouldRunAllRoles,
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
      controlServer = await (await import('./control.ts')).startControlServer({ ...platform, deadLetters });
    handlers = { listeners: [health, ...listeners], ingest, sockets };
    addresses.unshift(['HTTP', `http://${address}`]);
    lagMonitor = watchGroups(platform, lagRoles.filter(hasRole), { isRequired: hasRole('api') });
    if (failures.length > 0) throw failures[0];
    // A start blocks the event loop while it loads code, which should not be reported.
    loopWatch = watchLoop(platform);
    releaseGarbage = collectWhenIdle();
    phase = 'running';
    return { addresses, roles, failure: Promise.all(roles.map(({ failure }) => failure)).then(() => undefined), stop };
  } catch (error) {
    await withTimeout(settings.SHUTDOWN_SECONDS * 1_000, stop()).catch((cause: unknown) =>
      log.error({ error: cause }, 'some started components could not be stopped'),
    );
    throw error;
  }
};

/**
 * Time limits for clients; bodies of the API have their own, shorter limit. Node checks at an interval, 30 seconds by
 * default. Headers can contain the longest allowed query, even if each of its characters is encoded with twelve characters.
 */
const serverLimits = {
  maxHeaderSize: 64 * 1024,
  requestTimeout: 120_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
} as const;

const createMainServer = (getHandlers: () => RequestHandlers): Server => {
  const handleRequest = enforceRequestRules((request, response) => {
    for (const listener of getHandlers().listeners) if (listener(request, response)) return;
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":"NOT_FOUND","message":"this process does not serve that path"}\n');
  });
  const findSockets = (request: IncomingMessage): WebSocketHandler | undefined =>
    getHandlers().sockets.find((sockets) => sockets.accepts(request));
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => findSockets(request) !== undefined;
  const server = createServer({ ...serverLimits, shouldUpgradeCallback }, handleRequest);
  server.on('upgrade', (request, socket, head) => findSockets(request)?.upgrade(request, socket, head));
  // Ingest rejects a request before its body is sent; everything else reads the body.
  server.on(
    'checkContinue',
    enforceRequestRules((request, response) => {
      if (getHandlers().ingest?.(request, response)) return;
      response.writeContinue();
      handleRequest(request, response);
    }),
  );
  return server;
};
