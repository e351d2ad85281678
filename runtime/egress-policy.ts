/** Which addresses may be connected to where users say where: the one fence of requests, checks and what else leaves the platform. */
import type { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { networksOf } from '../schemas/source-address.ts';

/** The address itself may not be reached, or one that the name has. */
export class AddressRefusal extends Error {
  override name = 'AddressRefusal';
}

/**
 * Nothing behind it reaches an address in a private network. A name that resolves to another address a moment later does not help:
 * the address that was checked is the one that is connected to.
 */
export interface EgressPolicy {
  /** Whether an address may be connected to. False for what is no address. */
  mayReach(address: string): boolean;
  /** Throws `AddressRefusal` for an address that may not be reached. Names are checked when they are looked up. */
  require(host: string): void;
  /** For sockets: looks up once, and refuses a name with `AddressRefusal` if any of its addresses may not be reached. */
  readonly lookup: LookupFunction;
}

export interface EgressPolicyOptions {
  /** Private networks (CIDR) that may be reached. An address of `metadataAddresses` only where it stands there itself. */
  readonly allowedNetworks?: readonly string[];
  /** The setting that allows them, for people. */
  readonly setting: string;
  readonly resolve: typeof lookUp;
}

/** Where clouds tell machines their credentials. Some are public, and a network that holds one does not allow it. */
const metadataAddresses = new Set([
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
]);

/** The global unicast range of IPv6. The rest is private, deprecated or not assigned. */
const worldwide = ipaddr.parseCIDR('2000::/3');

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(worldwide));

/** The only address of a network; undefined for one that has more. */
const singleOf = (network: string): string | undefined => {
  const [address = '', bits] = network.split('/');
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.parse(address);
  const whole = parsed.kind() === 'ipv4' ? 32 : 128;
  return bits === undefined || Number(bits) === whole ? ipaddr.process(address).toString() : undefined;
};

export const openEgressPolicy = ({ allowedNetworks = [], setting, resolve }: EgressPolicyOptions): EgressPolicy => {
  const allowed = networksOf(allowedNetworks);
  const singles = new Set(allowedNetworks.map(singleOf));
  const mayReach = (text: string): boolean => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    if (metadataAddresses.has(address.toString())) return singles.has(address.toString());
    return isPublic(address) || allowed.contains(text);
  };
  const refusal = (host: string): AddressRefusal =>
    new AddressRefusal(`${host} is in a private network that ${setting} does not allow`);
  return {
    mayReach,
    require(host) {
      const address = host.replace(/^\[|\]$/g, '');
      if (isIP(address) !== 0 && !mayReach(address)) throw refusal(host);
    },
    lookup(hostname, options, done) {
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return done(error, []);
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => mayReach(address)))
          return done(refusal(hostname), []);
        if (options.all) return done(null, addresses);
        done(null, first.address, first.family);
      });
    },
  };
};
