/**
 * Egress policy: the addresses that may be called when users choose the destination. It applies to notifications,
 * synthetic checks and all other outgoing requests.
 */
import type { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseNetworks } from '../schemas/source-address.ts';

/** Thrown when the egress policy forbids an address, or an address that a name resolves to. */
export class AddressForbiddenError extends Error {
  override name = 'AddressRefusal';
}

/**
 * Prevents connections to addresses in private networks. DNS rebinding does not bypass it: the socket connects to the
 * address that was checked.
 */
export interface EgressPolicy {
  /** Returns whether the policy allows connections to an address. Returns `false` for a text that is not an address. */
  isAllowed(address: string): boolean;
  /** Throws `AddressForbiddenError` for a forbidden address. Names are checked when they are resolved. */
  requireAllowed(host: string): void;
  /**
   * Lookup function for sockets. Resolves a name once, and rejects with `AddressForbiddenError` if any of its
   * addresses is forbidden.
   */
  readonly lookup: LookupFunction;
}

export interface EgressPolicyOptions {
  /**
   * Private networks (CIDR) that may be reached. An address of `metadataAddresses` is allowed only if it is listed
   * itself.
   */
  readonly allowedNetworks?: readonly string[];
  /** Name of the setting that allows these networks, for error messages */
  readonly setting: string;
  readonly resolve: typeof lookUp;
}

/**
 * Addresses of cloud metadata services, which serve credentials. Some are public. Allowing a network that contains one
 * does not allow the address.
 */
const metadataAddresses = new Set([
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
]);

/** The global unicast range of IPv6. All other addresses are private, deprecated or unassigned. */
const globalUnicastRange = ipaddr.parseCIDR('2000::/3');

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(globalUnicastRange));

/** Returns the only address of a network; `undefined` if the network has more than one. */
const parseSingleAddress = (network: string): string | undefined => {
  const [address = '', bits] = network.split('/');
  if (!ipaddr.isValid(address)) return undefined;
  const parsedAddress = ipaddr.parse(address);
  const addressBits = parsedAddress.kind() === 'ipv4' ? 32 : 128;
  return bits === undefined || Number(bits) === addressBits ? ipaddr.process(address).toString() : undefined;
};

export const createEgressPolicy = ({ allowedNetworks = [], setting, resolve }: EgressPolicyOptions): EgressPolicy => {
  const allowedRanges = parseNetworks(allowedNetworks);
  const allowedAddresses = new Set(allowedNetworks.map(parseSingleAddress));
  const isAllowed = (text: string): boolean => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    if (metadataAddresses.has(address.toString())) return allowedAddresses.has(address.toString());
    return isPublic(address) || allowedRanges.contains(text);
  };
  const createForbiddenError = (host: string): AddressForbiddenError =>
    new AddressForbiddenError(`${host} is in a private network that ${setting} does not allow`);
  return {
    isAllowed,
    requireAllowed(host) {
      const address = host.replace(/^\[|\]$/g, '');
      if (isIP(address) !== 0 && !isAllowed(address)) throw createForbiddenError(host);
    },
    lookup(hostname, options, done) {
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return done(error, []);
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isAllowed(address)))
          return done(createForbiddenError(hostname), []);
        if (options.all) return done(null, addresses);
        done(null, first.address, first.family);
      });
    },
  };
};
