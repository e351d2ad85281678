/** Source address of a request: the peer's address, or the address that trusted proxies report. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** A set of networks. IPv4-mapped IPv6 addresses count as IPv4, in networks and in addresses. */
export interface Networks {
  readonly isEmpty: boolean;
  contains(address: string): boolean;
}

type NetworkRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

const parseRange = (text: string): NetworkRange => {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128];
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96];
  return [address, bits];
};

/** Parses networks. Throws the error of ipaddr.js if an entry is neither an address nor a network. */
export const parseNetworks = (entries: readonly string[]): Networks => {
  const ranges = entries.map(parseRange);
  return {
    isEmpty: ranges.length === 0,
    contains(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return ranges.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
    },
  };
};

/** Returns an address without port, brackets, zone and IPv4 mapping; `undefined` for an invalid address. */
const normalizeAddress = (text: string): string | undefined => {
  const trimmedText = text.trim();
  const bracketedAddress = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmedText)?.[1];
  const ipv4Address = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmedText)?.[1];
  const candidate = bracketedAddress ?? ipv4Address ?? trimmedText;
  return ipaddr.isValid(candidate) ? ipaddr.process(candidate).toString() : undefined;
};

/** Returns the address range of one subscriber: an IPv4 address, or the IPv6 network with 2^64 addresses. */
export const getSubscriberRange = (address: string): string => {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsedAddress = ipaddr.process(address);
  if (!(parsedAddress instanceof ipaddr.IPv6)) return parsedAddress.toString();
  return `${parsedAddress.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** Returns the source address of a request from its peer and its `X-Forwarded-For` header. */
export type ResolveSource = (peer: string | undefined, forwardedFor: string | undefined) => string;

const unmapPeerAddress = (peer: string | undefined): string => {
  if (peer === undefined) return '';
  return peer.startsWith('::ffff:') && peer.includes('.') ? peer.slice(7) : peer;
};

/**
 * Returns a function that evaluates `X-Forwarded-For` only as far as trusted proxies wrote it. It reads the addresses
 * from right to left and stops at the first untrusted one. Addresses further left may be forged.
 */
export const createSourceResolver = (trustedProxies: readonly string[]): ResolveSource => {
  const trustedNetworks = parseNetworks(trustedProxies);
  return (peer, forwardedFor) => {
    let source = unmapPeerAddress(peer);
    if (trustedNetworks.isEmpty || forwardedFor === undefined || !trustedNetworks.contains(source)) return source;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = normalizeAddress(entry);
      if (address === undefined) return source;
      source = address;
      if (!trustedNetworks.contains(address)) return source;
    }
    return source;
  };
};

/**
 * Returns the source address of a request. Read it early: a closed socket has none, but records that are written after
 * the response need it.
 */
export const readSourceAddress = ({ headers, socket }: IncomingMessage, resolveSource: ResolveSource): string => {
  const forwardedFor = headers['x-forwarded-for'];
  return resolveSource(socket.remoteAddress, forwardedFor === undefined ? undefined : String(forwardedFor));
};
