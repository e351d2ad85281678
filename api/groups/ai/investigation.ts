/** Answers to "why" and "what changed": the root cause analysis of a service, and changes in a range. */
import { z } from 'zod';
import type { Range } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { changeKinds, getNodeDisplayName } from '../../../subjects/causes/incident-context.ts';
import { readChanges } from '../../../subjects/causes/read-changes.ts';
import type { Catalogue } from '../../../subjects/questions/catalogue.ts';
import { type Investigation, investigatedKinds } from '../../../subjects/questions/interpretation.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { analyzeRootCause, RootCause } from './root-cause.ts';

const maxShownChanges = 50;
/** Restarts are looked for in this many services, if the question names none. */
const maxServices = 60;

const ShownChange = z.strictObject({
  kind: z.enum(changeKinds),
  at: z.string().describe('Changed service or host'),
  time: z.iso.datetime(),
  title: z.string(),
  link: z.string().describe('Link to its page; empty for none'),
});

export const InvestigationView = z.strictObject({
  about: z.enum(investigatedKinds),
  service: z.string().nullable().describe('null: all services'),
  from: z.string(),
  to: z.string(),
  words: z
    .array(z.strictObject({ text: z.string(), mappedTo: z.string().nullable() }))
    .describe('Each word of the question with its meaning; null: it has no effect'),
  cause: RootCause.nullable().describe('Root cause analysis of the service; null: the question names no service'),
  changes: z
    .array(ShownChange)
    .describe(
      `Deployments, configuration changes, restarts and out-of-memory kills, the newest first; at most ${maxShownChanges}`,
    ),
  changesInAll: z.int().describe('Number of changes in the range'),
});

interface InvestigationContext {
  readonly caller: Caller;
  readonly ports: Ports;
  readonly signal: AbortSignal;
}

const readShownChanges = async (
  { service, range }: { readonly service: string | null; readonly range: Range },
  catalogue: Catalogue,
  { caller, ports }: InvestigationContext,
): Promise<z.output<typeof ShownChange>[]> => {
  const services = service === null ? catalogue.traces.services.slice(0, maxServices) : [service];
  const changes = await readChanges(createQueryReader(caller, ports), services, range, { scope: 'account' });
  return changes
    .filter(({ node }) => service === null || (node !== undefined && getNodeDisplayName(node) === service))
    .filter(({ atMs }) => atMs >= Number(range.from / 1_000_000n) && atMs <= Number(range.to / 1_000_000n))
    .toSorted((left, right) => right.atMs - left.atMs)
    .map(({ kind, node, host, atMs, title, link }) => ({
      kind,
      at: node === undefined ? (host ?? '') : getNodeDisplayName(node),
      time: new Date(atMs).toISOString(),
      title,
      link,
    }));
};

/** Runs an investigation over its range. */
export const runInvestigation = async (
  { about, service, range, words }: Investigation,
  catalogue: Catalogue,
  context: InvestigationContext,
): Promise<z.input<typeof InvestigationView>> => {
  const [from, to] = [formatTime(range.from), formatTime(range.to)];
  const [cause, changes] = await Promise.all([
    service === null ? null : analyzeRootCause({ service, from, to, scope: 'account' }, context),
    readShownChanges({ service, range }, catalogue, context),
  ]);
  return {
    about,
    service,
    from,
    to,
    words: [...words],
    cause,
    changes: changes.slice(0, maxShownChanges),
    changesInAll: changes.length,
  };
};
