import { hash } from 'node:crypto';
import type { Counters } from '../../../schemas/ports/counters.ts';
import { getSubscriberRange } from '../../../schemas/source-address.ts';
import { createRateLimitError } from '../../errors.ts';

/** Rate limits of requests that send mail: per source and address, and per source. */
const sourceAndAddressLimit = { rate: 1 / 120, burst: 5 };
const sourceLimit = { rate: 1 / 10, burst: 30 };
/** Rate limit of mails to one address, for requests from all sources. */
const addressLimit = { rate: 1 / 600, burst: 5 };

/**
 * Counts an unauthenticated request that sends mail to an address. Throws `RATE_LIMITED` if its source sends too many
 * requests. Returns false if the address has received enough mail for now; the response must not reveal this. Thus a
 * source can neither block another person's mail nor fill their inbox.
 */
export const countMailRequest = async (counters: Counters, address: string, email: string): Promise<boolean> => {
  const source = getSubscriberRange(address);
  const key = hash('sha256', email);
  const results = await Promise.all([
    counters.consume(`mail/${source}/${key}`, sourceAndAddressLimit, 1),
    counters.consume(`mail/${source}`, sourceLimit, 1),
  ]);
  for (const { granted, retryAfterMs } of results)
    if (granted < 1)
      throw createRateLimitError('too many mail requests from this network; try again later', retryAfterMs);
  return (await counters.consume(`mail-to/${key}`, addressLimit, 1)).granted > 0;
};

const tokenUseLimit = { rate: 1, burst: 60 };

/** Counts the use of a link's token by a source. */
export const countTokenUse = async (counters: Counters, address: string): Promise<void> => {
  const { granted, retryAfterMs } = await counters.consume(
    `one-time-token/${getSubscriberRange(address)}`,
    tokenUseLimit,
    1,
  );
  if (granted < 1)
    throw createRateLimitError('too many links were used from this network; try again later', retryAfterMs);
};
