/** `/healthz`, `/readyz` and `/metrics`, on the main address of every process. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { formatProblems } from '../runtime/group-status.ts';
import { withTimeout } from '../runtime/timeout.ts';
import { version } from '../runtime/version.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { GroupStatuses } from '../schemas/ports/group-status.ts';
import type { MetricsProvider } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { StoreMembers, UnavailableMember } from '../schemas/ports/store-members.ts';

/** Longer than a role needs to report which store does not respond. */
const readinessTimeoutMs = 2_500;

const respond = (response: ServerResponse, status: number, type: string, body: string): void => {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
};

interface Health {
  readonly roles: readonly Role[];
  readonly groupStatuses: GroupStatuses;
  readonly storeMembers: Pick<StoreMembers, 'listUnavailable'>;
  readonly clock: Clock;
  /** Why the process as a whole is currently not ready: it is starting, or stopping. */
  getProcessProblem(): string | undefined;
}

/**
 * Handles the health paths and returns true; returns false for other paths. `/healthz` returns 200 with the version
 * while the process runs. `/readyz` returns 503 within three seconds, with the reason for each role that cannot work
 * and for the process as a whole. A ready response lists, as `degraded`, unavailable dependencies of roles that
 * still work, and lagging consumer groups of any process.
 */
export const createHealthHandler =
  ({ metrics, ...health }: Health & { readonly metrics: MetricsProvider }) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      respond(response, 405, 'text/plain', 'only GET and HEAD are allowed here\n');
    } else if (path === '/healthz') {
      respond(response, 200, 'application/json', `${JSON.stringify({ status: 'ok', version })}\n`);
    } else if (path === '/metrics') {
      metrics.text().then(
        (text) => respond(response, 200, 'text/plain; version=0.0.4; charset=utf-8', text),
        (error: Error) => respond(response, 500, 'text/plain', `${error.message}\n`),
      );
    } else {
      void checkReadiness(health).then((report) =>
        respond(response, report.status === 'ready' ? 200 : 503, 'application/json', `${JSON.stringify(report)}\n`),
      );
    }
    return true;
  };

/** The servers of stores that do not respond. */
const formatUnavailable = (members: readonly UnavailableMember[], nowMs: number): string | undefined =>
  members.length === 0
    ? undefined
    : members
        .map(
          ({ store, name, reason, sinceMs }) =>
            `${store} ${name}: ${reason}, for ${Math.round((nowMs - sinceMs) / 1000)} seconds`,
        )
        .join('; ');

const checkReadiness = async ({ roles, groupStatuses, storeMembers, clock, getProcessProblem }: Health) => {
  const reasons: Record<string, string> = {};
  const processProblem = getProcessProblem();
  if (processProblem !== undefined) reasons['process'] = processProblem;
  await Promise.all(
    roles.map(async (role) => {
      try {
        await withTimeout(readinessTimeoutMs, role.checkReady());
      } catch (error) {
        reasons[role.name] = error instanceof Error ? error.message : String(error);
      }
    }),
  );
  const stores = formatUnavailable(storeMembers.listUnavailable(), clock.now());
  if (Object.keys(reasons).length > 0)
    return { status: 'not ready', reasons, ...(stores !== undefined && { degraded: { stores } }) };
  const degradations = [
    ['stores', stores] as const,
    ...roles.map((role) => [role.name, role.getDegradation?.()] as const),
    ['consumers', formatProblems(groupStatuses.getStatuses())] as const,
  ].filter(([, text]) => text !== undefined);
  return { status: 'ready', ...(degradations.length > 0 && { degraded: Object.fromEntries(degradations) }) };
};
