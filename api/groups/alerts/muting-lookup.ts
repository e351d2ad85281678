/** Returns what mutes alerts now: silences, and other alerts by the rules of the routing document. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { alertRoutingId, alertRoutings } from '../../../schemas/resources/alert-routing.ts';
import { silences } from '../../../schemas/resources/silence.ts';
import { readFiringAlerts } from '../../../subjects/alerts/firing.ts';
import { Inhibition } from '../../../subjects/alerts/routing/inhibition.ts';
import { compileMatchers, type Labels } from '../../../subjects/alerts/routing/matchers.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listFiringPlatformAlerts } from './platform-alerts.ts';

/** Maximum number of firing alerts that are read as sources of inhibition. */
const maxSources = 10_000;

/** What mutes an alert. */
export interface Muting {
  /** IDs of active silences. */
  readonly silencedBy: string[];
  /** IDs of alerts. */
  readonly inhibitedBy: string[];
}

const openInhibition = async (caller: Caller, ports: Ports): Promise<Inhibition | undefined> => {
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  const { inhibitRules = [] } = (await tenantDocuments.collection(alertRoutings).find(alertRoutingId)) ?? {};
  if (inhibitRules.length === 0) return undefined;
  const inhibition = new Inhibition(inhibitRules);
  const [ruleAlerts, platformAlerts] = await Promise.all([
    readFiringAlerts(createQueryReader(caller, ports).columns, maxSources),
    listFiringPlatformAlerts(ports.documents, caller.tenantId, ports.clock.now()),
  ]);
  for (const { alertId, labels } of [...ruleAlerts, ...platformAlerts]) inhibition.add(alertId, labels);
  return inhibition;
};

/** Returns a function from the labels of an alert to what mutes it. */
export const createMutingLookup = async (caller: Caller, ports: Ports): Promise<(labels: Labels) => Muting> => {
  const now = new Date(ports.clock.now()).toISOString();
  const filter = { endsAt: { $gt: now }, startsAt: { $lte: now } };
  const active: { readonly id: string; readonly matching: ReturnType<typeof compileMatchers> }[] = [];
  for await (const { id, matchers } of iterateDocuments(
    ports.documents.forTenant(caller.tenantId).collection(silences),
    { filter },
  ))
    active.push({ id, matching: compileMatchers(matchers) });
  const inhibition = await openInhibition(caller, ports);
  return (labels) => {
    const inhibitingId = inhibition?.findMutingAlert(labels);
    return {
      silencedBy: active.filter(({ matching }) => matching.matches(labels)).map(({ id }) => id),
      inhibitedBy: inhibitingId === undefined ? [] : [inhibitingId],
    };
  };
};
