/** From a host to the address that is connected to: looked up once, held against the fence, and dealt a turn. */
import { isIP, type LookupFunction } from 'node:net';
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { Deadline } from './deadline.ts';
import type { Pace } from './pace.ts';
import type { PhaseClock } from './phases.ts';

/** What may be connected to. */
export interface Reached {
  /** Without brackets. */
  readonly address: string;
  /** For sockets: answers the addresses that were checked, whatever is asked. */
  readonly lookup: LookupFunction;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

/** A host as it stands in addresses, without its brackets. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '');

const addressesOf = async (
  host: string,
  egressPolicy: EgressPolicy,
  signal: AbortSignal,
): Promise<readonly Address[]> => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Address[]>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  egressPolicy.lookup(host, { all: true }, (error, found) => {
    if (error === null) resolve(found as unknown as readonly Address[]);
    else reject(error);
  });
  return promise.finally(() => signal.removeEventListener('abort', stop));
};

/** Rejects with `AddressRefusal` for what may not be reached, and with `PaceError` where it gets no turn. */
export const reach = async (
  written: string,
  {
    egressPolicy,
    pace,
    deadline,
    clock,
  }: {
    readonly egressPolicy: EgressPolicy;
    readonly pace: Pace;
    readonly deadline: Deadline;
    readonly clock: PhaseClock;
  },
): Promise<Reached> => {
  const host = bareHost(written);
  const { signal } = deadline;
  egressPolicy.require(host);
  const family = isIP(host);
  if (family === 0) clock.enter('lookup');
  const addresses = family === 0 ? await addressesOf(host, egressPolicy, signal) : [{ address: host, family }];
  const [first = { address: host, family }] = addresses;
  // Waiting is the location's own: it is no time of the target's.
  await clock.outside(() => deadline.outside(() => pace.waitForSlot(first.address, signal)));
  return {
    address: first.address,
    lookup: (_, options, done) => {
      if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    },
  };
};
