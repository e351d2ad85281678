/** Findings from the requests of a key. No side effects. */

import type { Signal } from '../../../schemas/telemetry-signals.ts';
import { getDeadLetterAction } from '../../../subjects/dead-letters/actions.ts';
import type { DeadLetter } from '../../../subjects/dead-letters/dead-letters.ts';
import type { LastReceived } from '../../../subjects/onboarding/last-received.ts';
import type { Evidence } from './doctor-reads.ts';
import { createHint, createProblem, createSuccess, type Finding, type FindingCode } from './finding.ts';

export const checkEvidence = (
  evidence: Evidence,
  { signal, nowMs }: { readonly signal: Signal | undefined; readonly nowMs: number },
): Finding[] =>
  [
    checkRejection(evidence),
    ...checkQuotas(evidence, signal),
    ...checkRejections(evidence),
    checkDeadLetters(evidence.deadLetters, evidence.lastStored),
    checkArrival(evidence, { signal, nowMs }),
  ].filter((finding) => finding !== undefined);

const refusals: Readonly<Record<string, readonly [FindingCode, string, string]>> = {
  address: [
    'blocked-address',
    'because the key may not be used from that address',
    'add the sender’s network to the key’s allowed networks; behind a proxy, check OIQ_TRUSTED_PROXIES',
  ],
  signal: [
    'signal-not-on-key',
    'because the key or the plan does not allow the signal',
    'add the signal to the key, change the plan, or send other signals',
  ],
  origin: [
    'blocked-origin',
    'because pages of its origin may not use the key',
    'add the origin of the page to the key, with its scheme and port',
  ],
  kind: [
    'wrong-endpoint',
    'because browser keys work on paths below /rum/ only, and server keys never in a page',
    'use a browser key in the script of a page, and a server key in collectors and SDKs of servers',
  ],
};

/** The last rejected request, unless a later one was accepted. */
const checkRejection = ({ use }: Evidence): Finding | undefined => {
  const rejection = use?.lastRefusal ?? undefined;
  if (rejection === undefined || rejection.at < findNewestTime(use?.lastSeen ?? {}, undefined)) return undefined;
  const [code, reason, action] = refusals[rejection.reason] ?? [];
  if (code === undefined || reason === undefined || action === undefined) return undefined;
  // Addresses of visitors are not stored.
  const request = rejection.address === '' ? 'a request' : `a request from ${rejection.address}`;
  return createProblem(code, `${request} was refused at ${rejection.at}, ${reason}`, action);
};

const checkQuotas = ({ quotas }: Evidence, signal: Signal | undefined): Finding[] =>
  quotas
    .filter(
      ({ state, scope }) => state === 'rejecting' && (scope === 'total' || signal === undefined || scope === signal),
    )
    .map(({ window, scope, rejectBytes, setBy, resetsAt }) =>
      createProblem(
        'over-quota',
        `the limit of the ${setBy}, ${rejectBytes} bytes per ${window}${scope === 'total' ? '' : ` of ${scope}`}, is used up`,
        `wait until ${resetsAt}, send less, or raise the ${setBy}`,
      ),
    );

const rejections: Readonly<Record<string, readonly [FindingCode, string]>> = {
  'rate-limited': [
    'rate-limited',
    'let the sender batch, and wait for the time in Retry-After; the limits are those of the key and of the plan',
  ],
  quota: ['over-quota', 'send less, or raise the quota; see GET /api/usage/quotas'],
  'too-large': [
    'too-large',
    'send smaller batches: the maximum is 50 MB for OTLP, 20 MB for remote-write, and 1 MiB for browsers',
  ],
  'refused-recording': [
    'refused-payload',
    'send recordings and other log records in separate requests, and check service.name; refused recordings are not stored',
  ],
  'unreadable-recording': [
    'refused-payload',
    'update the SDK: its recordings need a session and numbers of events, and must not be packed',
  ],
  'unsupported-encoding': [
    'wrong-content-type',
    'OTLP accepts gzip, deflate, zstd or no encoding; remote-write accepts snappy',
  ],
  'unsupported-type': [
    'wrong-content-type',
    'Content-Type must be application/x-protobuf, or application/json for OTLP',
  ],
  unavailable: ['unavailable', 'let the sender retry; if it persists, check /readyz'],
};

/** Findings from the rejected requests, which are counted by reason. */
const checkRejections = ({ rejected }: Evidence): Finding[] =>
  rejected.flatMap(({ reason, requests }) => {
    const [code, action] = rejections[reason] ?? [];
    if (code === undefined || action === undefined) return [];
    return createProblem(
      code,
      `${requests} requests with this key were rejected within the last two hours: ${reason}`,
      action,
    );
  });

/** The finding from the newest rejected body of the key. Only a hint if records of the signal were stored after it. */
const checkDeadLetters = (deadLetters: readonly DeadLetter[], landed: LastReceived): Finding | undefined => {
  const [newest] = deadLetters;
  if (newest === undefined) return undefined;
  const after = (landed as Readonly<Record<string, string | null>>)[newest.signal] ?? '';
  const toFinding = Date.parse(after) > Date.parse(newest.receivedAt) ? createHint : createProblem;
  const positionText = newest.position === null ? '' : ` at byte ${newest.position}`;
  return toFinding(
    'refused-payload',
    `${newest.signal} were refused at ${newest.receivedAt}: ${newest.message}${positionText} (${newest.reason})`,
    getDeadLetterAction(newest.reason, newest.kind),
  );
};

/** How long accepted data may take until it is readable */
const maxIngestionDelayMs = 60_000;

/** The newest of the times by signal; empty if there is none. */
const findNewestTime = (
  times: Readonly<Partial<Record<Signal, string | null>>>,
  signal: Signal | undefined,
): string => {
  const selectedTimes = signal === undefined ? Object.values(times) : [times[signal]];
  const knownTimes = selectedTimes.filter((at) => typeof at === 'string');
  return knownTimes.sort().at(-1) ?? '';
};

/** Compares the data accepted with the key to the data stored for its project. */
const checkArrival = (
  { use, lastStored }: Evidence,
  { signal, nowMs }: { readonly signal: Signal | undefined; readonly nowMs: number },
): Finding => {
  const lastReceivedAt = findNewestTime(use?.lastSeen ?? {}, signal);
  const newest = findNewestTime(lastStored, signal);
  const dataText = signal ?? 'data';
  const requestsText = use?.lastUsedAt ? `; its last request was at ${use.lastUsedAt}` : '';
  if (lastReceivedAt === '')
    return createHint(
      'nothing-arrived',
      newest === ''
        ? `no ${dataText} that can be read arrived with this key, as of a minute ago${requestsText}`
        : `no ${dataText} that can be read arrived with this key${requestsText}; the data of its project came with another key`,
      'pass what was tried (endpoint, protocol, status, the error that the sender logs) for a more precise diagnosis',
    );
  if (newest !== '' && Date.parse(newest) >= Date.parse(lastReceivedAt) - maxIngestionDelayMs)
    return createSuccess(
      'working',
      `${dataText} arrived with this key at ${lastReceivedAt}; everything received until ${newest} can be read`,
    );
  if (nowMs - Date.parse(lastReceivedAt) < maxIngestionDelayMs)
    return createHint(
      'not-indexed-yet',
      `${dataText} arrived with this key at ${lastReceivedAt} and cannot be read yet`,
      'wait: data can be read within seconds of its arrival',
    );
  if (nowMs - Date.parse(lastReceivedAt) > dayMs)
    return createHint(
      'nothing-arrived',
      `${dataText} arrived with this key at ${lastReceivedAt}, and none since`,
      'check whether the sender is still running',
    );
  return createProblem(
    'not-indexed-yet',
    `${dataText} arrived with this key at ${lastReceivedAt} and is not yet stored in ClickHouse`,
    'it is safe on the bus: check oiq_consumer_lag_messages of the sinks under /metrics, and their logs',
  );
};

/** Data that arrived longer ago than this is not searched */
const dayMs = 86_400_000;
