/** Starts the management API as a role. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limitColumns } from '../queries/limits/limited-columns.ts';
import { buildReadLimits } from '../queries/limits/settings.ts';
import { openPromql } from '../queries/promql/evaluation/threads.ts';
import { readFeatures, readTranslation } from '../queries/promql/settings.ts';
import { defineJob, type Job, type Jobs } from '../runtime/jobs.ts';
import { type Outbound, openOutbound } from '../runtime/outbound.ts';
import { createStoresCheck } from '../runtime/readiness.ts';
import { createSecretBox, loadSecretKey } from '../runtime/secret-box.ts';
import type { AlertTransition } from '../schemas/alerts.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Counters } from '../schemas/ports/counters.ts';
import type { DemoSender } from '../schemas/ports/demo.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { GroupStatuses } from '../schemas/ports/group-status.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Mailer } from '../schemas/ports/mail.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { Settings } from '../schemas/settings.ts';
import { topics } from '../schemas/topics.ts';
import { mergeAllIndicatorBlocks } from '../subjects/threat-intel/merge-indicators.ts';
import { type FeedDependencies, pollThreatFeeds } from '../subjects/threat-intel/poll-feeds.ts';
import { listScopes } from './callers/scopes.ts';
import { collections } from './collections.ts';
import { createPublisher, type EventPublisher, type ValuePublisher } from './event-publisher.ts';
import { removeOldSilences } from './groups/alerts/remove-old-silences.ts';
import { listConfigurationActions } from './groups/audit/chain/configuration-actions.ts';
import { openEvidence } from './groups/audit/chain/evidence.ts';
import { createReplayJobs } from './groups/dead-letter/replay/replay-jobs.ts';
import { type EscalatePorts, escalateJob } from './groups/incidents/escalate.ts';
import { type EndedPorts, freezeResolvedJob, resolveEndedJob } from './groups/incidents/resolve-incidents.ts';
import { groups, operations } from './groups/index.ts';
import { burnMailsJob } from './groups/slos/burn-mails.ts';
import { checkMailsJob } from './groups/synthetics/check-mails.ts';
import { type ErasurePorts, eraseClosedOrganizations } from './identity/accounts/erase-organizations.ts';
import { deleteExpiredOneTimeTokens } from './identity/accounts/one-time-tokens.ts';
import { loadMemoryDirectory } from './identity/directory.ts';
import { createPasswords } from './identity/password.ts';
import { deleteExpiredSessions } from './identity/sessions.ts';
import { createSignInFailures } from './identity/sign-in-failures.ts';
import { type DomainPorts, recheckDomains } from './identity/sso/domains.ts';
import { createTokenUses, deleteExpiredApiTokens } from './identity/token-uses.ts';
import { createTokens, type Tokens } from './identity/tokens.ts';
import { createOperationCaller } from './kernel/call.ts';
import type { DeadLetters } from './kernel/ports/dead-letters.ts';
import { createApiServer } from './kernel/server.ts';
import type { StreamServer } from './kernel/stream-server.ts';
import { createLiveTails } from './live-tail/live-tails.ts';
import { startMailDelivery } from './mail/delivery.ts';
import { createMailQueue } from './mail/queue.ts';
import type { MailJobPorts } from './mail/receivers.ts';
import { createMcpOperation } from './mcp/operation.ts';
import type { TransitionPublisher } from './platform-watch/notify.ts';
import { type GapPorts, onCallGapsJob } from './platform-watch/on-call-gaps.ts';
import { createOperatorChannels } from './platform-watch/operator.ts';
import { type SuspectPorts, suspectLocationsJob } from './platform-watch/suspect-locations.ts';
import { PlatformWatch, platformWatchJob } from './platform-watch/watch.ts';
import { liveTail } from './streams/live-tail.ts';

export interface ApiOptions {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly bus: Bus;
  readonly counters: Counters;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly mailer: Mailer;
  readonly deadLetters: DeadLetters;
  /** Runs the scheduled jobs of the API. Stop it before the API. */
  readonly jobs: Jobs;
  /** Status of consumer groups, of all processes */
  readonly groupStatuses?: GroupStatuses;
  /** Loads demo data; only a process that runs all roles can */
  readonly demo?: DemoSender | undefined;
  /** Outbound requests to user-chosen addresses; tests replace the name service. */
  readonly outbound?: Outbound;
  /** For tests: validates every response against its declared schema. */
  readonly checkResponses?: boolean;
}

export interface ApiRole extends Role {
  /** Handles every request except those for ingest. */
  callback(request: IncomingMessage, response: ServerResponse): void;
  /** The WebSockets. */
  readonly sockets: Pick<StreamServer, 'accepts' | 'upgrade'>;
}

type MaintenancePorts = ErasurePorts & DomainPorts & FeedDependencies & { readonly tokens: Tokens };

const defineHourlyJob = (
  name: string,
  summary: string,
  run: (ports: MaintenancePorts) => Promise<void>,
): Job<MaintenancePorts> => defineJob({ name, summary, everyMs: 3_600_000, scope: 'installation', run });

/** Scheduled jobs of the API */
const maintenanceJobs: readonly Job<MaintenancePorts>[] = [
  eraseClosedOrganizations,
  defineHourlyJob('signing-keys', 'Rotates the key that signs sessions', ({ tokens }) => tokens.rotate()),
  defineHourlyJob('sessions', 'Deletes expired sessions', ({ documents, clock }) =>
    deleteExpiredSessions(documents, clock.now()),
  ),
  defineHourlyJob('api-tokens', 'Deletes API tokens that expired long ago', ({ documents, clock }) =>
    deleteExpiredApiTokens(documents, clock.now()),
  ),
  defineHourlyJob('mailed-links', 'Deletes expired links from mails', ({ documents, clock }) =>
    deleteExpiredOneTimeTokens(documents, clock.now()),
  ),
  defineHourlyJob('old-silences', 'Removes silences that ended long ago', removeOldSilences),
  defineHourlyJob('proved-domains', 'Checks the DNS records of verified domains again', recheckDomains),
  pollThreatFeeds,
  mergeAllIndicatorBlocks,
];

const drainStepMs = 20;

/** Publisher through which the platform watch alerts organizations. */
const createTransitionPublisher = (
  transitions: ValuePublisher<AlertTransition>,
  events: EventPublisher,
): TransitionPublisher => ({
  publish: (transition) => transitions.publish(transition),
  publishEvent: (event) => events.publish(event),
});

const startIncidentJobs = (jobs: Jobs, ports: EndedPorts & GapPorts & EscalatePorts): void => {
  jobs.start<EscalatePorts>(escalateJob, ports);
  jobs.start<EndedPorts>(resolveEndedJob, ports);
  jobs.start<EndedPorts>(freezeResolvedJob, ports);
  jobs.start<GapPorts>(onCallGapsJob, ports);
};

const startNotificationJobs = (jobs: Jobs, ports: SuspectPorts & MailJobPorts): void => {
  jobs.start<SuspectPorts>(suspectLocationsJob, ports);
  jobs.start<MailJobPorts>(checkMailsJob, ports);
  jobs.start<MailJobPorts>(burnMailsJob, ports);
};

const createPublishers = (bus: Bus) => ({
  events: createPublisher(bus, topics.events),
  alertTransitions: createPublisher(bus, topics.alertTransitions),
  syntheticRuns: createPublisher(bus, topics.syntheticRuns),
});

/** Data for handlers that is derived from the declarations of all operations */
const operationData = {
  scopes: listScopes(operations),
  auditActions: [...new Set(operations.flatMap(({ audit }) => audit))],
  configurationActions: listConfigurationActions(operations),
  call: createOperationCaller(operations),
};

/** Resolves once permissions are loaded, so that the first request can already be authorized. */
export const startApi = async (apiOptions: ApiOptions): Promise<ApiRole> => {
  const limits = buildReadLimits(apiOptions.settings);
  // Every read of an organization's rows below this line respects its limits.
  const options: ApiOptions = {
    ...apiOptions,
    columns: limitColumns(apiOptions.columns, { limits, metrics: apiOptions.metrics }),
  };
  const { documents, settings, clock, log, deadLetters, jobs, groupStatuses = { getStatuses: () => [] } } = options;
  await documents.ensureCollections(collections);
  const box = createSecretBox(await loadSecretKey(settings));
  const [directory, tokens, passwords] = await Promise.all([
    loadMemoryDirectory(documents, clock),
    createTokens(documents, box, clock),
    createPasswords(),
  ]);
  const mail = createMailQueue({ documents, clock, box, isConfigured: options.mailer.isDelivering });
  const delivery = await startMailDelivery({ documents, clock, log, box, jobs, mailer: options.mailer });
  const evidence = await openEvidence({ ...options, box });
  const replayJobs = createReplayJobs({ deadLetters, documents, clock, log, jobs });
  const tokenUses = createTokenUses({ documents, clock, log });
  const signInFailures = createSignInFailures(options);
  const liveTails = createLiveTails(options);
  const publishers = createPublishers(options.bus);
  const { events, alertTransitions } = publishers;
  const threads = openPromql({ features: readFeatures(settings) });
  const outbound = options.outbound ?? openOutbound({ allowedNetworks: settings.OUTBOUND_NETWORKS });
  const server = createApiServer({
    operations: [...operations, createMcpOperation(operations)],
    groups,
    streams: [liveTail],
    ports: {
      ...options,
      directory,
      tokens,
      passwords,
      secretBox: box,
      outbound,
      tokenUses,
      signInFailures,
      mail,
      evidence,
      deadLetters,
      replayJobs: replayJobs,
      liveTails,
      groupStatuses,
      ...publishers,
      promql: { threads, translation: readTranslation(settings) },
      ...operationData,
    },
    metrics: options.metrics,
    shouldCheckResponses: options.checkResponses ?? false,
  });
  const maintenancePorts = { ...options, tokens, collections, outbound, box, evidenceKey: evidence.key };
  for (const job of maintenanceJobs) jobs.start(job, maintenancePorts);
  const transitionPublisher = createTransitionPublisher(alertTransitions, events);
  startIncidentJobs(jobs, {
    ...options,
    ...transitionPublisher,
    mail,
    configurationActions: operationData.configurationActions,
  });
  startNotificationJobs(jobs, { ...options, ...transitionPublisher, mail });
  const watch = new PlatformWatch({
    ...apiOptions,
    groupStatuses,
    operator: createOperatorChannels(options),
    ...transitionPublisher,
  });
  jobs.start(platformWatchJob, watch);
  const stopped = Promise.withResolvers<void>();

  return {
    name: 'api',
    callback: server.callback,
    sockets: server.sockets,
    checkReady: createStoresCheck({
      'the documents store': () => documents.check(),
      columns: () => options.columns.check(),
    }),
    async stop() {
      server.drain();
      await Promise.all([replayJobs.stop(), server.sockets.close()]);
      await liveTails.close();
      while (server.getInFlightCount() > 0) await new Promise((resolve) => setTimeout(resolve, drainStepMs));
      await Promise.all([...Object.values(publishers), threads].map((closeable) => closeable.close()));
      await signInFailures.close();
      // No more audit records are written, so sign the remaining records now.
      await evidence.close();
      await Promise.all([watch.close(), directory.close(), tokenUses.close(), tokens.close(), delivery.close()]);
      stopped.resolve();
    },
    failure: stopped.promise,
  };
};
