/** Where a request came from: the peer's address, or what trusted proxies say about it. */
import ipaddr from 'ipaddr.js';

/** A set of networks. IPv4-mapped IPv6 counts as IPv4 on both sides. */
export interface Networks {
  readonly empty: boolean;
  contains(address: string): boolean;
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const rangeOf = (text: string): Range => {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128];
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96];
  return [address, bits];
};

/** Throws what ipaddr.js says when an entry is no address and no network. */
export const networksOf = (entries: readonly string[]): Networks => {
  const ranges = entries.map(rangeOf);
  return {
    empty: ranges.length === 0,
    contains(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return ranges.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
    },
  };
};

/** An address without port, brackets, zone and IPv4 mapping; undefined when it is none. */
const plainAddress = (text: string): string | undefined => {
  const trimmed = text.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1];
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1];
  const candidate = bracketed ?? withPort ?? trimmed;
  return ipaddr.isValid(candidate) ? ipaddr.process(candidate).toString() : undefined;
};

/** What one subscriber has to themselves: an address, or the IPv6 network of 2^64 addresses around it. */
export const subscriberOf = (address: string): string => {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** Answers the source of a request from its peer and its `X-Forwarded-For`. */
export type SourceOf = (peer: string | undefined, forwardedFor: string | undefined) => string;

const peerAddress = (peer: string | undefined): string => {
  if (peer === undefined) return '';
  return peer.startsWith('::ffff:') && peer.includes('.') ? peer.slice(7) : peer;
};

/**
 * Believes `X-Forwarded-For` only as far as it was written by a trusted proxy: walks it from the right and stops at the
 * first address that is not trusted. What stands further left was written by a stranger.
 */
export const sourceAddresses = (trustedProxies: readonly string[]): SourceOf => {
  const trusted = networksOf(trustedProxies);
  return (peer, forwardedFor) => {
    let source = peerAddress(peer);
    if (trusted.empty || forwardedFor === undefined || !trusted.contains(source)) return source;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = plainAddress(entry);
      if (address === undefined) return source;
      source = address;
      if (!trusted.contains(address)) return source;
    }
    return source;
  };
};
