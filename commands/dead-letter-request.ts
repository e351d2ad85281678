/** Requests of `oiq dead-letter` to a running instance, and their output as readable lines. */
import { type DeadLetterFilter, type DeadLetterState, type DeadLetters, openDeadLetters } from '../api/index.ts';
import { parseTime } from '../queries/time.ts';
import { createSecretBox, loadSecretKey } from '../runtime/secret-box.ts';
import type { DeadLetterHeaders } from '../schemas/dead-letter.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import { type Documents, platformTenant } from '../schemas/ports/documents.ts';
import { createReadableTimes, type TimeRange } from '../schemas/readable-times.ts';
import { organizations } from '../schemas/resources/organization.ts';
import { plans } from '../schemas/resources/plan.ts';
import { signals } from '../schemas/telemetry-signals.ts';
import type { Platform } from './platform.ts';
import { UsageError } from './usage-error.ts';

export interface DeadLetterRequest {
  readonly action: 'list' | 'show' | 'replay' | 'discard';
  readonly ids: readonly string[];
  readonly filter: {
    readonly tenant?: string | undefined;
    readonly signal?: string | undefined;
    readonly reason?: string | undefined;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly state?: string | undefined;
  };
  readonly limit: number;
  readonly dryRun: boolean;
}

const actor = 'command line';

/** Opens the dead letters of a platform; rejected ones are checked again by the receiver that rejected them. */
export const openPlatformDeadLetters = ({ bus, columns, documents, clock, settings }: Platform): Promise<DeadLetters> =>
  openDeadLetters({
    bus,
    columns,
    clock,
    republish: async (headers, body) => {
      const { republishRejected } = await import('../receivers/index.ts');
      return republishRejected(headers, body, {
        times: await readReadableTimes(documents, headers, clock.now()),
        secretBox: createSecretBox(await loadSecretKey(settings)),
      });
    },
  });

/** Returns the times of records that the organization of a dead letter can read; undefined if it does not exist. */
const readReadableTimes = async (
  documents: Documents,
  { tenantId, signal }: Pick<DeadLetterHeaders, 'tenantId' | 'signal'>,
  nowMs: number,
): Promise<TimeRange | undefined> => {
  const platformDocuments = documents.forTenant(platformTenant);
  const organization = await platformDocuments.collection(organizations).find(tenantId);
  const plan = organization && (await platformDocuments.collection(plans).find(organization.planId));
  const knownSignal = signals.find((name) => name === signal);
  return plan && knownSignal && createReadableTimes(nowMs, plan.retentionDays[knownSignal]);
};

export const runDeadLetterRequest = async (
  { deadLetters, clock }: { readonly deadLetters: DeadLetters; readonly clock: Clock },
  request: DeadLetterRequest,
  print: (line: string) => void,
): Promise<void> => {
  const filter = toDeadLetterFilter(request, clock);
  if (request.action === 'list') return printList(deadLetters, filter, request.limit, print);
  if (request.action === 'show') return printDeadLetter(deadLetters, request.ids[0] ?? '', filter.tenantId, print);
  const progress = await deadLetters[request.action](filter, {
    actor,
    dryRun: request.dryRun,
    onProgress: ({ matched, done, already, failed }) => print(`${done + already + failed} of ${matched} …`),
  });
  const verb = request.action === 'replay' ? 'replayed' : 'discarded';
  print(`${request.dryRun ? `would be ${verb}` : verb}: ${progress.done} of ${progress.matched}`);
  if (request.ids.length > progress.matched) print(`not found, or not open: ${request.ids.length - progress.matched}`);
  if (progress.already > 0) print(`replayed or discarded by another request meanwhile: ${progress.already}`);
  for (const [reason, count] of Object.entries(progress.failedByReason)) print(`still open, ${reason}: ${count}`);
};

const parseInstantMs = (text: string, clock: Clock): number => {
  const nanoseconds = parseTime(text, clock.now());
  if (nanoseconds === undefined)
    throw new UsageError(`${text} is not a time: use ISO-8601, now-15m, or epoch milliseconds`);
  return Number(nanoseconds / 1_000_000n);
};

const deadLetterStates: readonly string[] = ['open', 'replayed', 'discarded'] satisfies DeadLetterState[];

const requireKnownValue = (field: string, value: string | undefined, values: readonly string[]): void => {
  if (value === undefined || values.includes(value)) return;
  throw new UsageError(`${value} is not a valid ${field}; use one of: ${values.join(', ')}`);
};

/** Throws `UsageError` for a filter that no dead letter can match. */
export const validateDeadLetterRequest = (request: DeadLetterRequest, clock: Clock): void => {
  const { signal, state } = request.filter;
  requireKnownValue('signal', signal, signals);
  requireKnownValue('state', state, deadLetterStates);
  toDeadLetterFilter(request, clock);
};

const toDeadLetterFilter = ({ ids, filter }: DeadLetterRequest, clock: Clock): DeadLetterFilter => ({
  ...(filter.tenant === undefined ? {} : { tenantId: filter.tenant }),
  ...(filter.signal === undefined ? {} : { signal: filter.signal }),
  ...(filter.reason === undefined ? {} : { reason: filter.reason }),
  ...(filter.from === undefined ? {} : { fromMs: parseInstantMs(filter.from, clock) }),
  ...(filter.to === undefined ? {} : { toMs: parseInstantMs(filter.to, clock) }),
  ...(filter.state === undefined ? {} : { state: filter.state as DeadLetterState }),
  ...(ids.length === 0 ? {} : { ids }),
});

/** Messages contain text from senders, which must not control the terminal, or imitate another dead letter. */
const toOneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

const printList = async (
  deadLetters: DeadLetters,
  filter: DeadLetterFilter,
  limit: number,
  print: (line: string) => void,
): Promise<void> => {
  let cursor: string | undefined;
  let shownCount = 0;
  do {
    const page = await deadLetters.list(
      { state: 'open', ...filter },
      { limit: Math.min(1_000, limit - shownCount), cursor },
    );
    for (const deadLetter of page.items) {
      print(
        [
          deadLetter.id,
          deadLetter.receivedAt,
          deadLetter.tenantId,
          deadLetter.signal || '-',
          deadLetter.origin,
          deadLetter.reason,
          `${deadLetter.size} bytes`,
          toOneLine(deadLetter.message),
        ].join('  '),
      );
    }
    shownCount += page.items.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && shownCount < limit);
  print(`${shownCount} shown${cursor === undefined ? '' : '; more exist (--limit)'}`);
};

const printDeadLetter = async (
  deadLetters: DeadLetters,
  id: string,
  tenantId: string | undefined,
  print: (line: string) => void,
): Promise<void> => {
  const result = await deadLetters.show(id, tenantId);
  if (result === undefined) throw new Error(`dead letter ${id} does not exist`);
  const { place: _, ...deadLetter } = result.deadLetter;
  print(JSON.stringify(deadLetter, undefined, 2));
  if (result.payload === undefined) print('its payload is no longer stored');
  else
    print(
      `payload (base64, ${result.payload.bytes.length} bytes):\n${Buffer.from(result.payload.bytes).toString('base64')}`,
    );
};
