/**
 * Resolves a host to the address to connect to: looked up once, checked against the egress policy, and rate limited.
 */
import { isIP, type LookupFunction } from 'node:net';
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { Deadline } from './deadline.ts';
import type { RateLimiter } from './pace.ts';
import type { PhaseClock } from './phases.ts';

/** An address to connect to. */
export interface ResolvedAddress {
  /** Without brackets. */
  readonly address: string;
  /** For sockets: always returns the checked addresses. */
  readonly lookup: LookupFunction;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

/** Removes the brackets of an IPv6 host. */
export const removeBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

const lookUpAddresses = async (
  host: string,
  egressPolicy: EgressPolicy,
  signal: AbortSignal,
): Promise<readonly Address[]> => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Address[]>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  egressPolicy.lookup(host, { all: true }, (error, addresses) => {
    if (error === null) resolve(addresses as unknown as readonly Address[]);
    else reject(error);
  });
  return promise.finally(() => signal.removeEventListener('abort', stop));
};

/** Rejects with `AddressForbiddenError` for a forbidden address, and with `PaceError` if no slot becomes free in time. */
export const resolveTarget = async (
  hostText: string,
  {
    egressPolicy,
    pace,
    deadline,
    clock,
  }: {
    readonly egressPolicy: EgressPolicy;
    readonly pace: RateLimiter;
    readonly deadline: Deadline;
    readonly clock: PhaseClock;
  },
): Promise<ResolvedAddress> => {
  const host = removeBrackets(hostText);
  const { signal } = deadline;
  egressPolicy.requireAllowed(host);
  const family = isIP(host);
  if (family === 0) clock.enter('lookup');
  const addresses = family === 0 ? await lookUpAddresses(host, egressPolicy, signal) : [{ address: host, family }];
  const [firstAddress = { address: host, family }] = addresses;
  // The wait is caused by the location: it does not count as time of the target.
  await clock.runUncounted(() => deadline.runUncounted(() => pace.waitForSlot(firstAddress.address, signal)));
  return {
    address: firstAddress.address,
    lookup: (_, options, callback) => {
      if (options.all) callback(null, [...addresses]);
      else callback(null, firstAddress.address, firstAddress.family);
    },
  };
};
