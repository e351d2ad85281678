/** IPv4 and IPv6 networks */
import ipaddr from 'ipaddr.js';

/**
 * Returns a test for whether an address is in a network such as `10.0.0.0/8`; `undefined` if the text is not a network.
 */
export const createNetworkTest = (text: string): ((address: string) => boolean) | undefined => {
  try {
    const network: [ipaddr.IPv4 | ipaddr.IPv6, number] = text.includes('/')
      ? ipaddr.parseCIDR(text)
      : [ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128];
    const kind = network[0].kind();
    return (address) => {
      // A cheap check first, because parsing is expensive and most texts are not addresses.
      if (!/^[0-9a-f:.]{2,45}$/i.test(address) || !ipaddr.isValid(address)) return false;
      const parsed = kind === 'ipv4' ? ipaddr.process(address) : ipaddr.parse(address);
      return parsed.kind() === kind && parsed.match(network);
    };
  } catch {
    return undefined;
  }
};
