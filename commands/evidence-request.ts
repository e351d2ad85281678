/** What `oiq evidence sign` asks for, as it travels to a running instance, and how it is answered. */
import { signChainAnew } from '../api/index.ts';
import type { Platform } from './platform.ts';

export interface SignChainRequest {
  readonly action: 'sign-chain';
  readonly tenantId: string;
}

export const runSignChain = async (
  platform: Platform,
  { tenantId }: SignChainRequest,
  print: (line: string) => void,
): Promise<void> => {
  const records = await signChainAnew(platform, tenantId);
  print(`signed ${records} records of ${tenantId} as they are now; the new start is recorded`);
};
