/** The management API as a role. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Counters } from '../schemas/ports/counters.ts';
import type { CollectionDefinition, Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Mailer } from '../schemas/ports/mail.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import { auditHeads, auditRecords } from '../schemas/resources/audit-record.ts';
import { identities } from '../schemas/resources/identity.ts';
import { identityProviders, provedDomains } from '../schemas/resources/identity-provider.ts';
import { invitations } from '../schemas/resources/invitation.ts';
import { licenseKeys } from '../schemas/resources/license-key.ts';
import { licenseKeyUses } from '../schemas/resources/license-key-use.ts';
import { multiFactors } from '../schemas/resources/multi-factor.ts';
import { onboardingStates } from '../schemas/resources/onboarding.ts';
import { oneTimeTokens } from '../schemas/resources/one-time-token.ts';
import { organizations } from '../schemas/resources/organization.ts';
import { outgoingMails } from '../schemas/resources/outgoing-mail.ts';
import { plans } from '../schemas/resources/plan.ts';
import { preferences } from '../schemas/resources/preferences.ts';
import { projects } from '../schemas/resources/project.ts';
import { quotas } from '../schemas/resources/quota.ts';
import { resourceHistory } from '../schemas/resources/resource-history.ts';
import { apiTokens, apiTokenUses, serviceAccounts } from '../schemas/resources/service-account.ts';
import { sessions } from '../schemas/resources/session.ts';
import { signingKeys } from '../schemas/resources/signing-key.ts';
import { memberships, users } from '../schemas/resources/user.ts';
import type { Settings } from '../schemas/settings.ts';
import { openEvidence } from './audit/evidence.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import { openReplayJobs, replayJobs } from './dead-letters/replay-jobs.ts';
import { operations } from './groups/index.ts';
import { scheduleErasing } from './identity/accounts/erasing.ts';
import { sweepTokens } from './identity/accounts/one-time-tokens.ts';
import { openDirectory } from './identity/directory.ts';
import { openPasswords } from './identity/password.ts';
import { scopesOf } from './identity/scopes.ts';
import { makeSecretBox, secretKeyOf } from './identity/secret-box.ts';
import { sweepSessions } from './identity/sessions.ts';
import { openSignInFailures } from './identity/sign-in-failures.ts';
import { openTokenUses, sweepApiTokens } from './identity/token-uses.ts';
import { openTokens } from './identity/tokens.ts';
import { type Outbound, openOutbound } from './kernel/outbound.ts';
import { makeApiServer } from './kernel/server.ts';
import { startMailDelivery } from './mail/delivery.ts';
import { openMailQueue } from './mail/queue.ts';

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
  /** What leaves for addresses that users chose; tests answer for the name service. */
  readonly outbound?: Outbound;
  /** Tests hold every answer against its declared schema. */
  readonly checkResponses?: boolean;
}

export interface ApiRole extends Role {
  /** Answers every request that is not ingest's. */
  callback(request: IncomingMessage, response: ServerResponse): void;
}

const collections: readonly CollectionDefinition<object>[] = [
  users,
  memberships,
  organizations,
  plans,
  sessions,
  serviceAccounts,
  apiTokens,
  apiTokenUses,
  signingKeys,
  replayJobs,
  auditRecords,
  auditHeads,
  onboardingStates,
  multiFactors,
  identities,
  identityProviders,
  provedDomains,
  outgoingMails,
  oneTimeTokens,
  invitations,
  preferences,
  projects,
  licenseKeys,
  licenseKeyUses,
  quotas,
  resourceHistory,
];

const upkeepMs = 3_600_000;
const drainStepMs = 20;

/** Resolves once rights are loaded, so that the first request is already answered by them. */
export const startApi = async (options: ApiOptions): Promise<ApiRole> => {
  const { documents, settings, clock, log, deadLetters } = options;
  await documents.ensureCollections(collections);
  const box = makeSecretBox(await secretKeyOf(settings));
  const [directory, tokens, passwords] = await Promise.all([
    openDirectory(documents, clock),
    openTokens(documents, box, clock),
    openPasswords(),
  ]);
  const mail = openMailQueue({ documents, clock, box, configured: options.mailer.delivers });
  const delivery = await startMailDelivery({ documents, clock, log, box, mailer: options.mailer });
  const evidence = await openEvidence({ ...options, box });
  const jobs = openReplayJobs({ deadLetters, documents, clock, log });
  const erasing = scheduleErasing({ ...options, collections });
  const tokenUses = openTokenUses({ documents, clock, log });
  const signInFailures = openSignInFailures(options);
  const server = makeApiServer({
    operations,
    ports: {
      ...options,
      directory,
      tokens,
      passwords,
      secretBox: box,
      outbound: options.outbound ?? openOutbound({ allowedNetworks: settings.OUTBOUND_NETWORKS }),
      scopes: scopesOf(operations),
      tokenUses,
      signInFailures,
      mail,
      evidence,
      auditActions: [...new Set(operations.flatMap(({ audit }) => audit))],
      deadLetters,
      replayJobs: jobs,
    },
    metrics: options.metrics,
    checkResponses: options.checkResponses ?? false,
  });
  const upkeep = setInterval(() => {
    tokens.rotate().catch((error: unknown) => log.warn({ error }, 'the signing key could not be rotated'));
    Promise.all([sweepSessions(documents, clock.now()), sweepApiTokens(documents, clock.now())]).catch(
      (error: unknown) => log.warn({ error }, 'sessions and tokens that are over could not be deleted'),
    );
    sweepTokens(documents, clock.now()).catch((error: unknown) =>
      log.warn({ error }, 'links that are over could not be deleted'),
    );
  }, upkeepMs);
  upkeep.unref();
  const stopped = Promise.withResolvers<void>();

  return {
    name: 'api',
    callback: server.callback,
    async ready() {
      await Promise.all([documents.check(), options.columns.check()]);
    },
    async stop() {
      server.drain();
      clearInterval(upkeep);
      await Promise.all([jobs.stop(), erasing.stop()]);
      while (server.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, drainStepMs));
      await signInFailures.close();
      // Nothing is recorded any more: what is, gets signed.
      await evidence.close();
      await Promise.all([directory.close(), tokenUses.close(), tokens.close(), delivery.stop()]);
      stopped.resolve();
    },
    failed: stopped.promise,
  };
};

/** Lists operations with group, role and whether they are built; with `missingOnly`, those that are not. */
export const operationsReport = (missingOnly: boolean): string => {
  const shown = operations.filter(({ built }) => !missingOnly || !built);
  const lines = shown.map(({ method, path, role, group, built }) =>
    [method.padEnd(6), path.padEnd(64), role.padEnd(8), group.padEnd(22), built ? '' : 'not built'].join(' ').trimEnd(),
  );
  const missing = operations.filter(({ built }) => !built).length;
  return `${lines.join('\n')}\n${operations.length - missing} of ${operations.length} operations are built, ${missing} are not\n`;
};
