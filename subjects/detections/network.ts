/** Networks of IPv4 and IPv6 addresses. */
import ipaddr from 'ipaddr.js';

/** Whether an address lies in the network that a text such as `10.0.0.0/8` names; `undefined` for a text that names none. */
export const networkOf = (text: string): ((address: string) => boolean) | undefined => {
  try {
    const network: [ipaddr.IPv4 | ipaddr.IPv6, number] = text.includes('/')
      ? ipaddr.parseCIDR(text)
      : [ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128];
    const kind = network[0].kind();
    return (address) => {
      // A look that costs less than reading what is no address.
      if (!/^[0-9a-f:.]{2,45}$/i.test(address) || !ipaddr.isValid(address)) return false;
      const parsed = kind === 'ipv4' ? ipaddr.process(address) : ipaddr.parse(address);
      return parsed.kind() === kind && parsed.match(network);
    };
  } catch {
    return undefined;
  }
};
