import { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { z } from 'zod';
import type { dns, recordTypes } from '../../subjects/synthetics/types/dns.ts';
import { removeBrackets } from '../reach.ts';
import { StepFailure } from '../runner.ts';
import { createOneStepRunner } from './one-step.ts';

type RecordType = (typeof recordTypes)[number];

/** Codes of valid DNS responses; any other code means that there was no response. */
const responseCodes: Readonly<Record<string, string>> = {
  ENOTFOUND: 'NXDOMAIN',
  ENODATA: 'NOERROR',
  ESERVFAIL: 'SERVFAIL',
  EREFUSED: 'REFUSED',
  ENOTIMP: 'NOTIMP',
  EFORMERR: 'FORMERR',
};

const resolveRecords = async (resolver: Resolver, name: string, type: RecordType): Promise<string[]> => {
  switch (type) {
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    case 'SRV':
      return (await resolver.resolveSrv(name)).map(
        (srvRecord) => `${srvRecord.priority} ${srvRecord.weight} ${srvRecord.port} ${srvRecord.name}`,
      );
    case 'SOA': {
      const { nsname, hostmaster, serial } = await resolver.resolveSoa(name);
      return [`${nsname} ${hostmaster} ${serial}`];
    }
    case 'CAA':
      return (await resolver.resolveCaa(name)).map(
        ({ critical, ...tags }) => `${critical} ${Object.entries(tags).flat().join(' ')}`,
      );
    default:
      return (await resolver.resolve(name, type)) as string[];
  }
};

/** Returns the address of a reverse lookup name, or the first address of its network; empty for other names. */
const parseReverseLookupAddress = (name: string): readonly string[] => {
  const labels = name.toLowerCase().split('.').filter(Boolean).toReversed();
  const [top, zone, ...parts] = labels;
  if (top !== 'arpa') return [];
  if (zone === 'in-addr') return [[...parts, '0', '0', '0', '0'].slice(0, 4).join('.')];
  if (zone !== 'ip6') return [];
  return [(parts.slice(0, 32).join('').padEnd(32, '0').match(/.{4}/g) ?? []).join(':')];
};

const createPrivateNetworkFailure = (name: string): StepFailure =>
  new StepFailure(`${name} is in a private network, which this location does not report`, { outcome: 'unknown' });

export const runDns = createOneStepRunner<z.output<(typeof dns)['settings']>>(
  'lookup',
  ({ server }) => server,
  async ({ name, record, server: serverText, port, assertions }, { egressPolicy, signal }) => {
    const resolver = new Resolver({ timeout: 2000, tries: 3 });
    const server = serverText === null ? undefined : removeBrackets(serverText);
    if (server !== undefined) resolver.setServers([isIPv6(server) ? `[${server}]:${port}` : `${server}:${port}`]);
    // The location's own name servers know names of its private network, which must not be revealed.
    const mayReveal = (address: string): boolean => server !== undefined || egressPolicy.isAllowed(address);
    if (!parseReverseLookupAddress(name).every(mayReveal)) throw createPrivateNetworkFailure(name);
    const stop = (): void => resolver.cancel();
    signal.addEventListener('abort', stop, { once: true });
    let records: string[] = [];
    let code = 'NOERROR';
    try {
      records = await resolveRecords(resolver, name, record);
    } catch (error) {
      const resultCode = responseCodes[(error as NodeJS.ErrnoException).code ?? ''];
      if (resultCode === undefined) throw error;
      code = resultCode;
    } finally {
      signal.removeEventListener('abort', stop);
    }
    const isAddress = record === 'A' || record === 'AAAA';
    if (isAddress && !records.every(mayReveal)) throw createPrivateNetworkFailure(name);
    const isMissing = assertions.length === 0 && records.length === 0;
    return {
      observation: { records, code },
      ...(isMissing && { message: `${name} has no record ${record} (${code})` }),
    };
  },
);
